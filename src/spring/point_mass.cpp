// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "spring/point_mass.hpp"

#include "diffsim/core/impl/device.hpp"
#include "spring/parameters.hpp"

namespace diffsim {
namespace {

/// Adds m[i] to sums[3 i + c] for c = 0, 1, 2.
void add_numbers(const Field& m, Field& sums) {
  const double* const from = m.data();
  double* const to = sums.data();
  Kokkos::parallel_for(
      "diffsim::spring::add_masses", Range(0, 3 * static_cast<int>(m.size())),
      KOKKOS_LAMBDA(int k) { to[k] += from[k / 3]; });
  Kokkos::fence();
}

/// Adds Σ_c sums[3 i + c] to the entry m̄[i] of `gradient`.
void add_components(const Field& sums, Field& gradient) {
  const double* const from = sums.data();
  double* const to = gradient.data();
  Kokkos::parallel_for(
      "diffsim::spring::add_mass_gradient", Range(0, static_cast<int>(gradient.size())),
      KOKKOS_LAMBDA(int i) { to[i] += from[3 * i] + from[3 * i + 1] + from[3 * i + 2]; });
  Kokkos::fence();
}

}  // namespace

bool PointMass::depends_on(const ParameterSet& set) const { return set.find(SpringParameters::point_mass.name); }

void PointMass::add_mass(const ParameterSet& parameters, Field& mass) const {
  add_numbers(parameters.at(SpringParameters::point_mass.name).field, mass);
}

void PointMass::add_mass_tangent(const ParameterSet&, const ParameterSet& direction, Field& mass_tangent) const {
  if (const Parameter* const m = direction.find(SpringParameters::point_mass.name)) add_numbers(m->field, mass_tangent);
}

void PointMass::add_mass_adjoint(const ParameterSet&, const Field& mass_adjoint, ParameterSet& gradient) const {
  if (Parameter* const m = gradient.find(SpringParameters::point_mass.name)) add_components(mass_adjoint, m->field);
}

void PointMass::add_mass_adjoint_tangent(const ParameterSet& parameters, const ParameterSet&, const Field&,
                                         const Field& mass_adjoint_tangent, ParameterSet& gradient_tangent) const {
  add_mass_adjoint(parameters, mass_adjoint_tangent, gradient_tangent);
}

}  // namespace diffsim
