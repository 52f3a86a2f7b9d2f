// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "diffsim/simulation/simulator.hpp"
#include "dynamics/time/explicit_model.hpp"
#include "simulation/whole_gradient_testing.hpp"

/// Contact of springs, sheets and rods in gradient tests: cases and common options.
namespace diffsim::testing_thin {

struct ContactCase {
  std::string integrator;
  bool friction;
  double thickness = 0.0;  ///< m

  /// Barrier stiffness κ, Pa. Explicit steps are stable with a soft barrier only.
  double stiffness() const { return is_explicit(integrator_named(integrator)) ? 2e3 : 4e4; }
  /// Name of the test case.
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
  /// Options of a scene whose implicit steps are solved to rounding errors.
  DifferentiableSolver solver(double dt, int substeps) const {
    DifferentiableSolver options{.dt = dt,
                                 .substeps = substeps,
                                 .damping = 1.0,
                                 .gravity = {0.5, -9.8, 0.2},
                                 .integrator = integrator_named(integrator)};
    testing_gradient::solve_to_rounding(options);
    return options;
  }
};

/// Sets an initial velocity of a region's vertices, downwards and sideways.
inline void throw_down(DifferentiableScene& solver, const std::string& region) {
  const TetrahedralMesh& mesh = *solver.mesh();
  std::vector<double> start(3 * static_cast<std::size_t>(mesh.num_owned_vertices()), 0.0);
  for (const int v : mesh.region(region).vertices)
    for (std::size_t c = 0; c < 3 && v < mesh.num_owned_vertices(); ++c)
      start[3 * static_cast<std::size_t>(v) + c] = std::array{0.3, -0.4, 0.15}[c];
  solver.set_initial_velocity(start);
}

}  // namespace diffsim::testing_thin
