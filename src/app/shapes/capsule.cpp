// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "app/obstacle_shapes.hpp"

namespace diffsim::app {
namespace {

constexpr int capsule_sides = 64;                 ///< vertices of a circle of latitude
constexpr int capsule_rings = capsule_sides / 4;  ///< circles of latitude of a half-sphere, without the pole

using Vector = std::array<double, 3>;

Vector cross_product(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Returns the vector of length 1 in the direction of `a`.
Vector direction_of(const Vector& a) {
  const double length = std::hypot(a[0], a[1], a[2]);
  return {a[0] / length, a[1] / length, a[2] / length};
}

/// Vertices of a capsule: the pole at the end `from`, the circles of latitude of the half-sphere about `from` and then
/// of the half-sphere about `to`, and the pole at the end `to`.
std::vector<Vector> capsule_vertices(const Vector& from, const Vector& to, double radius) {
  const Vector w = direction_of({to[0] - from[0], to[1] - from[1], to[2] - from[2]});
  const Vector other = std::fabs(w[0]) < std::fabs(w[1]) ? Vector{1.0, 0.0, 0.0} : Vector{0.0, 1.0, 0.0};
  const Vector u = direction_of(cross_product(w, other)), v = cross_product(w, u);
  std::vector<Vector> vertices;
  const auto add = [&](const Vector& center, double latitude, double longitude) {
    const double along_u = std::cos(latitude) * std::cos(longitude), along_v = std::cos(latitude) * std::sin(longitude);
    Vector& vertex = vertices.emplace_back();
    for (std::size_t c = 0; c < 3; ++c)
      vertex[c] = center[c] + radius * (along_u * u[c] + along_v * v[c] + std::sin(latitude) * w[c]);
  };
  const double step = 2.0 * std::numbers::pi / capsule_sides;
  add(from, -0.5 * std::numbers::pi, 0.0);
  for (int ring = 0; ring < 2 * capsule_rings; ++ring)
    for (int i = 0; i < capsule_sides; ++i) {
      const bool is_first_half = ring < capsule_rings;
      add(is_first_half ? from : to, step * (is_first_half ? ring + 1 - capsule_rings : ring - capsule_rings),
          step * i);
    }
  add(to, 0.5 * std::numbers::pi, 0.0);
  return vertices;
}

}  // namespace

/// Parses a capsule {from:, to:, radius:}, the points whose distance from the segment between `from` and `to` is at
/// most `radius`. The result is an inscribed polyhedron of 4096 triangles; the gap between the polyhedron and the exact
/// surface is at most 0.0025 times `radius`.
TriangleMesh parse_capsule(const Value& value) {
  const Mapping mapping(value, {"from", "to", "radius"});
  const std::array<double, 3> a = to_vector(mapping.need("from", "[x, y, z], the centre of an end, m"));
  const Value& other = mapping.need("to", "[x, y, z], the centre of the other end, m");
  const std::array<double, 3> b = to_vector(other);
  if (a == b) other.place.fail("is the same point as `from`; give the centre of the other end, or use a sphere");
  TriangleMesh mesh;
  mesh.vertices = capsule_vertices(a, b, to_positive(mapping.need("radius", "a number, m"), "m"));
  constexpr int rings = 2 * capsule_rings, first = 0, last = 1 + rings * capsule_sides;  // first, last: the poles
  const auto at = [](int ring, int i) { return 1 + ring * capsule_sides + i % capsule_sides; };
  for (int i = 0; i < capsule_sides; ++i) {
    mesh.triangles.push_back({first, at(0, i + 1), at(0, i)});
    for (int ring = 0; ring + 1 < rings; ++ring) {
      mesh.triangles.push_back({at(ring, i), at(ring, i + 1), at(ring + 1, i + 1)});
      mesh.triangles.push_back({at(ring, i), at(ring + 1, i + 1), at(ring + 1, i)});
    }
    mesh.triangles.push_back({last, at(rings - 1, i), at(rings - 1, i + 1)});
  }
  return mesh;
}

}  // namespace diffsim::app
