// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "contact/surface.hpp"

namespace diffsim::contact {

// Surfaces of obstacles, as triangles with outward normals. Round obstacles are inscribed polyhedra: a body outside the
// polyhedron penetrates the exact round shape by at most the gap between the two surfaces, which is given below.
// Contact with triangles stops the vertices, edges and faces of a body.

TriangleMesh box_triangles(const std::array<double, 3>& min, const std::array<double, 3>& max);
/// Sphere of 5120 triangles: an icosahedron, refined four times by dividing each triangle into four. The polyhedron
/// lies inside the exact sphere; the gap between the two surfaces is at most 0.0012 times `radius`.
TriangleMesh sphere_triangles(const std::array<double, 3>& center, double radius);
/// Cylinder with 64 sides and flat ends, whose centres are `from` and `to`. The polyhedron lies inside the exact
/// cylinder; the gap between the two surfaces is at most 0.0012 times `radius`.
TriangleMesh cylinder_triangles(const std::array<double, 3>& from, const std::array<double, 3>& to, double radius);

}  // namespace diffsim::contact
