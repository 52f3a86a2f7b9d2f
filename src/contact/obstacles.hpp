// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "contact/surface.hpp"

namespace diffsim::contact {

// Obstacles as surfaces of triangles with outward normals. Round obstacles are inscribed polyhedra: a body outside the
// polyhedron enters the exact shape by no more than the deviation stated for the shape. The triangles keep out the
// faces and edges of a body, not only its vertices.

TriangleMesh box_triangles(const std::array<double, 3>& min, const std::array<double, 3>& max);
/// Sphere as an icosahedron whose triangles are divided into four, four times: 5120 triangles. The polyhedron lies
/// inside the exact sphere; the gap between the two surfaces is at most 0.0012 r.
TriangleMesh sphere_triangles(const std::array<double, 3>& center, double radius);
/// Cylinder with flat ends and 64 sides. The polyhedron lies inside the exact cylinder; the gap between the two
/// surfaces is at most 0.0012 r.
TriangleMesh cylinder_triangles(const std::array<double, 3>& from, const std::array<double, 3>& to, double radius);

}  // namespace diffsim::contact
