// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscmat.h>

#include <cstddef>
#include <vector>

#include "body/tangent_space.hpp"
#include "core/petsc_handle.hpp"

namespace diffsim::dynamics {

/// Matrix A of a linear system on the tangent space of constraints, of the same size as the unconstrained matrix J:
///   A = P (J - Σ_k λ_k ∇²g_k) P + Σ_a α_a (I - P)_a,
/// where λ_k are the multipliers of the constraints g_k, and P is the orthogonal projection onto the tangent space. If
/// b is in the tangent space, the solution of A x = b is the tangent vector x with wᵀ (J - Σ_k λ_k ∇²g_k) x = wᵀ b for
/// all tangent vectors w. The index a denotes an assembly: one rigid body, or several rigid bodies that joints connect.
/// (I - P)_a is the part of I - P at the nodes of assembly a, and the factor α_a is the largest |J_ii| at these nodes,
/// or 1 if all J_ii at these nodes are 0.
class ProjectedMatrix {
 public:
  /// `count`: number of this rank's rows of the matrix, three for each owned vertex. Collective.
  ProjectedMatrix(const body::ConstraintSet& set, PetscInt count);

  /// Sets the projection P onto the tangent space, and the multipliers λ of the constraints. If `multipliers` is
  /// nullptr, λ is zero. Collective.
  void set(const body::TangentSpace& space, const body::Multipliers* multipliers);
  /// Computes the projected matrix A in `result`. `is_same_pattern`: true if an earlier call of `compute` computed
  /// `result` from a matrix J with the same sparsity pattern. Collective.
  void compute(Mat J, bool is_same_pattern, PetscHandle<Mat, MatDestroy>& result);

 private:
  using Matrix = PetscHandle<Mat, MatDestroy>;
  /// Creates a matrix of the type of the matrix J. The sparsity pattern of the new matrix consists of a dense block for
  /// each assembly and, if `identity` is true, the diagonal entries of all rows that do not belong to assemblies.
  Matrix make(Mat J, bool identity) const;
  /// Returns, for each assembly of this rank, the largest |J_ii| at the nodes of the assembly, or 1 if all J_ii at
  /// these nodes are 0.
  std::vector<double> largest_diagonals(Mat J) const;

  const body::ConstraintSet* set_;
  PetscInt count_;
  std::vector<PetscInt> free_;                               // rows of this rank that no constraint affects
  std::vector<PetscInt> rows_, columns_;                     // rows and columns of the entries of all assemblies
  std::vector<std::size_t> widths_;                          // number of matrix rows of each assembly
  std::vector<double> projector_values_, curvature_values_;  // P and -P (Σ_k λ_k ∇²g_k) P at these entries
  Matrix projector_, added_;                                 // projector_: P; added_: A - P J P
};

}  // namespace diffsim::dynamics
