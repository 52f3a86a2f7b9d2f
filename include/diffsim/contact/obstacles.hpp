// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "diffsim/contact/surface.hpp"

namespace diffsim::contact {

// Obstacles as triangles, normals outwards. Round ones are inscribed polyhedra: what cannot pass through the triangles
// cannot pass through what they stand for by more than the deviation given, and every face and edge of the body is kept
// out, not only its vertices.

TriangleMesh box_triangles(const std::array<double, 3>& min, const std::array<double, 3>& max);
/// An icosahedron whose triangles are divided in four four times, 5120 of them; inside the sphere by at most 0.0012 r.
TriangleMesh sphere_triangles(const std::array<double, 3>& center, double radius);
/// With flat ends and 64 sides; inside the cylinder by at most 0.0012 r.
TriangleMesh cylinder_triangles(const std::array<double, 3>& from, const std::array<double, 3>& to, double radius);

}  // namespace diffsim::contact
