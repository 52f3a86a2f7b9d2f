// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Specifications of the parameters of ropes. The symbols in `ParameterSpec::meaning` of rope parameters are defined in
/// rope_energies.hpp.
struct RopeParameters {
  static constexpr ParameterSpec stiffness{.name = "rope_stiffness",
                                           .unit = "N",
                                           .meaning = "EA: tension per strain of a rope",
                                           .range = Interval::positive(),
                                           .sample = 30.0,
                                           .home = ParameterHome::segments};
  static constexpr ParameterSpec bending{.name = "rope_bending",
                                         .unit = "N m²",
                                         .meaning = "EI: bending moment per curvature of a rope",
                                         .range = Interval::not_negative(),
                                         .sample = 0.02,
                                         .home = ParameterHome::segments,
                                         .default_value = 0.0};
  static constexpr ParameterSpec density{.name = "rope_density",
                                         .unit = "kg/m",
                                         .meaning = "mass of a rope per rest length",
                                         .range = Interval::positive(),
                                         .sample = 0.3,
                                         .home = ParameterHome::segments};
};

/// Returns the specification of the natural curvature, a parameter of rods with any kind of cross-section. The natural
/// curvature of a rod is the curvature towards the director in the stress-free state, minus the curvature towards the
/// director in the rest shape. `name`: name of the parameter.
constexpr ParameterSpec natural_curvature(std::string_view name) {
  return {.name = name,
          .unit = "1/m",
          .meaning = "stress-free curvature towards the director, in addition to that of the mesh",
          .range = Interval::any(),
          .sample = 0.4,
          .home = ParameterHome::segments,
          .default_value = 0.0};
}
/// Returns the specification of the natural twist, a parameter of rods with any kind of cross-section. The natural
/// twist of a rod is the twist per length in the stress-free state, minus the twist per length in the rest shape.
/// `name`: name of the parameter.
constexpr ParameterSpec natural_twist(std::string_view name) {
  return {.name = name,
          .unit = "rad/m",
          .meaning = "stress-free twist, in addition to that of the mesh",
          .range = Interval::any(),
          .sample = 0.3,
          .home = ParameterHome::segments,
          .default_value = 0.0};
}

/// Specifications of the parameters of rods with a round cross-section. The symbols in `ParameterSpec::meaning` of rod
/// parameters are defined in rod_section.hpp and rod_energies.hpp.
struct RodParameters {
  static constexpr ParameterSpec youngs_modulus{.name = "rod_youngs_modulus",
                                                .unit = "Pa",
                                                .meaning = "E of a rod",
                                                .range = Interval::positive(),
                                                .sample = 2e5,
                                                .home = ParameterHome::segments};
  static constexpr ParameterSpec poisson_ratio{.name = "rod_poisson_ratio",
                                               .unit = "1",
                                               .meaning = "ν of a rod; the shear modulus is E/(2 (1 + ν))",
                                               .range = {.low = -1.0, .high = 0.5},
                                               .sample = 0.3,
                                               .home = ParameterHome::segments};
  static constexpr ParameterSpec radius{.name = "rod_radius",
                                        .unit = "m",
                                        .meaning = "radius of a rod's section",
                                        .range = Interval::positive(),
                                        .sample = 0.01,
                                        .home = ParameterHome::segments};
  static constexpr ParameterSpec rest_curvature = natural_curvature("rod_rest_curvature");
  static constexpr ParameterSpec rest_twist = natural_twist("rod_rest_twist");
  static constexpr ParameterSpec density{.name = "rod_density",
                                         .unit = "kg/m³",
                                         .meaning = "density of a rod",
                                         .range = Interval::positive(),
                                         .sample = 900.0,
                                         .home = ParameterHome::segments};
};

/// Specifications of the parameters of beams: rods whose cross-sections are described by stiffnesses. The symbols in
/// `ParameterSpec::meaning` of beam parameters are defined in rod_section.hpp and rod_energies.hpp.
struct BeamParameters {
  static constexpr ParameterSpec axial_stiffness{.name = "beam_axial_stiffness",
                                                 .unit = "N",
                                                 .meaning = "EA of a beam",
                                                 .range = Interval::positive(),
                                                 .sample = 60.0,
                                                 .home = ParameterHome::segments};
  static constexpr ParameterSpec bending_stiffness1{.name = "beam_bending_stiffness1",
                                                    .unit = "N m²",
                                                    .meaning = "EI₁ of a beam that bends towards its director",
                                                    .range = Interval::positive(),
                                                    .sample = 1e-3,
                                                    .home = ParameterHome::segments};
  static constexpr ParameterSpec bending_stiffness2{.name = "beam_bending_stiffness2",
                                                    .unit = "N m²",
                                                    .meaning = "EI₂ of a beam that bends perpendicular to its director",
                                                    .range = Interval::positive(),
                                                    .sample = 3e-3,
                                                    .home = ParameterHome::segments};
  static constexpr ParameterSpec torsional_stiffness{.name = "beam_torsional_stiffness",
                                                     .unit = "N m²",
                                                     .meaning = "GJ of a beam",
                                                     .range = Interval::positive(),
                                                     .sample = 1.5e-3,
                                                     .home = ParameterHome::segments};
  static constexpr ParameterSpec rest_curvature = natural_curvature("beam_rest_curvature");
  static constexpr ParameterSpec rest_twist = natural_twist("beam_rest_twist");
  static constexpr ParameterSpec density{.name = "beam_density",
                                         .unit = "kg/m",
                                         .meaning = "mass of a beam per rest length",
                                         .range = Interval::positive(),
                                         .sample = 0.3,
                                         .home = ParameterHome::segments};
  static constexpr ParameterSpec rotary_inertia{
      .name = "beam_rotary_inertia",
      .unit = "kg m",
      .meaning = "moment of inertia of a beam about its axis per rest length, ρ (I₁ + I₂)",
      .range = Interval::positive(),
      .sample = 2e-5,
      .home = ParameterHome::segments};
};

}  // namespace diffsim
