// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "simulation/contact_bodies.hpp"

/// Regions of surfaces that have laws of contact of their own.
namespace diffsim::testing_contact {

/// The tower with regions: low's under side, the halves of its upper one and of all its surface, the under side of
/// middle, the upper one of high.
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
