// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Specifications of the parameters of loads, and of damping and drag at vertices. The parameters of loads on a region
/// have the name of the region as a suffix, for example `traction:REGION`.
struct LoadParameters {
  /// Specification of the parameter `traction:REGION`: the dead load on the faces of region REGION.
  static constexpr ParameterSpec traction{.name = "traction",
                                          .unit = "Pa",
                                          .meaning = "dead load per rest area of a surface",
                                          .components = 3,
                                          .by_step = true};
  /// Specification of the parameter `pressure:REGION`: the pressure on the faces of region REGION.
  static constexpr ParameterSpec pressure{.name = "pressure",
                                          .unit = "Pa",
                                          .meaning = "pressure against the normal of a surface, as it moves",
                                          .sample = 20.0,
                                          .by_step = true};
  /// Specification of the parameter `wind:REGION`: the air velocity at the faces of region REGION.
  static constexpr ParameterSpec wind{.name = "wind",
                                      .unit = "m/s",
                                      .meaning = "velocity of the air around a surface",
                                      .components = 3,
                                      .by_step = true};
  /// Specification of the parameter `wind_drag:REGION`: the product of the air density and the drag coefficient of a
  /// plate, for the faces of region REGION.
  static constexpr ParameterSpec wind_drag{
      .name = "wind_drag",
      .unit = "kg/m³",
      .meaning = "density of the air times the drag coefficient of a plate perpendicular to the flow",
      .range = Interval::not_negative(),
      .sample = 1.4};
  /// Specification of the parameter `moment:REGION`: the moment on each segment of region REGION.
  static constexpr ParameterSpec moment{
      .name = "moment", .unit = "N m", .meaning = "moment on each segment of a rod", .components = 3, .by_step = true};
  static constexpr ParameterSpec nodal_load{.name = "nodal_load",
                                            .unit = "N",
                                            .meaning = "force on a vertex",
                                            .home = ParameterHome::vertices,
                                            .components = 3,
                                            .by_step = true};
  static constexpr ParameterSpec rayleigh_damping{.name = "rayleigh_damping",
                                                  .unit = "1/s",
                                                  .meaning = "damping proportional to mass",
                                                  .range = Interval::not_negative(),
                                                  .sample = 3.0,
                                                  .home = ParameterHome::cells,
                                                  .default_value = 0.0};
  static constexpr ParameterSpec drag{.name = "drag",
                                      .unit = "N s/m⁴",
                                      .meaning = "damping per rest volume",
                                      .range = Interval::not_negative(),
                                      .sample = 500.0,
                                      .home = ParameterHome::cells,
                                      .default_value = 0.0};
};

}  // namespace diffsim
