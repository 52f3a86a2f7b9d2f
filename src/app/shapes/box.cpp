// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/obstacle_shapes.hpp"
#include "contact/obstacles.hpp"

namespace diffsim::app {

TriangleMesh parse_box_obstacle(const Value& value) {
  const Mapping mapping(value, {"min", "max"});
  const std::array<double, 3> min = to_vector(mapping.need("min", "[x, y, z], m"));
  const Value& upper = mapping.need("max", "[x, y, z], m");
  const std::array<double, 3> max = to_vector(upper);
  for (std::size_t c = 0; c < 3; ++c)
    if (!(min[c] < max[c]))
      upper.place.fail("is not above min in all of x, y and z; exchange min and max, or widen the box");
  return contact::box_triangles(min, max);
}

}  // namespace diffsim::app
