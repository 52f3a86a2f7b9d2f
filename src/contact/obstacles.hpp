// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "contact/surface.hpp"

namespace diffsim::contact {

// Surfaces of obstacles, as triangles with outward normals. Round obstacles are inscribed polyhedra: a body outside the
// polyhedron penetrates the exact round shape by at most the gap between the polyhedron and the exact round shape (see
// `sphere_triangles` and `cylinder_triangles`). Contact prevents the vertices, edges and faces of bodies from passing
// through the triangles.

TriangleMesh box_triangles(const std::array<double, 3>& min, const std::array<double, 3>& max);
/// Polyhedron of 20 · 4ⁿ triangles inscribed in a sphere: an icosahedron, refined n = `refinements` times by dividing
/// each triangle into four. The gap between the polyhedron and the sphere, divided by the radius of the sphere, is at
/// most 0.21, 0.066, 0.018, 0.0046, 0.0012 for n = 0, …, 4.
TriangleMesh sphere_triangles(const std::array<double, 3>& center, double radius, int refinements = 4);
/// Prism of 64 sides inscribed in the cylinder whose flat ends have the centres `from` and `to`. The gap between the
/// prism and the cylinder is at most 0.00121 times the radius of the cylinder.
TriangleMesh cylinder_triangles(const std::array<double, 3>& from, const std::array<double, 3>& to, double radius);

}  // namespace diffsim::contact
