// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscsys.h>

#include <memory>
#include <vector>

#include "diffsim/core/block_matrix.hpp"
#include "diffsim/core/field_pool.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::dynamics {

/// This rank's share of a part of the Jacobian, on vertices of its own: the owned ones, then copies of others', the
/// mesh's or those that the couplings name.
class MatrixShare {
 public:
  /// Collective.
  MatrixShare(const TetrahedralMesh& mesh, Couplings couplings, bool has_own_copies);

  BlockMatrix& blocks() { return blocks_; }
  const BlockMatrix& blocks() const { return blocks_; }
  const Couplings& couplings() const { return couplings_; }
  /// Number of each vertex in the whole matrix: ranks' owned vertices follow each other.
  const std::vector<PetscInt>& numbers() const { return numbers_; }
  /// The owned entries of a field, [., 3], and copies of others', on the share's vertices. Collective.
  Field complete(const Field& field) const;
  /// y += K x at owned vertices; [local vertices of the mesh, 3]. Collective.
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
