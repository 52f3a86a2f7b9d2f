// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <petscmat.h>

#include <cmath>
#include <vector>

#include "diffsim/core/petsc_handle.hpp"
#include "dynamics/block_product.hpp"
#include "dynamics/single_blocks.hpp"

namespace diffsim::dynamics {

/// A level of a multigrid preconditioner in single precision: copies of its operator A, in units in which the diagonal
/// of A and the right hand side are about one: τ A for A, σ b for b, (σ/τ) x for x.
class SingleLevel {
 public:
  /// The matrix's parts have blocks. `by_blocks`: D is the diagonal's blocks, else its entries. Collective.
  SingleLevel(Mat matrix, const MatrixBlocks& blocks, bool by_blocks);
  ~SingleLevel();
  SingleLevel(const SingleLevel&) = delete;
  SingleLevel& operator=(const SingleLevel&) = delete;

  /// Whether each rank has an inverse of its D. Collective.
  bool good(MPI_Comm comm) const;
  void set_values(const MatrixBlocks& blocks);
  /// D becomes that of the present values, but on a rank where that has no inverse.
  void renew_diagonal();
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
  void invert_diagonal(bool by_blocks);
  void load(const double* x);
  template <class Finish>
  void sweep(std::vector<float>& x, const Finish& finish);

  int rows_ = 0;  // of three
  bool by_blocks_ = false;
  double tau_ = 1.0, sigma_ = 1.0, length_ = 1.0, alpha_ = 1.0;
  SingleBlocks own_, others_;
  std::vector<int> inner_, outer_;   // rows without and with others' values, the latter in others_' order
  std::vector<float> inverse_;       // of D: 9 a row, column after column
  std::vector<float> x_, previous_;  // own values, then copies of others'
  PetscSFHandle sf_;
  MPI_Datatype three_ = MPI_DATATYPE_NULL;
};

}  // namespace diffsim::dynamics
