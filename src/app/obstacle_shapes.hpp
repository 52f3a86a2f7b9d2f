// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "app/yaml_value.hpp"
#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim::app {

/// Built-in shape of obstacles whose surfaces consist of triangles.
struct ObstacleShape {
  std::string key;  ///< key of the shape in an entry of `contact.obstacles`, such as `sphere`
  /// Function that converts the value of the shape's key to triangles with outward normals.
  TriangleMesh (*parse)(const Value& value);
};

/// Table of the built-in shapes of obstacles, in the order in which error messages list the keys of the shapes.
const std::vector<ObstacleShape>& obstacle_shapes();

/// Converts a sphere {center:, radius:} to triangles; parse_cylinder() converts a cylinder {from:, to:, radius:} to
/// triangles.
TriangleMesh parse_sphere(const Value& value);
TriangleMesh parse_cylinder(const Value& value);

}  // namespace diffsim::app
