// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscksp.h>

#include <memory>

namespace diffsim::dynamics {

/// Faster substitutes for operations of PETSc on matrices and multigrid preconditioners. A substitute for an operation
/// of PETSc changes results only by rounding errors, or within the tolerance of the linear solver. All members are
/// collective.
class FastPaths {
 public:
  virtual ~FastPaths() = default;
  /// Replaces PETSc's functions for products of `matrix` and vectors. Call `use_products` again whenever the sparsity
  /// pattern of `matrix` may have changed.
  virtual void use_products(Mat matrix) = 0;
  /// Replaces PETSc's functions for the products of operators and interpolations with vectors, on all levels of the
  /// multigrid preconditioner `pc`, which must have been set up.
  virtual void use_products(PC pc) = 0;
  /// Replaces PETSc's smoothers of a multigrid preconditioner that has been set up. Returns false if the finest
  /// multigrid level keeps PETSc's smoother. Call `use_smoothers` again before each solve. `least_bound`: smallest
  /// permitted upper bound of the eigenvalues that the smoother of the finest multigrid level covers
  /// (`smooth_in_single_precision`). `norm`: norm of the right-hand side.
  virtual bool use_smoothers(PC pc, double least_bound, double norm) = 0;
  /// Copies the present values of `matrix` to the smoother of the finest multigrid level. Recomputes the smoother's
  /// diagonal blocks only if `with_diagonal` is true. Does nothing if the finest multigrid level keeps PETSc's
  /// smoother.
  virtual void update_finest_level(PC pc, Mat matrix, bool with_diagonal) = 0;
  /// Returns the operator of the finest multigrid level in single precision, or nullptr if this level keeps PETSc's
  /// smoother.
  virtual Mat single_precision_operator(PC pc) = 0;
};

/// Returns a FastPaths object for AIJ matrices of 3×3 blocks in host memory, which provides products by blocks
/// (block_product.hpp) and smoothers in single precision (single_smoother.hpp). Matrices of types other than AIJ,
/// matrices in device memory, and matrices without 3×3 blocks keep PETSc's operations.
std::unique_ptr<FastPaths> make_host_fast_paths();
/// Returns a FastPaths object that replaces no operation of PETSc.
std::unique_ptr<FastPaths> make_no_fast_paths();

}  // namespace diffsim::dynamics
