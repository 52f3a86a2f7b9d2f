// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Specifications of the parameters of cloth. The symbols in `ParameterSpec::meaning` of cloth parameters are defined
/// in membrane_energy.hpp and hinge_energy.hpp.
struct ClothParameters {
  static constexpr ParameterSpec stiffness{.name = "cloth_stiffness",
                                           .unit = "N/m",
                                           .meaning = "k: force per strain and width of a strip of cloth",
                                           .range = Interval::positive(),
                                           .sample = 60.0,
                                           .home = ParameterHome::triangles};
  static constexpr ParameterSpec poisson_ratio{
      .name = "cloth_poisson_ratio",
      .meaning = "ν: Poisson's ratio of cloth, -(transverse strain)/(axial strain) of a stretched strip",
      .range = {.low = -1.0, .high = 1.0},
      .sample = 0.3,
      .home = ParameterHome::triangles,
      .default_value = 0.3};
  static constexpr ParameterSpec bending{.name = "cloth_bending",
                                         .unit = "N m",
                                         .meaning = "B: stiffness of the hinges between triangles",
                                         .range = Interval::not_negative(),
                                         .sample = 0.01,
                                         .home = ParameterHome::triangles,
                                         .default_value = 0.0};
  static constexpr ParameterSpec density{.name = "cloth_density",
                                         .unit = "kg/m²",
                                         .meaning = "mass of cloth per rest area",
                                         .range = Interval::positive(),
                                         .sample = 0.4,
                                         .home = ParameterHome::triangles};
};

/// Specifications of the parameters of woven cloth. The symbols in `ParameterSpec::meaning` of fabric parameters are
/// defined in fabric_energy.hpp, fabric_limit.hpp and fabric_hinge.hpp.
struct FabricParameters {
  static constexpr ParameterSpec warp_stiffness{
      .name = "fabric_warp_stiffness",
      .unit = "N/m",
      .meaning = "k₁: force per strain and width of a strip of fabric along the warp",
      .range = Interval::positive(),
      .sample = 80.0,
      .home = ParameterHome::triangles};
  static constexpr ParameterSpec weft_stiffness{
      .name = "fabric_weft_stiffness",
      .unit = "N/m",
      .meaning = "k₂: force per strain and width of a strip of fabric along the weft",
      .range = Interval::positive(),
      .sample = 50.0,
      .home = ParameterHome::triangles};
  static constexpr ParameterSpec shear_stiffness{.name = "fabric_shear_stiffness",
                                                 .unit = "N/m",
                                                 .meaning = "G: shear force per angle and width of a fabric",
                                                 .range = Interval::positive(),
                                                 .sample = 10.0,
                                                 .home = ParameterHome::triangles};
  static constexpr ParameterSpec poisson_ratio{.name = "fabric_poisson_ratio",
                                               .meaning = "ν: geometric mean of the Poisson's ratios of warp and weft",
                                               .range = {.low = -1.0, .high = 1.0},
                                               .sample = 0.2,
                                               .home = ParameterHome::triangles,
                                               .default_value = 0.0};
  static constexpr ParameterSpec strain_limit{.name = "fabric_strain_limit",
                                              .meaning = "ε: upper limit of the strain of a fabric's threads",
                                              .range = Interval::positive(),
                                              .sample = 0.1,
                                              .home = ParameterHome::triangles,
                                              .default_value = 1e6};
  static constexpr ParameterSpec bending{
      .name = "fabric_bending",
      .unit = "N m",
      .meaning = "B: stiffness of the hinges between triangles of a fabric, in every direction",
      .range = Interval::not_negative(),
      .sample = 0.01,
      .home = ParameterHome::triangles,
      .default_value = 0.0};
  static constexpr ParameterSpec warp_bending{.name = "fabric_warp_bending",
                                              .unit = "N m",
                                              .meaning = "D₁: stiffness of hinges that bend the warp of a fabric",
                                              .range = Interval::not_negative(),
                                              .sample = 0.2,
                                              .home = ParameterHome::triangles,
                                              .default_value = 0.0};
  static constexpr ParameterSpec weft_bending{.name = "fabric_weft_bending",
                                              .unit = "N m",
                                              .meaning = "D₂: stiffness of hinges that bend the weft of a fabric",
                                              .range = Interval::not_negative(),
                                              .sample = 0.1,
                                              .home = ParameterHome::triangles,
                                              .default_value = 0.0};
  static constexpr ParameterSpec twist_bending{.name = "fabric_twist_bending",
                                               .unit = "N m",
                                               .meaning = "H: stiffness against twist of the hinges of a fabric",
                                               .range = Interval::not_negative(),
                                               .sample = 0.1,
                                               .home = ParameterHome::triangles,
                                               .default_value = 0.0};
  static constexpr ParameterSpec direction_x{.name = "fabric_direction_x",
                                             .meaning = "a₁: direction of a fabric's warp at rest, along x",
                                             .sample = 0.9,
                                             .home = ParameterHome::triangles,
                                             .default_value = 1.0};
  static constexpr ParameterSpec direction_y{.name = "fabric_direction_y",
                                             .meaning = "a₂: direction of a fabric's warp at rest, along y",
                                             .sample = 0.5,
                                             .home = ParameterHome::triangles,
                                             .default_value = 0.0};
  static constexpr ParameterSpec direction_z{.name = "fabric_direction_z",
                                             .meaning = "a₃: direction of a fabric's warp at rest, along z",
                                             .sample = 0.2,
                                             .home = ParameterHome::triangles,
                                             .default_value = 0.0};
  static constexpr ParameterSpec density{.name = "fabric_density",
                                         .unit = "kg/m²",
                                         .meaning = "mass of a fabric per rest area",
                                         .range = Interval::positive(),
                                         .sample = 0.4,
                                         .home = ParameterHome::triangles};
};

/// Specifications of the parameters of shells. The symbols in `ParameterSpec::meaning` of shell parameters are defined
/// in plate_energy.hpp.
struct ShellParameters {
  static constexpr ParameterSpec youngs_modulus{.name = "shell_youngs_modulus",
                                                .unit = "Pa",
                                                .meaning = "E: Young's modulus of a shell",
                                                .range = Interval::positive(),
                                                .sample = 6.0e4,
                                                .home = ParameterHome::triangles};
  static constexpr ParameterSpec poisson_ratio{.name = "shell_poisson_ratio",
                                               .meaning = "ν: Poisson's ratio of a shell",
                                               .range = {.low = -1.0, .high = 0.5},
                                               .sample = 0.3,
                                               .home = ParameterHome::triangles};
  static constexpr ParameterSpec thickness{.name = "shell_thickness",
                                           .unit = "m",
                                           .meaning = "t: thickness of a shell",
                                           .range = Interval::positive(),
                                           .sample = 0.02,
                                           .home = ParameterHome::triangles};
  static constexpr ParameterSpec rest_curvature{
      .name = "shell_rest_curvature",
      .meaning = "c: ratio of the stress-free curvature to the curvature of the mesh",
      .sample = 0.8,
      .home = ParameterHome::triangles,
      .default_value = 1.0};
  static constexpr ParameterSpec density{.name = "shell_density",
                                         .unit = "kg/m³",
                                         .meaning = "mass of a shell per rest volume",
                                         .range = Interval::positive(),
                                         .sample = 300.0,
                                         .home = ParameterHome::triangles};
};

}  // namespace diffsim
