// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscmat.h>

#include <vector>

#include "body/tangent_space.hpp"
#include "core/petsc_handle.hpp"

namespace diffsim::dynamics {

/// Matrix of a linear system on the tangent space of constraints, of the same size as the unconstrained matrix J:
///
///   A = P (J - Σ_k λ_k ∇²g_k) P + α (I - P)
///
/// P is the orthogonal projection onto the tangent space. If b is in the tangent space, the solution of A x = b is the
/// tangent x with wᵀ (J - Σ_k λ_k ∇²g_k) x = wᵀ b for all tangent w. α is the largest |J_ii|.
class ProjectedMatrix {
 public:
  /// `count`: number of this rank's rows of J, three for each owned vertex. Collective.
  ProjectedMatrix(const body::ConstraintSet& set, PetscInt count);

  /// Sets P, and λ unless `multipliers` is nullptr, which stands for λ = 0. Collective.
  void set(const body::TangentSpace& space, const body::Multipliers* multipliers);
  /// Computes A. `is_same_pattern`: `result` was computed from a J with the same sparsity pattern before. Collective.
  void compute(Mat J, bool is_same_pattern, PetscHandle<Mat, MatDestroy>& result) const;

 private:
  using Matrix = PetscHandle<Mat, MatDestroy>;
  /// Creates a matrix with the rows and columns of all assemblies and, if `identity`, the diagonal of the others.
  Matrix make(const std::vector<PetscInt>& rows, const std::vector<PetscInt>& columns, bool identity) const;

  PetscInt count_;
  MPI_Comm comm_;
  std::vector<PetscInt> free_;                 // rows of this rank without constraints
  Matrix projector_, complement_, curvature_;  // P, I - P, -P (Σ_k λ_k ∇²g_k) P
};

}  // namespace diffsim::dynamics
