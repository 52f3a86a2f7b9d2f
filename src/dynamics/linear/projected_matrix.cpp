// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/projected_matrix.hpp"

#include <petscvec.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::dynamics {
namespace {

/// Returns the product A B of two n×n matrices, which are stored row by row.
std::vector<double> product(const std::vector<double>& A, const std::vector<double>& B, std::size_t n) {
  std::vector<double> C(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) C[i * n + j] += A[i * n + k] * B[k * n + j];
  return C;
}

}  // namespace

ProjectedMatrix::ProjectedMatrix(const body::ConstraintSet& set, PetscInt count) : set_(&set), count_(count) {
  PetscInt end = 0;
  DIFFSIM_MPI(MPI_Scan(&count, &end, 1, MPIU_INT, MPI_SUM, set.comm()));
  const PetscInt begin = end - count;
  // Global index of the first matrix row of each node.
  std::vector<PetscInt> first(set.num_nodes());
  std::vector<char> is_free(static_cast<std::size_t>(count), 1);
  for (std::size_t i = 0; i < set.vertices().size(); ++i) {
    first[i] = begin + 3 * set.vertices()[i];
    for (int c = 0; c < 3; ++c) is_free[static_cast<std::size_t>(3 * set.vertices()[i] + c)] = 0;
  }
  set.nodes().exchange()->copy_to_ghosts(first);
  for (PetscInt i = 0; i < count; ++i)
    if (is_free[static_cast<std::size_t>(i)]) free_.push_back(begin + i);
  for (const body::Assembly& assembly : set.assemblies()) {
    const std::vector<int> nodes = assembly.node_numbers();
    for (const int row : nodes)
      for (PetscInt r = 0; r < 3; ++r)
        for (const int column : nodes)
          for (PetscInt c = 0; c < 3; ++c) {
            rows_.push_back(first[static_cast<std::size_t>(row)] + r);
            columns_.push_back(first[static_cast<std::size_t>(column)] + c);
          }
    widths_.push_back(3 * nodes.size());
  }
}

ProjectedMatrix::Matrix ProjectedMatrix::make(Mat J, bool identity) const {
  Matrix matrix;
  MatType type = nullptr;
  DIFFSIM_PETSC(MatGetType(J, &type));
  DIFFSIM_PETSC(MatCreate(set_->comm(), matrix.out()));
  DIFFSIM_PETSC(MatSetSizes(matrix, count_, count_, PETSC_DETERMINE, PETSC_DETERMINE));
  DIFFSIM_PETSC(MatSetBlockSize(matrix, 3));
  DIFFSIM_PETSC(MatSetType(matrix, type));
  std::vector<PetscInt> rows = rows_, columns = columns_;
  if (identity)
    for (std::vector<PetscInt>* of : {&rows, &columns}) of->insert(of->end(), free_.begin(), free_.end());
  DIFFSIM_PETSC(MatSetPreallocationCOO(matrix, static_cast<PetscCount>(rows.size()), rows.data(), columns.data()));
  return matrix;
}

void ProjectedMatrix::set(const body::TangentSpace& space, const body::Multipliers* multipliers) {
  projector_values_.clear();
  curvature_values_.clear();
  collectively(set_->comm(), [&] {
    std::size_t number = 0;
    for (const body::Assembly& assembly : set_->assemblies()) {
      const std::vector<double> P = assembly.projector(space.positions());
      const std::size_t n = widths_[number];
      projector_values_.insert(projector_values_.end(), P.begin(), P.end());
      if (multipliers)
        for (const double value :
             product(P, product(assembly.curvature(space.positions(), (*multipliers)[number]), P, n), n))
          curvature_values_.push_back(-value);
      ++number;
    }
  });
  curvature_values_.resize(projector_values_.size(), 0.0);
}

std::vector<double> ProjectedMatrix::largest_diagonals(Mat J) const {
  PetscHandle<Vec, VecDestroy> diagonal;
  DIFFSIM_PETSC(MatCreateVecs(J, diagonal.out(), nullptr));
  DIFFSIM_PETSC(MatGetDiagonal(J, diagonal));
  const double* values = nullptr;
  DIFFSIM_PETSC(VecGetArrayRead(diagonal, &values));
  std::vector<double> at_nodes(set_->num_nodes(), 0.0);
  for (std::size_t i = 0; i < set_->vertices().size(); ++i)
    for (int c = 0; c < 3; ++c) at_nodes[i] = std::max(at_nodes[i], std::abs(values[3 * set_->vertices()[i] + c]));
  DIFFSIM_PETSC(VecRestoreArrayRead(diagonal, &values));
  set_->nodes().exchange()->copy_to_ghosts(at_nodes);
  std::vector<double> largest;
  for (const body::Assembly& assembly : set_->assemblies()) {
    double most = 0.0;
    for (const int node : assembly.node_numbers()) most = std::max(most, at_nodes[static_cast<std::size_t>(node)]);
    largest.push_back(most > 0.0 ? most : 1.0);
  }
  return largest;
}

void ProjectedMatrix::compute(Mat J, bool is_same_pattern, Matrix& result) {
  if (!projector_) {
    projector_ = make(J, true);
    added_ = make(J, false);
  }
  std::vector<double> projector = projector_values_, added = curvature_values_;
  projector.insert(projector.end(), free_.size(), 1.0);
  const std::vector<double> alpha = largest_diagonals(J);
  std::size_t entry = 0;
  for (std::size_t a = 0; a < widths_.size(); ++a)
    for (std::size_t i = 0; i < widths_[a] * widths_[a]; ++i, ++entry)
      added[entry] += alpha[a] * ((i % (widths_[a] + 1) == 0 ? 1.0 : 0.0) - projector_values_[entry]);
  DIFFSIM_PETSC(MatSetValuesCOO(projector_, projector.data(), INSERT_VALUES));
  DIFFSIM_PETSC(MatSetValuesCOO(added_, added.data(), INSERT_VALUES));
  if (is_same_pattern) {
    Mat same = result;
    DIFFSIM_PETSC(MatPtAP(J, projector_, MAT_REUSE_MATRIX, PETSC_DEFAULT, &same));
  } else {
    DIFFSIM_PETSC(MatPtAP(J, projector_, MAT_INITIAL_MATRIX, PETSC_DEFAULT, result.out()));
  }
  DIFFSIM_PETSC(MatAXPY(result, 1.0, added_, SUBSET_NONZERO_PATTERN));
}

}  // namespace diffsim::dynamics
