// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/lumped_mass.hpp"

#include <algorithm>

#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {
namespace {

/// Returns the index of the first entry that is not > 0, or the number of entries if all are > 0.
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

const Field& density_of(const ParameterSet& set) { return set.at("density").field; }
const Field& rest_of(const ParameterSet& set) { return set.at("rest_positions").field; }

/// Returns the field of the parameter `name`, or nullptr if the set has no such parameter.
template <class Set>
auto* find_field(Set& set, const char* name) {
  auto* const parameter = set.find(name);
  return parameter ? &parameter->field : nullptr;
}

}  // namespace

LumpedMass::LumpedMass(const TetrahedralMesh& mesh) : mesh_(&mesh), lumping_(mesh) {}

bool LumpedMass::depends_on(const ParameterSet& set) const { return set.find("density") || set.find("rest_positions"); }

void LumpedMass::add_mass(const ParameterSet& parameters, Field& mass) const {
  const Field& density = density_of(parameters);
  collectively(mesh_->comm(), [&] {
    const auto cell = static_cast<std::size_t>(first_not_positive(density));
    if (cell < density.size())
      throw Error("density is " + std::to_string(density.to_host()[cell]) + " kg/m³ in cell " +
                      cell_name(mesh_->bodies(), mesh_->cell_order().file_index()[cell]) + "; it must be positive",
                  ErrorKind::input);
  });
  lumping_.add_sums(density, rest_of(parameters), mass);
}

void LumpedMass::add_mass_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                                  Field& mass_tangent) const {
  lumping_.add_sums_tangent(density_of(parameters), rest_of(parameters), find_field(direction, "density"),
                            find_field(direction, "rest_positions"), mass_tangent);
}

void LumpedMass::add_mass_adjoint(const ParameterSet& parameters, const Field& mass_adjoint,
                                  ParameterSet& gradient) const {
  lumping_.add_sums_adjoint(density_of(parameters), rest_of(parameters), mass_adjoint, find_field(gradient, "density"),
                            find_field(gradient, "rest_positions"));
}

void LumpedMass::add_mass_adjoint_tangent(const ParameterSet& parameters, const ParameterSet&, const Field&,
                                          const Field& mass_adjoint_tangent, ParameterSet& gradient_tangent) const {
  // Masses are linear in the density. Second derivatives with respect to the rest shape are not supported.
  if (Field* const density = find_field(gradient_tangent, "density"))
    lumping_.add_sums_adjoint(density_of(parameters), rest_of(parameters), mass_adjoint_tangent, density, nullptr);
}

}  // namespace diffsim
