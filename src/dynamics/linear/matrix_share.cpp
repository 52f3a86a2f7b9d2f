// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/matrix_share.hpp"

#include <numeric>
#include <utility>

#include "core/exchange.hpp"
#include "core/point_map.hpp"
#include "diffsim/core/error.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim::dynamics {
MatrixShare::MatrixShare(const TetrahedralMesh& mesh, Couplings couplings, bool has_own_copies)
    : mesh_(&mesh),
      couplings_(std::move(couplings)),
      vertices_(has_own_copies ? with_copies(*mesh.owned_vertex_entities(), couplings_.copies())
                               : mesh.vertex_entities()),
      blocks_(static_cast<int>(vertices_->local()), couplings_) {
  const PetscInt owned = mesh.num_owned_vertices();
  PetscInt end = 0;
  DIFFSIM_MPI(MPI_Scan(&owned, &end, 1, MPIU_INT, MPI_SUM, mesh.comm()));
  numbers_.resize(vertices_->local());
  std::iota(numbers_.begin(), numbers_.begin() + owned, end - owned);
  vertices_->exchange()->copy_to_ghosts(numbers_);
}

Field MatrixShare::complete(const Field& field) const {
  const int owned = mesh_->num_owned_vertices();
  Field all = scratch_->take(field.name(), vertices_, 3);
  copy_values(3 * owned, field, all);
  vertices_->exchange()->copy_to_ghosts(all);
  return all;
}

void MatrixShare::multiply(const Field& x, Field& y) const {
  const Field all = complete(x);
  Field sums = all.like("sums");
  blocks_.multiply(all, sums);
  vertices_->exchange()->add_to_owners(sums);
  add_scaled(3 * mesh_->num_owned_vertices(), 1.0, sums, y);
}

}  // namespace diffsim::dynamics
