// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/projected_matrix.hpp"

#include <petscvec.h>

#include <cstddef>
#include <utility>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::dynamics {
namespace {

/// Returns the product A B of two matrices [n, n] by rows.
std::vector<double> product(const std::vector<double>& A, const std::vector<double>& B, std::size_t n) {
  std::vector<double> C(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) C[i * n + j] += A[i * n + k] * B[k * n + j];
  return C;
}

}  // namespace

ProjectedMatrix::ProjectedMatrix(const body::ConstraintSet& set, PetscInt count) : count_(count), comm_(set.comm()) {
  PetscInt end = 0;
  DIFFSIM_MPI(MPI_Scan(&count, &end, 1, MPIU_INT, MPI_SUM, comm_));
  const PetscInt begin = end - count;
  // Number of the first row of each node.
  std::vector<PetscInt> first(set.num_nodes());
  std::vector<char> is_free(static_cast<std::size_t>(count), 1);
  for (std::size_t i = 0; i < set.vertices().size(); ++i) {
    first[i] = begin + 3 * set.vertices()[i];
    for (int c = 0; c < 3; ++c) is_free[static_cast<std::size_t>(3 * set.vertices()[i] + c)] = 0;
  }
  set.nodes().exchange()->copy_to_ghosts(first);
  for (PetscInt i = 0; i < count; ++i)
    if (is_free[static_cast<std::size_t>(i)]) free_.push_back(begin + i);
  std::vector<PetscInt> rows, columns;
  for (const body::Assembly& assembly : set.assemblies()) {
    const std::vector<int> nodes = assembly.node_numbers();
    for (const int row : nodes)
      for (PetscInt r = 0; r < 3; ++r)
        for (const int column : nodes)
          for (PetscInt c = 0; c < 3; ++c) {
            rows.push_back(first[static_cast<std::size_t>(row)] + r);
            columns.push_back(first[static_cast<std::size_t>(column)] + c);
          }
  }
  projector_ = make(rows, columns, true);
  complement_ = make(rows, columns, false);
  curvature_ = make(rows, columns, false);
}

ProjectedMatrix::Matrix ProjectedMatrix::make(const std::vector<PetscInt>& rows, const std::vector<PetscInt>& columns,
                                              bool identity) const {
  Matrix matrix;
  DIFFSIM_PETSC(MatCreate(comm_, matrix.out()));
  DIFFSIM_PETSC(MatSetSizes(matrix, count_, count_, PETSC_DETERMINE, PETSC_DETERMINE));
  DIFFSIM_PETSC(MatSetBlockSize(matrix, 3));
  DIFFSIM_PETSC(MatSetType(matrix, MATAIJ));
  std::vector<PetscInt> all_rows = rows, all_columns = columns;
  if (identity)
    for (std::vector<PetscInt>* of : {&all_rows, &all_columns}) of->insert(of->end(), free_.begin(), free_.end());
  DIFFSIM_PETSC(
      MatSetPreallocationCOO(matrix, static_cast<PetscCount>(all_rows.size()), all_rows.data(), all_columns.data()));
  return matrix;
}

void ProjectedMatrix::set(const body::TangentSpace& space, const body::Multipliers* multipliers) {
  std::vector<double> projector, complement, curvature;
  collectively(comm_, [&] {
    std::size_t number = 0;
    for (const body::Assembly& assembly : space.constraints().assemblies()) {
      const std::vector<double> P = assembly.projector(space.positions());
      const std::size_t n = 3 * assembly.node_numbers().size();
      projector.insert(projector.end(), P.begin(), P.end());
      for (std::size_t i = 0; i < n * n; ++i) complement.push_back((i % (n + 1) == 0 ? 1.0 : 0.0) - P[i]);
      if (multipliers)
        for (const double value : product(P, product(assembly.curvature((*multipliers)[number]), P, n), n))
          curvature.push_back(-value);
      ++number;
    }
  });
  if (!multipliers) curvature.assign(complement.size(), 0.0);
  projector.insert(projector.end(), free_.size(), 1.0);
  DIFFSIM_PETSC(MatSetValuesCOO(projector_, projector.data(), INSERT_VALUES));
  DIFFSIM_PETSC(MatSetValuesCOO(complement_, complement.data(), INSERT_VALUES));
  DIFFSIM_PETSC(MatSetValuesCOO(curvature_, curvature.data(), INSERT_VALUES));
}

void ProjectedMatrix::compute(Mat J, bool is_same_pattern, Matrix& result) const {
  PetscHandle<Vec, VecDestroy> diagonal;
  PetscReal largest = 0.0;
  DIFFSIM_PETSC(MatCreateVecs(J, diagonal.out(), nullptr));
  DIFFSIM_PETSC(MatGetDiagonal(J, diagonal));
  DIFFSIM_PETSC(VecNorm(diagonal, NORM_INFINITY, &largest));
  const double alpha = largest > 0.0 ? largest : 1.0;
  if (is_same_pattern) {
    Mat same = result;
    DIFFSIM_PETSC(MatPtAP(J, projector_, MAT_REUSE_MATRIX, PETSC_DEFAULT, &same));
  } else {
    DIFFSIM_PETSC(MatPtAP(J, projector_, MAT_INITIAL_MATRIX, PETSC_DEFAULT, result.out()));
  }
  DIFFSIM_PETSC(MatAXPY(result, alpha, complement_, SUBSET_NONZERO_PATTERN));
  DIFFSIM_PETSC(MatAXPY(result, 1.0, curvature_, SUBSET_NONZERO_PATTERN));
}

}  // namespace diffsim::dynamics
