// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/load/nodal_load.hpp"

#include "diffsim/core/device.hpp"

namespace diffsim {
namespace {

int values_a_step(const Parameter& load) { return static_cast<int>(load.field.size()) / load.steps(); }

const double* values_at(const Parameter& load, int step) { return load.field.data() + 3 * load.offset(step); }

/// y += a x over `size` values.
void add_values(double a, const double* x, double* y, int size) {
  Kokkos::parallel_for(
      "diffsim::load::nodal", Range(0, size), KOKKOS_LAMBDA(int i) { y[i] += a * x[i]; });
  Kokkos::fence();
}

}  // namespace

double NodalLoad::energy(const Configuration& at, const ParameterSet& parameters) {
  const Parameter& load = parameters.at(LoadParameters::nodal_load.name);
  const double* const p = values_at(load, at.step);
  const double* const x = at.positions.data();
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::load::nodal_energy", Range(0, values_a_step(load)),
      KOKKOS_LAMBDA(int i, double& s) { s -= p[i] * x[i]; }, sum);
  return at.factor_of(load) * sum;
}

void NodalLoad::add_force(const Configuration& at, const ParameterSet& parameters, Field& force) {
  const Parameter& load = parameters.at(LoadParameters::nodal_load.name);
  add_values(at.factor_of(load), values_at(load, at.step), force.data(), values_a_step(load));
}

void NodalLoad::add_force_tangent(const Configuration& at, const ConfigurationTangent&, const ParameterSet& direction,
                                  Field& force_tangent) {
  if (const Parameter* load = direction.find(LoadParameters::nodal_load.name))
    add_values(at.factor_of(*load), values_at(*load, at.step), force_tangent.data(), values_a_step(*load));
}

void NodalLoad::add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint&,
                                  ParameterSet& gradient) {
  if (Parameter* load = gradient.find(LoadParameters::nodal_load.name))
    add_values(at.factor_of(*load), w.data(), load->field.data() + 3 * load->offset(at.step), values_a_step(*load));
}

void NodalLoad::add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent&, const ParameterSet&,
                                          const Field*, const Field* dw, const ConfigurationAdjoint& adjoint_tangent,
                                          ParameterSet& gradient_tangent) {
  if (dw) add_force_adjoint(at, *dw, adjoint_tangent, gradient_tangent);
}

}  // namespace diffsim
