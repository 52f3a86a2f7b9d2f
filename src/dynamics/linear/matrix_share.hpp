// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscsys.h>

#include <memory>
#include <vector>

#include "core/field_pool.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::dynamics {

/// Contribution of this rank to one summand of the Jacobian, as a sparse matrix of 3×3 blocks. Block rows and block
/// columns of a MatrixShare belong to the owned vertices, followed by ghost vertices: the ghost vertices of the mesh,
/// or the separate list `couplings.copies()` of copies of other ranks' vertices.
class MatrixShare {
 public:
  /// `couplings`: sparsity pattern. `has_own_copies`: true if the ghost vertices of the MatrixShare are the vertices
  /// `couplings.copies()`, false if they are the ghost vertices of the mesh. Collective.
  MatrixShare(const TetrahedralMesh& mesh, Couplings couplings, bool has_own_copies);

  BlockMatrix& blocks() { return blocks_; }
  const BlockMatrix& blocks() const { return blocks_; }
  const Couplings& couplings() const { return couplings_; }
  /// Index, in the global matrix, of the block row of each owned or ghost vertex. The block rows of the global matrix
  /// belong to the owned vertices of rank 0, then of rank 1, and so on.
  const std::vector<PetscInt>& numbers() const { return numbers_; }
  /// Returns a field on the owned and ghost vertices of this MatrixShare, with the values of `field` [owned or local
  /// vertices, 3] at owned vertices, and with ghost values up to date. Collective.
  Field complete(const Field& field) const;
  /// Adds K x to y at owned vertices, where the matrix K, one summand of the Jacobian, is the sum of the MatrixShares
  /// of all ranks. x and y: [local vertices of the mesh, 3]. Collective.
  void multiply(const Field& x, Field& y) const;

 private:
  const TetrahedralMesh* mesh_;
  Couplings couplings_;
  std::shared_ptr<const Entities> vertices_;
  std::shared_ptr<FieldPool> scratch_ = FieldPool::make();
  BlockMatrix blocks_;
  std::vector<PetscInt> numbers_;
};

}  // namespace diffsim::dynamics
