// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include "core/petsc_handle.hpp"

namespace diffsim::dynamics {

/// Krylov method that solves a linear system with the factors of an earlier matrix as preconditioner. In the last
/// iterations of Newton's method, the matrix J differs little from a matrix J₀ that was factored in an earlier
/// iteration. The eigenvalues of J₀⁻¹ J are then close to 1, a few iterations suffice, and J need not be factored.
///
/// All methods are collective.
class EarlierFactors {
 public:
  /// Maximum number of iterations for one matrix. A factorisation takes about as much time as `most` to 20 iterations.
  static constexpr int most = 10;

  /// Records that the matrix was factored. `usable`: true if the factors can precondition later matrices: the
  /// factorisation succeeded and, if the matrix is symmetric, the matrix is positive definite.
  void record_factors(bool usable) {
    usable_ = usable;
    left_ = 0;
  }
  /// Begins the linear systems of another matrix.
  void begin_matrix() { left_ = usable_ ? most : 0; }
  /// Makes the linear systems use new factors until `record_factors` is called.
  void discard() { record_factors(false); }
  /// Returns true if `solve` should be called for the present matrix.
  bool may_serve() const { return left_ > 0; }

  /// Outcome of a solve.
  struct Outcome {
    bool converged = false;
    int iterations = 0;
  };
  /// Solves J x = b, or Jᵀ x = b if `transposed`, by conjugate gradients if J is symmetric and by GMRES otherwise,
  /// until the residual is at most `tolerance` times ‖b‖. The solve ends without convergence if the iterations for the
  /// present matrix exceed `most`, or if the first three iterations predict more than 2 `most` iterations
  /// (`expected_iterations`). `factors`: preconditioner that has factored an earlier matrix. `product`: operator that
  /// multiplies with J. `matrix`: the matrix J.
  Outcome solve(PC factors, Mat product, Mat matrix, Vec b, Vec x, double tolerance, bool symmetric, bool transposed);

 private:
  void configure(PC factors, bool symmetric);
  static PetscErrorCode test(KSP ksp, PetscInt iteration, PetscReal norm, KSPConvergedReason* reason, void* context);

  PetscHandle<KSP, KSPDestroy> ksp_;
  bool usable_ = false;
  int left_ = 0;             // iterations left for the present matrix
  double first_norm_ = 0.0;  // residual norm before the first iteration
};

/// Returns the expected number of iterations of a solve to the relative residual `tolerance`: `iteration`
/// ln(`tolerance`)/ln(`ratio`), but at least `iteration`, where `ratio` is the relative residual after `iteration`
/// iterations. The formula assumes that all iterations reduce the residual norm by the same factor. Returns infinity
/// for `ratio` ≥ 1.
double expected_iterations(int iteration, double ratio, double tolerance);

}  // namespace diffsim::dynamics
