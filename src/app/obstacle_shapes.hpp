// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "app/yaml_value.hpp"
#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim::app {

/// Built-in shape of obstacles of triangles.
struct ObstacleShape {
  std::string key;                            ///< key of the shape in an entry of `obstacles`
  TriangleMesh (*parse)(const Value& value);  ///< converts the value of `key` to triangles with outward normals
};

/// Table of the built-in shapes, in the order in which messages list the keys.
const std::vector<ObstacleShape>& obstacle_shapes();

/// Parses a sphere {center:, radius:}; parse_cylinder() parses a cylinder {from:, to:, radius:}.
TriangleMesh parse_sphere(const Value& value);
TriangleMesh parse_cylinder(const Value& value);

}  // namespace diffsim::app
