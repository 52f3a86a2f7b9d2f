// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/obstacle_shapes.hpp"

namespace diffsim::app {

// Parsers that only the table uses, each in src/app/shapes/KEY.cpp.
TriangleMesh parse_box_obstacle(const Value& value);
TriangleMesh parse_capsule(const Value& value);

const std::vector<ObstacleShape>& obstacle_shapes() {
  static const std::vector<ObstacleShape> shapes{
      {"box", &parse_box_obstacle},
      {"sphere", &parse_sphere},
      {"cylinder", &parse_cylinder},
      {"capsule", &parse_capsule},
  };
  return shapes;
}

}  // namespace diffsim::app
