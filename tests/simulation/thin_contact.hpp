// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/dynamics/explicit_model.hpp"
#include "diffsim/simulation/simulator.hpp"

/// Contact of springs and sheets in tests of gradients: cases, and options that they have in common.
namespace diffsim::testing_thin {

struct ContactCase {
  std::string integrator;
  bool friction;
  double thickness = 0.0;  ///< m

  /// κ, Pa: explicit steps bear a soft barrier only.
  double stiffness() const { return is_explicit_integrator(integrator) ? 2e3 : 4e4; }
  /// Name of a test.
  std::string name() const {
    return integrator + (friction ? "_with_friction" : "") + (thickness > 0.0 ? "_and_thickness" : "");
  }

  ContactOptions contact(double barrier_distance, double barrier_stiffness) const {
    ContactOptions options;
    options.barrier_distance = barrier_distance;
    options.barrier_stiffness = barrier_stiffness;
    options.friction = friction ? 0.3 : 0.0;
    options.friction_velocity = 0.8;
    options.self = true;
    if (thickness > 0.0) options.thickness = thickness;
    return options;
  }
  /// Implicit steps are solved to rounding.
  SolverOptions solver(double dt, int substeps) const {
    SolverOptions options{
        .dt = dt, .substeps = substeps, .damping = 1.0, .gravity = {0.5, -9.8, 0.2}, .integrator = integrator};
    options.implicit.newton.tolerance = 1e-13;
    options.implicit.newton.linear_tolerance = 1e-13;
    return options;
  }
};

}  // namespace diffsim::testing_thin
