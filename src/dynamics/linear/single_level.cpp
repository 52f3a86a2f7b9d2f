// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/single_level.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/to_index.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/huge_pages.hpp"

namespace diffsim::dynamics {
namespace {

using HostRows = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<int>>;

}  // namespace

SingleLevel::SingleLevel(Mat matrix, const MatrixBlocks& blocks, bool by_blocks) {
  PetscInt count = 0;
  DIFFSIM_PETSC(MatGetLocalSize(matrix, &count, nullptr));
  rows_ = static_cast<int>(count) / 3;
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
  double largest = 0.0;
  {
    PetscHandle<Vec, VecDestroy> diagonal;
    DIFFSIM_PETSC(MatCreateVecs(matrix, nullptr, diagonal.out()));
    DIFFSIM_PETSC(MatGetDiagonal(matrix, diagonal));
    DIFFSIM_PETSC(VecNorm(diagonal, NORM_INFINITY, &largest));
  }
  if (largest > 0.0 && std::isfinite(largest)) tau_ = std::exp2(-std::ilogb(largest));
  blocks.visit_values([&](const double* own, const double* others) {
    own_ = make_single_blocks(*blocks.own, own, tau_);
    if (blocks.others) others_ = make_single_blocks(*blocks.others, others, tau_);
  });
  for (int& column : others_.column) column += 3 * rows_;
  std::vector<char> has_others(to_index(rows_), 0);
  for (const int place : others_.place) has_others[to_index(place)] = 1;
  outer_ = others_.place;
  for (int row = 0; row < rows_; ++row)
    if (!has_others[to_index(row)]) inner_.push_back(row);

  const int ghosts = static_cast<int>(blocks.columns.size()) / 3;
  for (std::vector<float>* vector : {&x_, &previous_}) reserve_in_huge_pages(*vector, 3 * to_index(rows_ + ghosts));
  x_.resize(3 * to_index(rows_ + ghosts));
  previous_.resize(x_.size());
  if (blocks.others) {
    std::vector<PetscInt> remote(to_index(ghosts));
    for (int k = 0; k < ghosts; ++k) remote[to_index(k)] = blocks.columns[3 * to_index(k)] / 3;
    PetscLayout layout = nullptr;
    DIFFSIM_PETSC(PetscLayoutCreateFromSizes(comm, rows_, PETSC_DECIDE, 1, &layout));
    DIFFSIM_PETSC(PetscSFCreate(comm, sf_.out()));
    DIFFSIM_PETSC(PetscSFSetGraphLayout(sf_, layout, ghosts, nullptr, PETSC_OWN_POINTER, remote.data()));
    DIFFSIM_PETSC(PetscLayoutDestroy(&layout));
    DIFFSIM_MPI(MPI_Type_contiguous(3, MPI_FLOAT, &three_));
    DIFFSIM_MPI(MPI_Type_commit(&three_));
  }
  by_blocks_ = by_blocks;
  invert_diagonal(by_blocks);
}

SingleLevel::~SingleLevel() {
  sf_ = {};
  if (three_ != MPI_DATATYPE_NULL) MPI_Type_free(&three_);
}

bool SingleLevel::good(MPI_Comm comm) const {
  int all = own_.size() == rows_ && !inverse_.empty() == (rows_ > 0);
  for (const float value : inverse_) all = all && std::isfinite(value);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
  return all != 0;
}

void SingleLevel::renew_diagonal() {
  std::vector<float> previous = inverse_;
  invert_diagonal(by_blocks_);
  if (std::any_of(inverse_.begin(), inverse_.end(), [](float value) { return !std::isfinite(value); }))
    inverse_ = std::move(previous);
}

void SingleLevel::set_values(const MatrixBlocks& blocks) {
  blocks.visit_values([&](const double* own, const double* others) {
    dynamics::set_values(*blocks.own, own, tau_, own_);
    if (blocks.others) dynamics::set_values(*blocks.others, others, tau_, others_);
  });
}

void SingleLevel::invert_diagonal(bool by_blocks) {
  if (own_.size() != rows_) return;
  if (inverse_.empty()) reserve_in_huge_pages(inverse_, 9 * to_index(rows_));
  inverse_.assign(9 * to_index(rows_), 0.0F);
  for (int row = 0; row < rows_; ++row) {
    double d[9] = {};
    for (int k = own_.begin[to_index(row)]; k < own_.begin[to_index(row) + 1]; ++k)
      if (own_.column[to_index(k)] == 3 * row) std::copy_n(&own_.values[9 * to_index(k)], 9, d);
    float* const inverse = &inverse_[9 * to_index(row)];
    if (by_blocks) {
      // Inverse = adjugate / determinant. d is stored by columns, d[3 c + r].
      const auto minor = [&](int r, int c) {
        const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
        return d[3 * c1 + r1] * d[3 * c2 + r2] - d[3 * c1 + r2] * d[3 * c2 + r1];
      };
      const double determinant = d[0] * minor(0, 0) + d[3] * minor(0, 1) + d[6] * minor(0, 2);
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) inverse[3 * c + r] = static_cast<float>(minor(c, r) / determinant);
    } else {
      for (int c = 0; c < 3; ++c) inverse[4 * c] = d[4 * c] == 0.0 ? 1.0F : static_cast<float>(1.0 / d[4 * c]);
    }
  }
}

void SingleLevel::load(const double* x) {
  const double scale = sigma_ / tau_;
  float* const to = x_.data();
  Kokkos::parallel_for("diffsim::dynamics::load_single", HostRows(0, 3 * rows_),
                       [=](int i) { to[i] = static_cast<float>(scale * x[i]); });
}

/// Calls finish(row, (A x)_row) for all block rows. Updates the ghost values of x during the sweep over the block rows
/// that have no columns of other ranks.
template <class Finish>
void SingleLevel::sweep(std::vector<float>& x, const Finish& finish) {
  float* const ghosts = x.data() + 3 * to_index(rows_);
  if (sf_) DIFFSIM_PETSC(PetscSFBcastBegin(sf_, three_, x.data(), ghosts, MPI_REPLACE));
  const auto inner = static_cast<int>(inner_.size()), outer = static_cast<int>(outer_.size());
  Kokkos::parallel_for("diffsim::dynamics::smooth_inner", HostRows(0, inner), [&](int i) {
    const int row = inner_[to_index(i)];
    finish(row, row_product(own_, row, x.data()));
  });
  if (sf_) DIFFSIM_PETSC(PetscSFBcastEnd(sf_, three_, x.data(), ghosts, MPI_REPLACE));
  Kokkos::parallel_for("diffsim::dynamics::smooth_outer", HostRows(0, outer), [&](int i) {
    const int row = outer_[to_index(i)];
    finish(row, row_product(own_, row, x.data()) + row_product(others_, i, x.data()));
  });
}

void SingleLevel::multiply(const double* x, double* y) {
  load(x);
  const double scale = 1.0 / sigma_;
  sweep(x_, [=](int row, const auto& sums) {
    for (int c = 0; c < 3; ++c) y[3 * row + c] = scale * static_cast<double>(sums[c]);
  });
}

void SingleLevel::residual(const double* b, const double* x, double* r) {
  load(x);
  const double scale = 1.0 / sigma_;
  sweep(x_, [=](int row, const auto& sums) {
    for (int c = 0; c < 3; ++c) r[3 * row + c] = b[3 * row + c] - scale * static_cast<double>(sums[c]);
  });
}

void SingleLevel::smooth(const double* b, double* x, bool from_zero, int steps) {
  // x₁ = x₀ + l D⁻¹ r₀, x_{k+1} = ω_k (x_k + l D⁻¹ r_k) + (1 - ω_k) x_{k-1}: Saad, Iterative methods for sparse linear
  // systems, alg. 12.1.
  const auto sigma = static_cast<float>(sigma_);
  const auto length = static_cast<float>(length_);
  const double back = tau_ / sigma_;
  const float* const inverse = inverse_.data();
  double before = 1.0, now = 1.0 / alpha_;  // values of successive Chebyshev polynomials at 1/alpha
  float omega = 1.0F;
  float *current = x_.data(), *old = previous_.data();
  // Computes the next iterate of a block row from the row's residual r. Writes the iterate to `old`, or to x in the
  // last step.
  const auto step = [&, sigma, length, back](int row, const float* r, bool last) {
    const float* const d = inverse + 9 * static_cast<std::ptrdiff_t>(row);
    for (int c = 0; c < 3; ++c) {
      const int i = 3 * row + c;
      const float change = length * (d[c] * r[0] + d[3 + c] * r[1] + d[6 + c] * r[2]);
      const float value = omega * (current[i] + change) + (omega == 1.0F ? 0.0F : (1.0F - omega) * old[i]);
      if (last)
        x[i] = back * static_cast<double>(value);
      else
        old[i] = value;
    }
  };
  if (from_zero) {
    std::fill_n(current, 3 * to_index(rows_), 0.0F);
  } else {
    load(x);
  }
  for (int k = 1; k <= steps; ++k) {
    const bool last = k == steps;
    if (k > 1) {
      const double next = 2.0 / alpha_ * now - before;
      omega = static_cast<float>(2.0 / alpha_ * now / next);
      before = std::exchange(now, next);
    }
    if (k == 1 && from_zero) {
      Kokkos::parallel_for("diffsim::dynamics::smooth_zero", HostRows(0, rows_), [&](int row) {
        float r[3];
        for (int c = 0; c < 3; ++c) r[c] = static_cast<float>(sigma_ * b[3 * row + c]);
        step(row, r, last);
      });
    } else {
      sweep(current == x_.data() ? x_ : previous_, [&](int row, const auto& sums) {
        float r[3];
        for (int c = 0; c < 3; ++c) r[c] = static_cast<float>(sigma_ * b[3 * row + c]) - sums[c];
        step(row, r, last);
      });
    }
    std::swap(current, old);
  }
}

}  // namespace diffsim::dynamics
