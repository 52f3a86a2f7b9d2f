// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Specifications (name, unit, range, …) of the parameters that several laws of elasticity have in common, and of the
/// parameters of viscosity.
struct ElasticParameters {
  static constexpr ParameterSpec youngs_modulus{.name = "youngs_modulus",
                                                .unit = "Pa",
                                                .meaning = "Young's modulus E",
                                                .range = Interval::positive(),
                                                .sample = 2e4,
                                                .home = ParameterHome::cells};
  static constexpr ParameterSpec poisson_ratio{.name = "poisson_ratio",
                                               .meaning = "Poisson's ratio ν",
                                               .range = {.low = -1.0, .high = 0.5},
                                               .sample = 0.35,
                                               .home = ParameterHome::cells,
                                               .advice = "a value in this range"};
  static constexpr ParameterSpec shear_modulus{.name = "shear_modulus",
                                               .unit = "Pa",
                                               .meaning = "shear modulus µ",
                                               .range = Interval::positive(),
                                               .sample = 7e3,
                                               .home = ParameterHome::cells};
  static constexpr ParameterSpec bulk_modulus{.name = "bulk_modulus",
                                              .unit = "Pa",
                                              .meaning = "bulk modulus K",
                                              .range = Interval::positive(),
                                              .sample = 2e4,
                                              .home = ParameterHome::cells};
  static constexpr ParameterSpec fibre_x{.name = "fibre_x",
                                         .meaning = "direction of the fibres, a non-zero vector of any length",
                                         .sample = 0.9,
                                         .home = ParameterHome::cells};
  static constexpr ParameterSpec fibre_y{
      .name = "fibre_y", .meaning = "direction of the fibres", .sample = 0.3, .home = ParameterHome::cells};
  static constexpr ParameterSpec fibre_z{
      .name = "fibre_z", .meaning = "direction of the fibres", .sample = -0.2, .home = ParameterHome::cells};

  static constexpr ParameterSpec viscosity{.name = "viscosity",
                                           .unit = "Pa s",
                                           .meaning = "shear viscosity η",
                                           .range = Interval::not_negative(),
                                           .sample = 1.5,
                                           .home = ParameterHome::cells,
                                           .default_value = 0.0};
  static constexpr ParameterSpec bulk_viscosity{.name = "bulk_viscosity",
                                                .unit = "Pa s",
                                                .meaning = "second viscosity ζ; the bulk viscosity is ζ + 2 η/3",
                                                .range = Interval::not_negative(),
                                                .sample = 0.8,
                                                .home = ParameterHome::cells,
                                                .default_value = 0.0};
};

}  // namespace diffsim
