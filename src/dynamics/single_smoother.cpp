// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/single_smoother.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/huge_pages.hpp"
#include "dynamics/block_product.hpp"
#include "dynamics/single_blocks.hpp"

namespace diffsim::dynamics {
namespace {

using HostRows = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<int>>;
using MatHandle = PetscHandle<Mat, MatDestroy>;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// One level: copies of its operator A, in units in which the diagonal of A and the right hand side are about one:
/// τ A for A, σ b for b, (σ/τ) x for x.
class Level {
 public:
  /// The matrix's parts have blocks. Collective.
  Level(Mat matrix, const MatrixBlocks& blocks, bool by_blocks);
  ~Level();
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  /// Whether each rank has an inverse of its D. Collective.
  bool good(MPI_Comm comm) const;
  void set_values(const MatrixBlocks& blocks);
  void set_norm(double norm) { sigma_ = norm > 0.0 ? std::exp2(-std::ilogb(norm)) : 1.0; }
  /// Those of Chebyshev's iteration.
  void set_bounds(double lowest, double highest) {
    length_ = 2.0 / (lowest + highest);
    alpha_ = 1.0 - length_ * lowest;
  }

  // b, x, r: the rank's values. Collective.
  void multiply(const double* x, double* y);
  void residual(const double* b, const double* x, double* r);
  void smooth(const double* b, double* x, bool from_zero, int steps);

 private:
  void invert_diagonal(const MatrixBlocks& blocks, bool by_blocks);
  void load(const double* x);
  template <class Finish>
  void sweep(std::vector<float>& x, const Finish& finish);

  int rows_ = 0;  // of three
  double tau_ = 1.0, sigma_ = 1.0, length_ = 1.0, alpha_ = 1.0;
  SingleBlocks own_, others_;
  std::vector<int> inner_, outer_;   // rows without and with others' values, the latter in others_' order
  std::vector<float> inverse_;       // of D: 9 a row, column after column
  std::vector<float> x_, previous_;  // own values, then copies of others'
  std::vector<float> zero_;
  PetscSFHandle sf_;
  MPI_Datatype three_ = MPI_DATATYPE_NULL;
};

Level::Level(Mat matrix, const MatrixBlocks& blocks, bool by_blocks) {
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
  std::vector<char> has_others(index(rows_), 0);
  for (const int place : others_.place) has_others[index(place)] = 1;
  outer_ = others_.place;
  for (int row = 0; row < rows_; ++row)
    if (!has_others[index(row)]) inner_.push_back(row);

  const int ghosts = static_cast<int>(blocks.columns.size()) / 3;
  for (std::vector<float>* vector : {&x_, &previous_}) reserve_in_huge_pages(*vector, 3 * index(rows_ + ghosts));
  x_.resize(3 * index(rows_ + ghosts));
  previous_.resize(x_.size());
  if (blocks.others) {
    std::vector<PetscInt> remote(index(ghosts));
    for (int k = 0; k < ghosts; ++k) remote[index(k)] = blocks.columns[3 * index(k)] / 3;
    PetscLayout layout = nullptr;
    DIFFSIM_PETSC(PetscLayoutCreateFromSizes(comm, rows_, PETSC_DECIDE, 1, &layout));
    DIFFSIM_PETSC(PetscSFCreate(comm, sf_.out()));
    DIFFSIM_PETSC(PetscSFSetGraphLayout(sf_, layout, ghosts, nullptr, PETSC_OWN_POINTER, remote.data()));
    DIFFSIM_PETSC(PetscLayoutDestroy(&layout));
    DIFFSIM_MPI(MPI_Type_contiguous(3, MPI_FLOAT, &three_));
    DIFFSIM_MPI(MPI_Type_commit(&three_));
  }
  invert_diagonal(blocks, by_blocks);
}

Level::~Level() {
  sf_ = {};
  if (three_ != MPI_DATATYPE_NULL) MPI_Type_free(&three_);
}

bool Level::good(MPI_Comm comm) const {
  int all = own_.size() == rows_ && !inverse_.empty() == (rows_ > 0);
  for (const float value : inverse_) all = all && std::isfinite(value);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm));
  return all != 0;
}

void Level::set_values(const MatrixBlocks& blocks) {
  blocks.visit_values([&](const double* own, const double* others) {
    dynamics::set_values(*blocks.own, own, tau_, own_);
    if (blocks.others) dynamics::set_values(*blocks.others, others, tau_, others_);
  });
}

void Level::invert_diagonal(const MatrixBlocks&, bool by_blocks) {
  if (own_.size() != rows_) return;
  reserve_in_huge_pages(inverse_, 9 * index(rows_));
  inverse_.assign(9 * index(rows_), 0.0F);
  for (int row = 0; row < rows_; ++row) {
    double d[9] = {};
    for (int k = own_.begin[index(row)]; k < own_.begin[index(row) + 1]; ++k)
      if (own_.column[index(k)] == 3 * row) std::copy_n(&own_.values[9 * index(k)], 9, d);
    float* const inverse = &inverse_[9 * index(row)];
    if (by_blocks) {
      // The adjugate over the determinant; d is by columns, d[3 c + r].
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

void Level::load(const double* x) {
  const double scale = sigma_ / tau_;
  float* const to = x_.data();
  Kokkos::parallel_for("diffsim::dynamics::load_single", HostRows(0, 3 * rows_),
                       [=](int i) { to[i] = static_cast<float>(scale * x[i]); });
}

/// finish(row, A x there) for all rows; x's copies are brought up to date.
template <class Finish>
void Level::sweep(std::vector<float>& x, const Finish& finish) {
  float* const ghosts = x.data() + 3 * index(rows_);
  if (sf_) DIFFSIM_PETSC(PetscSFBcastBegin(sf_, three_, x.data(), ghosts, MPI_REPLACE));
  const auto inner = static_cast<int>(inner_.size()), outer = static_cast<int>(outer_.size());
  Kokkos::parallel_for("diffsim::dynamics::smooth_inner", HostRows(0, inner), [&](int i) {
    const int row = inner_[index(i)];
    finish(row, row_product(own_, row, x.data()));
  });
  if (sf_) DIFFSIM_PETSC(PetscSFBcastEnd(sf_, three_, x.data(), ghosts, MPI_REPLACE));
  Kokkos::parallel_for("diffsim::dynamics::smooth_outer", HostRows(0, outer), [&](int i) {
    const int row = outer_[index(i)];
    finish(row, row_product(own_, row, x.data()) + row_product(others_, i, x.data()));
  });
}

void Level::multiply(const double* x, double* y) {
  load(x);
  const double scale = 1.0 / sigma_;
  sweep(x_, [=](int row, const auto& sums) {
    for (int c = 0; c < 3; ++c) y[3 * row + c] = scale * static_cast<double>(sums[c]);
  });
}

void Level::residual(const double* b, const double* x, double* r) {
  load(x);
  const double scale = 1.0 / sigma_;
  sweep(x_, [=](int row, const auto& sums) {
    for (int c = 0; c < 3; ++c) r[3 * row + c] = b[3 * row + c] - scale * static_cast<double>(sums[c]);
  });
}

void Level::smooth(const double* b, double* x, bool from_zero, int steps) {
  // x₁ = x₀ + l D⁻¹ r₀, x_{k+1} = ω_k (x_k + l D⁻¹ r_k) + (1 - ω_k) x_{k-1}: Saad, Iterative methods for sparse linear
  // systems, alg. 12.1.
  const auto sigma = static_cast<float>(sigma_);
  const auto length = static_cast<float>(length_);
  const double back = tau_ / sigma_;
  const float* const inverse = inverse_.data();
  double before = 1.0, now = 1.0 / alpha_;  // Chebyshev's polynomials at 1/alpha
  float omega = 1.0F;
  float *current = x_.data(), *old = previous_.data();
  // Of row's residual r: what a step makes of it, in `old`, or at last in x.
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
    std::fill_n(current, 3 * index(rows_), 0.0F);
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

// ---- as PETSc sees it ----

PetscErrorCode destroy_level(void* level) {
  delete static_cast<Level*>(level);
  return 0;
}

PetscErrorCode multiply_level(Mat shell, Vec x, Vec y) {
  Level* level = nullptr;
  const PetscScalar* source = nullptr;
  PetscScalar* target = nullptr;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, static_cast<void*>(&level)));
  PetscCall(VecGetArrayRead(x, &source));
  PetscCall(VecGetArrayWrite(y, &target));
  level->multiply(source, target);
  PetscCall(VecRestoreArrayWrite(y, &target));
  PetscCall(VecRestoreArrayRead(x, &source));
  PetscFunctionReturn(0);
}

PetscErrorCode level_residual(Mat shell, Vec b, Vec x, Vec r) {
  Level* level = nullptr;
  const PetscScalar *right = nullptr, *source = nullptr;
  PetscScalar* target = nullptr;
  PetscFunctionBegin;
  PetscCall(MatShellGetContext(shell, static_cast<void*>(&level)));
  PetscCall(VecGetArrayRead(b, &right));
  PetscCall(VecGetArrayRead(x, &source));
  PetscCall(VecGetArrayWrite(r, &target));
  level->residual(right, source, target);
  PetscCall(VecRestoreArrayWrite(r, &target));
  PetscCall(VecRestoreArrayRead(x, &source));
  PetscCall(VecRestoreArrayRead(b, &right));
  PetscFunctionReturn(0);
}

PetscErrorCode smooth_level(PC pc, Vec b, Vec x, bool from_zero, PetscInt steps) {
  Level* level = nullptr;
  const PetscScalar* right = nullptr;
  PetscScalar* target = nullptr;
  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, static_cast<void*>(&level)));
  PetscCall(VecGetArrayRead(b, &right));
  PetscCall(VecGetArray(x, &target));
  level->smooth(right, target, from_zero, static_cast<int>(steps));
  PetscCall(VecRestoreArray(x, &target));
  PetscCall(VecRestoreArrayRead(b, &right));
  PetscFunctionReturn(0);
}
PetscErrorCode apply_once(PC pc, Vec b, Vec x) { return smooth_level(pc, b, x, true, 1); }
PetscErrorCode apply_steps(PC pc, Vec b, Vec x, Vec, PetscReal, PetscReal, PetscReal, PetscInt steps, PetscBool zero,
                           PetscInt* done, PCRichardsonConvergedReason* reason) {
  *done = steps;
  *reason = PCRICHARDSON_CONVERGED_ITS;
  return smooth_level(pc, b, x, zero == PETSC_TRUE, steps);
}

bool same_function(void (*a)(), PetscErrorCode (*b)(Mat, Vec, Vec)) { return a == reinterpret_cast<void (*)()>(b); }

/// The level behind a smoother's operator; nullptr where it is PETSc's.
Level* level_of(KSP smoother) {
  Mat matrix = nullptr;
  PetscBool shell = PETSC_FALSE;
  void (*product)() = nullptr;
  DIFFSIM_PETSC(KSPGetOperators(smoother, &matrix, nullptr));
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSHELL, &shell));
  if (!shell) return nullptr;
  DIFFSIM_PETSC(MatShellGetOperation(matrix, MATOP_MULT, &product));
  Level* level = nullptr;
  if (same_function(product, multiply_level)) DIFFSIM_PETSC(MatShellGetContext(matrix, static_cast<void*>(&level)));
  return level;
}

/// Levels of a multigrid preconditioner; 0 of others and of one that was not set up.
PetscInt levels_of(PC pc) {
  PetscBool multigrid = PETSC_FALSE;
  PetscInt levels = 0;
  DIFFSIM_PETSC(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(pc), &multigrid, PCMG, PCGAMG, ""));
  if (multigrid) DIFFSIM_PETSC(PCMGGetLevels(pc, &levels));
  return levels;
}

KSP smoother_of(PC pc, PetscInt level) {
  KSP smoother = nullptr;
  DIFFSIM_PETSC(PCMGGetSmoother(pc, level, &smoother));
  return smoother;
}

constexpr const char* key = "diffsim_level";

/// Level: that of the shell, which lives as long as the preconditioner then.
void use_shell(PC pc, Level* level, Mat shell) {
  DIFFSIM_PETSC(PCSetType(pc, PCSHELL));
  DIFFSIM_PETSC(PCShellSetName(pc, "Chebyshev, in single precision"));
  DIFFSIM_PETSC(PetscObjectCompose(reinterpret_cast<PetscObject>(pc), key, reinterpret_cast<PetscObject>(shell)));
  DIFFSIM_PETSC(PCShellSetContext(pc, level));
  DIFFSIM_PETSC(PCShellSetApply(pc, apply_once));
  DIFFSIM_PETSC(PCShellSetApplyRichardson(pc, apply_steps));
}

/// The largest eigenvalue of D⁻¹A, as ten iterations of conjugate gradients see it; 0 if they break down.
double largest_eigenvalue(Mat shell, Level* level) {
  PetscHandle<KSP, KSPDestroy> ksp;
  PetscHandle<Vec, VecDestroy> b, x;
  PC pc = nullptr;
  DIFFSIM_PETSC(MatCreateVecs(shell, x.out(), b.out()));
  PetscInt begin = 0, end = 0;
  PetscScalar* noise = nullptr;
  DIFFSIM_PETSC(VecGetOwnershipRange(b, &begin, &end));
  DIFFSIM_PETSC(VecGetArrayWrite(b, &noise));
  for (PetscInt i = begin; i < end; ++i) noise[i - begin] = std::fmod(std::sin(12.9898 * (i + 1.0)) * 43758.5453, 1.0);
  DIFFSIM_PETSC(VecRestoreArrayWrite(b, &noise));
  DIFFSIM_PETSC(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(shell)), ksp.out()));
  DIFFSIM_PETSC(KSPSetType(ksp, KSPCG));
  DIFFSIM_PETSC(KSPSetOperators(ksp, shell, shell));
  DIFFSIM_PETSC(KSPGetPC(ksp, &pc));
  use_shell(pc, level, shell);
  DIFFSIM_PETSC(KSPSetNormType(ksp, KSP_NORM_NONE));
  DIFFSIM_PETSC(KSPSetTolerances(ksp, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, 10));
  DIFFSIM_PETSC(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  DIFFSIM_PETSC(KSPSolve(ksp, b, x));
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PetscReal largest = 0.0, least = 0.0;
  DIFFSIM_PETSC(KSPGetConvergedReason(ksp, &reason));
  if (reason < 0 && reason != KSP_DIVERGED_ITS) return 0.0;
  DIFFSIM_PETSC(KSPComputeExtremeSingularValues(ksp, &largest, &least));
  return std::isfinite(largest) ? largest : 0.0;
}

/// Whether a level has the smoother that GAMG gives it by itself, or ours from before it was set up again.
bool is_default(KSP smoother) {
  PC pc = nullptr;
  PetscObject of_level = nullptr;
  PetscBool jacobi = PETSC_FALSE, chebyshev = PETSC_FALSE;
  DIFFSIM_PETSC(KSPGetPC(smoother, &pc));
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(pc), PCJACOBI, &jacobi));
  DIFFSIM_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(smoother), KSPCHEBYSHEV, &chebyshev));
  DIFFSIM_PETSC(PetscObjectQuery(reinterpret_cast<PetscObject>(pc), key, &of_level));
  return (jacobi && chebyshev) || (of_level && !level_of(smoother));
}

bool options_choose() {
  PetscBool wanted = PETSC_TRUE;
  DIFFSIM_PETSC(PetscOptionsGetBool(nullptr, nullptr, "-diffsim_single_smoother", &wanted, nullptr));
  bool chosen = wanted == PETSC_FALSE;
  for (const char* name : {"-mg_levels_ksp_type", "-mg_levels_pc_type", "-mg_levels_ksp_chebyshev_esteig",
                           "-mg_levels_ksp_chebyshev_eigenvalues", "-mg_levels_esteig_ksp_type"}) {
    PetscBool has = PETSC_FALSE;
    DIFFSIM_PETSC(PetscOptionsHasName(nullptr, nullptr, name, &has));
    chosen = chosen || has;
  }
  return chosen;
}

}  // namespace

bool smooth_in_single_precision(PC pc) {
  const PetscInt levels = levels_of(pc);
  if (levels < 2) return false;
  const KSP finest = smoother_of(pc, levels - 1);
  if (!is_default(finest) || options_choose()) return level_of(finest) != nullptr;
  for (PetscInt l = levels - 1; l > 0; --l) {
    const KSP smoother = smoother_of(pc, l);
    Mat matrix = nullptr, of_pc = nullptr, interpolation = nullptr;
    DIFFSIM_PETSC(KSPGetOperators(smoother, &matrix, &of_pc));
    DIFFSIM_PETSC(PCMGGetInterpolation(pc, l, &interpolation));
    const MatrixBlocks blocks = find_blocks(matrix);
    if (!is_default(smoother) || !blocks.own) continue;
    MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
    auto level = std::make_unique<Level>(matrix, blocks, l == levels - 1);
    if (!level->good(comm)) continue;
    PetscInt rows = 0, columns = 0, steps = 0;
    MatHandle shell;
    Level* const context = level.get();
    DIFFSIM_PETSC(MatGetLocalSize(matrix, &rows, &columns));
    DIFFSIM_PETSC(MatCreateShell(comm, rows, columns, PETSC_DETERMINE, PETSC_DETERMINE, level.release(), shell.out()));
    DIFFSIM_PETSC(MatShellSetContextDestroy(shell, destroy_level));
    DIFFSIM_PETSC(MatShellSetOperation(shell, MATOP_MULT, reinterpret_cast<void (*)()>(multiply_level)));
    const double largest = largest_eigenvalue(shell, context);
    if (!(largest > 0.0)) continue;
    context->set_bounds(0.1 * largest, 1.1 * largest);
    use_block_products(interpolation, Precision::single);
    PC smoother_pc = nullptr;
    DIFFSIM_PETSC(KSPGetTolerances(smoother, nullptr, nullptr, nullptr, &steps));
    DIFFSIM_PETSC(KSPSetType(smoother, KSPRICHARDSON));
    DIFFSIM_PETSC(KSPSetTolerances(smoother, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT, steps));
    DIFFSIM_PETSC(KSPSetOperators(smoother, shell, of_pc));
    DIFFSIM_PETSC(KSPGetPC(smoother, &smoother_pc));
    use_shell(smoother_pc, context, shell);
    DIFFSIM_PETSC(PCMGSetResidual(pc, l, level_residual, shell));
  }
  return level_of(finest) != nullptr;
}

void update_finest_level(PC pc, Mat matrix) {
  const PetscInt levels = levels_of(pc);
  Level* const level = levels > 1 ? level_of(smoother_of(pc, levels - 1)) : nullptr;
  if (level) level->set_values(find_blocks(matrix));
}

Mat finest_operator(PC pc) {
  const PetscInt levels = levels_of(pc);
  if (levels < 2 || !level_of(smoother_of(pc, levels - 1))) return nullptr;
  Mat matrix = nullptr;
  DIFFSIM_PETSC(KSPGetOperators(smoother_of(pc, levels - 1), &matrix, nullptr));
  return matrix;
}

void set_smoothed_norm(PC pc, double norm) {
  for (PetscInt l = levels_of(pc) - 1; l > 0; --l)
    if (Level* const level = level_of(smoother_of(pc, l))) level->set_norm(norm);
}

}  // namespace diffsim::dynamics
