// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Parameters of ropes; see rope_energies.hpp for the letters.
struct RopeParameters {
  static constexpr ParameterSpec stiffness{.name = "rope_stiffness",
                                           .unit = "N",
                                           .meaning = "EA: tension of a rope over its strain",
                                           .range = Interval::positive(),
                                           .sample = 30.0,
                                           .home = ParameterHome::segments};
  static constexpr ParameterSpec bending{.name = "rope_bending",
                                         .unit = "N m²",
                                         .meaning = "EI: bending moment of a rope over its curvature",
                                         .range = Interval::not_negative(),
                                         .sample = 0.02,
                                         .home = ParameterHome::segments,
                                         .default_value = 0.0};
  static constexpr ParameterSpec density{.name = "rope_density",
                                         .unit = "kg/m",
                                         .meaning = "mass of a rope over its length at rest",
                                         .range = Interval::positive(),
                                         .sample = 0.3,
                                         .home = ParameterHome::segments};
};

}  // namespace diffsim
