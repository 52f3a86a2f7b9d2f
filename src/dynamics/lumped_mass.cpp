// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/dynamics/lumped_mass.hpp"

#include <algorithm>

#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "dynamics/vector_kernels.hpp"

namespace diffsim {
namespace {

Field on_local_vertices(const TetrahedralMesh& mesh, const char* name) { return {name, mesh.vertex_entities(), 3}; }

void take_first_components(const Field& vectors, Field& numbers) {
  const double* const from = vectors.data();
  double* const to = numbers.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::masses", Range(0, static_cast<int>(numbers.size())),
      KOKKOS_LAMBDA(int i) { to[i] = from[3 * i]; });
  Kokkos::fence();
}

/// The first entry that is not > 0, or how many there are.
int first_not_positive(const Field& numbers) {
  const double* const x = numbers.data();
  int first = static_cast<int>(numbers.size());
  Kokkos::parallel_reduce(
      "diffsim::dynamics::first_not_positive", Range(0, first),
      KOKKOS_LAMBDA(int i, int& least) {
        if (!(x[i] > 0.0) && i < least) least = i;
      },
      Kokkos::Min<int>(first));
  return std::min(first, static_cast<int>(numbers.size()));
}

}  // namespace

LumpedMass::LumpedMass(const TetrahedralMesh& mesh)
    : mesh_(&mesh), lumping_(mesh), mass_("mass", static_cast<std::size_t>(mesh.num_owned_vertices())) {}

void LumpedMass::gather(Field& sums, Field& owned) const {
  mesh_->vertex_exchange().add_to_owners(sums);
  take_first_components(sums, owned);
}

void LumpedMass::compute(const Field& density, const Field& rest) {
  collectively(mesh_->comm(), [&] {
    const auto cell = static_cast<std::size_t>(first_not_positive(density));
    if (cell < density.size())
      throw Error("density is " + std::to_string(density.to_host()[cell]) + " kg/m³ in cell " +
                      std::to_string(mesh_->cell_order().file_index()[cell]) + "; it must be positive",
                  ErrorKind::input);
  });
  Field sums = on_local_vertices(*mesh_, "mass");
  lumping_.add_sums(density, rest, sums);
  gather(sums, mass_);
}

void LumpedMass::compute_tangent(const Field& density, const Field& rest, const Field* density_tangent,
                                 const Field* rest_tangent) {
  if (mass_tangent_.size() != mass_.size()) mass_tangent_ = mass_.like("mass_tangent");
  Field sums = on_local_vertices(*mesh_, "mass_tangent");
  lumping_.add_sums_tangent(density, rest, density_tangent, rest_tangent, sums);
  gather(sums, mass_tangent_);
}

void LumpedMass::add_gradient(const Field& density, const Field& rest, const Field& mass_gradient,
                              Field* density_gradient, Field* rest_gradient) const {
  Field w = on_local_vertices(*mesh_, "mass_gradient");
  dynamics::copy_values(static_cast<int>(mass_gradient.size()), mass_gradient, w);
  mesh_->vertex_exchange().copy_to_ghosts(w);
  lumping_.add_sums_adjoint(density, rest, w, density_gradient, rest_gradient);
}

}  // namespace diffsim
