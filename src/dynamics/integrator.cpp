// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/dynamics/integrator.hpp"

#include <array>
#include <cstddef>

#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

constexpr std::array names = {
    "explicit_euler", "symplectic_euler", "velocity_verlet",   "runge_kutta_2", "runge_kutta_4", "implicit_euler",
    "bdf2",           "newmark",          "generalised_alpha", "quasi_static"};

}  // namespace

const char* name_of(Integrator integrator) { return names.at(static_cast<std::size_t>(integrator)); }

Integrator integrator_named(const std::string& name) {
  std::string known;
  for (const Integrator integrator : integrators()) {
    if (name == name_of(integrator)) return integrator;
    known += (known.empty() ? "" : ", ") + std::string(name_of(integrator));
  }
  throw Error("unknown integrator '" + name + "'; known integrators: " + known, ErrorKind::input);
}

std::vector<Integrator> integrators() {
  std::vector<Integrator> all;
  for (std::size_t k = 0; k < names.size(); ++k) all.push_back(static_cast<Integrator>(k));
  return all;
}

bool is_explicit(Integrator integrator) { return integrator <= Integrator::runge_kutta_4; }

bool has_damping_factor(Integrator integrator) {
  return integrator == Integrator::explicit_euler || integrator == Integrator::symplectic_euler;
}

std::vector<std::string> state_fields(Integrator integrator) {
  std::vector<std::string> fields = {"positions", "velocities"};
  if (integrator == Integrator::bdf2) fields.insert(fields.end(), {"previous_positions", "previous_velocities"});
  if (integrator == Integrator::newmark) fields.emplace_back("accelerations");
  if (integrator == Integrator::generalised_alpha)
    fields.insert(fields.end(), {"accelerations", "auxiliary_accelerations"});
  return fields;
}

}  // namespace diffsim
