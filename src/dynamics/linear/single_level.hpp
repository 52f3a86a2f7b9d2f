// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <petscmat.h>

#include <cmath>
#include <vector>

#include "core/petsc_handle.hpp"
#include "dynamics/linear/block_product.hpp"
#include "dynamics/linear/single_blocks.hpp"

namespace diffsim::dynamics {

/// Level of a multigrid preconditioner in single precision, with a copy of the level's operator A. The operator A, the
/// right-hand side b and the solution x are stored as τ A, σ b and (σ/τ) x, with powers of two τ and σ for which the
/// largest diagonal entry of τ A and the norm of σ b are about one.
class SingleLevel {
 public:
  /// `blocks`: block structure of the operator `matrix`, which must consist of 3×3 blocks (`blocks.own` is not
  /// nullptr). `by_blocks`: true if the smoother's matrix D consists of the 3×3 diagonal blocks of the operator A,
  /// false if D is the diagonal of A. Collective.
  SingleLevel(Mat matrix, const MatrixBlocks& blocks, bool by_blocks);
  ~SingleLevel();
  SingleLevel(const SingleLevel&) = delete;
  SingleLevel& operator=(const SingleLevel&) = delete;

  /// Returns true if the smoother's matrix D has a finite inverse on every rank. Collective.
  bool good(MPI_Comm comm) const;
  void set_values(const MatrixBlocks& blocks);
  /// Recomputes the smoother's matrix D from the present values of the operator A. A rank on which the recomputed
  /// matrix D has no finite inverse keeps the previous matrix D.
  void renew_diagonal();
  void set_norm(double norm) { sigma_ = norm > 0.0 ? std::exp2(-std::ilogb(norm)) : 1.0; }
  /// Sets the interval of eigenvalues of D⁻¹A that the Chebyshev iteration covers, where A is the level's operator and
  /// D is the smoother's matrix.
  void set_bounds(double lowest, double highest) {
    length_ = 2.0 / (lowest + highest);
    alpha_ = 1.0 - length_ * lowest;
  }

  // b, x, y, r: this rank's values. The following functions are collective.
  void multiply(const double* x, double* y);
  void residual(const double* b, const double* x, double* r);
  void smooth(const double* b, double* x, bool from_zero, int steps);

 private:
  void invert_diagonal(bool by_blocks);
  void load(const double* x);
  template <class Finish>
  void sweep(std::vector<float>& x, const Finish& finish);

  int rows_ = 0;  // number of block rows, of three rows each
  bool by_blocks_ = false;
  double tau_ = 1.0, sigma_ = 1.0, length_ = 1.0, alpha_ = 1.0;
  SingleBlocks own_, others_;
  std::vector<int> inner_, outer_;   // inner_: block rows without columns of other ranks; outer_: other rows
  std::vector<float> inverse_;       // inverse of D: 9 values per block row, column after column
  std::vector<float> x_, previous_;  // each: own values, then ghost values
  PetscSFHandle sf_;
  MPI_Datatype three_ = MPI_DATATYPE_NULL;
};

}  // namespace diffsim::dynamics
