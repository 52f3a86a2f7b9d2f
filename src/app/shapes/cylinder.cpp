// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/obstacle_shapes.hpp"
#include "contact/obstacles.hpp"

namespace diffsim::app {

TriangleMesh parse_cylinder(const Value& value) {
  const Mapping mapping(value, {"from", "to", "radius"});
  const std::array<double, 3> from = to_vector(mapping.need("from", "[x, y, z], the middle of an end, m"));
  const Value& other = mapping.need("to", "[x, y, z], the middle of the other end, m");
  if (to_vector(other) == from) other.place.fail("is the same point as `from`; give the middle of the other end");
  return contact::cylinder_triangles(from, to_vector(other), to_positive(mapping.need("radius", "a number, m"), "m"));
}

}  // namespace diffsim::app
