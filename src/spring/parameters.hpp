// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Specifications of the parameters of mass–spring systems: springs with the tension k₁ s + k₂ s² + k₃ s³ at the
/// elongation s, dampers with the coefficient c, and point masses. The structs SpringForce and DamperForce define the
/// forces of springs and dampers.
struct SpringParameters {
  static constexpr ParameterSpec stiffness{.name = "spring_stiffness",
                                           .unit = "N/m",
                                           .meaning = "k₁: force of a spring per elongation",
                                           .range = Interval::not_negative(),
                                           .sample = 40.0,
                                           .home = ParameterHome::segments};
  static constexpr ParameterSpec quadratic{.name = "spring_stiffness_2",
                                           .unit = "N/m²",
                                           .meaning = "k₂: force of a spring per elongation squared",
                                           .sample = 150.0,
                                           .home = ParameterHome::segments,
                                           .default_value = 0.0};
  static constexpr ParameterSpec cubic{.name = "spring_stiffness_3",
                                       .unit = "N/m³",
                                       .meaning = "k₃: force of a spring per elongation cubed",
                                       .sample = 700.0,
                                       .home = ParameterHome::segments,
                                       .default_value = 0.0};
  static constexpr ParameterSpec damping{.name = "spring_damping",
                                         .unit = "N s/m",
                                         .meaning = "c: force of a damper per rate of change of its length",
                                         .range = Interval::not_negative(),
                                         .sample = 0.3,
                                         .home = ParameterHome::segments,
                                         .default_value = 0.0};
  /// Rest length L₀ of a spring. The default rest length is the distance between the spring's ends in the mesh.
  static constexpr ParameterSpec rest_length{.name = "rest_length",
                                             .unit = "m",
                                             .meaning = "L₀: length of a spring without force",
                                             .range = Interval::not_negative(),
                                             .sample = 0.09,
                                             .home = ParameterHome::segments,
                                             .by_step = true};
  static constexpr ParameterSpec softening{.name = "spring_softening",
                                           .unit = "m",
                                           .meaning = "ε: added to the distance between the ends of a spring",
                                           .range = Interval::not_negative(),
                                           .sample = 0.002,
                                           .home = ParameterHome::segments,
                                           .default_value = 0.0};
  static constexpr ParameterSpec point_mass{.name = "point_mass",
                                            .unit = "kg",
                                            .meaning = "mass of a point",
                                            .range = Interval::positive(),
                                            .sample = 0.02,
                                            .home = ParameterHome::vertices,
                                            .uniform = true};
};

}  // namespace diffsim
