// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Names, units and permitted ranges of the parameters of a System and of the time steppers.
struct DynamicsParameters {
  static constexpr ParameterSpec density{.name = "density",
                                         .unit = "kg/m³",
                                         .meaning = "mass per rest volume",
                                         .range = Interval::positive(),
                                         .sample = 900.0,
                                         .home = ParameterHome::cells,
                                         .default_value = 1000.0};
  static constexpr ParameterSpec gravity{
      .name = "gravity", .unit = "m/s²", .meaning = "gravitational acceleration", .components = 3, .by_step = true};
  static constexpr ParameterSpec rest_positions{.name = "rest_positions",
                                                .unit = "m",
                                                .meaning = "the undeformed shape",
                                                .home = ParameterHome::vertices,
                                                .components = 3,
                                                .has_second_derivative = false};
  // Parameters of each prescribed motion. The name of the motion's region is appended: `velocity:REGION`.
  static constexpr ParameterSpec angular_velocity{.name = "angular_velocity",
                                                  .unit = "rad/s",
                                                  .meaning = "angular velocity of a prescribed motion",
                                                  .by_step = true,
                                                  .has_second_derivative = false};
  static constexpr ParameterSpec velocity{.name = "velocity",
                                          .unit = "m/s",
                                          .meaning = "velocity of a prescribed motion's origin",
                                          .components = 3,
                                          .by_step = true};
  static constexpr ParameterSpec damping{.name = "damping",
                                         .meaning = "factor on velocities per substep",
                                         .range = {.low = 0.0, .high = 1.0, .has_high = true},
                                         .by_step = true,
                                         .default_value = 0.99,
                                         .advice = "a factor in this range (1: no damping)"};
  // Initial state x[0], as unknowns of an inverse problem.
  static constexpr ParameterSpec initial_positions{.name = "initial_positions",
                                                   .unit = "m",
                                                   .meaning = "positions at the start",
                                                   .home = ParameterHome::vertices,
                                                   .components = 3};
  static constexpr ParameterSpec initial_velocities{.name = "initial_velocities",
                                                    .unit = "m/s",
                                                    .meaning = "velocities at the start",
                                                    .home = ParameterHome::vertices,
                                                    .components = 3,
                                                    .uniform = true};
};

}  // namespace diffsim
