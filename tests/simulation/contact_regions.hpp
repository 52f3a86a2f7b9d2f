// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "simulation/contact_bodies.hpp"

/// Scenes with regions of surfaces that have contact laws of their own.
namespace diffsim::testing_contact {

/// Scene `tower` with regions: the lower side of low, two halves of the upper side of low, two halves of the whole
/// surface of low, the lower side of middle, and the upper side of high.
inline Scene tower_with_regions(const Law& shared, const std::string& integrator = "symplectic_euler") {
  Scene scene = tower(shared, integrator);
  scene.regions = {{"low/under", {{-1.0, -0.001, -1.0}, {1.0, 0.001, 1.0}}, "low"},
                   {"low/left", {{-1.0, 0.049, -1.0}, {0.07, 0.051, 1.0}}, "low"},
                   {"low/right", {{0.03, 0.049, -1.0}, {1.0, 0.051, 1.0}}, "low"},
                   {"low/first", {{-1.0, -0.001, -1.0}, {0.07, 0.051, 1.0}}, "low"},
                   {"low/second", {{0.03, -0.001, -1.0}, {1.0, 0.051, 1.0}}, "low"},
                   {"middle/under", {{-1.0, 0.059, -1.0}, {1.0, 0.061, 1.0}}, "middle"},
                   {"high/over", {{-1.0, 0.168, -1.0}, {1.0, 0.17, 1.0}}, "high"}};
  return scene;
}

}  // namespace diffsim::testing_contact
