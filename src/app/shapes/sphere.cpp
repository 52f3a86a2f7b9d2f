// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/obstacle_shapes.hpp"
#include "contact/obstacles.hpp"

namespace diffsim::app {

TriangleMesh parse_sphere(const Value& value) {
  const Mapping mapping(value, {"center", "radius", "refinements"});
  const Value* const refinements = mapping.find("refinements");
  return contact::sphere_triangles(to_vector(mapping.need("center", "[x, y, z], m")),
                                   to_positive(mapping.need("radius", "a number, m"), "m"),
                                   refinements ? to_integer(*refinements, 0, 7) : 4);
}

}  // namespace diffsim::app
