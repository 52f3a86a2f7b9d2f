// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/matrix_share.hpp"

#include <utility>

#include "diffsim/core/error.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim::dynamics {
namespace {

std::unique_ptr<Halo> halo_of(const TetrahedralMesh& mesh, const std::vector<VertexPlace>& copies) {
  std::vector<PetscInt> ranks, places;
  for (const VertexPlace& copy : copies) {
    ranks.push_back(copy.rank);
    places.push_back(copy.index);
  }
  return std::make_unique<Halo>(mesh.comm(), mesh.num_owned_vertices(), ranks, places);
}

}  // namespace

MatrixShare::MatrixShare(const TetrahedralMesh& mesh, Couplings couplings, bool has_own_copies)
    : mesh_(&mesh),
      couplings_(std::move(couplings)),
      own_(has_own_copies ? halo_of(mesh, couplings_.copies()) : nullptr),
      blocks_(halo().num_local(), couplings_) {
  const PetscInt owned = mesh.num_owned_vertices();
  PetscInt end = 0;
  DIFFSIM_MPI(MPI_Scan(&owned, &end, 1, MPIU_INT, MPI_SUM, mesh.comm()));
  Field numbers("numbers", static_cast<std::size_t>(owned), 3);
  std::vector<double> values(numbers.size());
  for (PetscInt v = 0; v < owned; ++v) values[3 * static_cast<std::size_t>(v)] = static_cast<double>(end - owned + v);
  numbers.from_host(values);
  values = complete(numbers).to_host();
  numbers_.resize(values.size() / 3);
  for (std::size_t v = 0; v < numbers_.size(); ++v) numbers_[v] = static_cast<PetscInt>(values[3 * v]);
}

Field MatrixShare::complete(const Field& field) const {
  const int owned = mesh_->num_owned_vertices();
  Field all(field.name(), static_cast<std::size_t>(halo().num_local()), 3, owned);
  copy_values(3 * owned, field, all);
  halo().copy_to_ghosts(all);
  return all;
}

void MatrixShare::multiply(const Field& x, Field& y) const {
  const Field all = complete(x);
  Field sums = all.like("sums");
  blocks_.multiply(all, sums);
  halo().add_to_owners(sums);
  add_scaled(3 * mesh_->num_owned_vertices(), 1.0, sums, y);
}

}  // namespace diffsim::dynamics
