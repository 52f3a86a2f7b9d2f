// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "contact/surface.hpp"

namespace diffsim::contact {

/// Winding number of a triangle surface about the point p: the sum of the signed solid angles at which the triangles
/// are seen from p, divided by 4π (van Oosterom and Strackee 1983, The solid angle of a plane triangle, eq. 8). For a
/// closed surface with outward normals, the winding number about the point p is 1 if p is inside and 0 if p is outside.
/// The array `places` [vertices, 3] contains the vertex positions, and `triangles` contains the vertex indices of each
/// triangle. The point p must not lie on a triangle.
double winding(const std::vector<double>& places, const std::vector<std::array<int, 3>>& triangles,
               const std::array<double, 3>& p);

/// Returns the vertex with the lowest index in each connected component of a mesh, in ascending order. Vertices that
/// belong to no element are omitted. The array `elements` [elements, size] lists the vertices of each element; the
/// vertices of one element are connected.
std::vector<int> witnesses(const std::vector<int>& elements, int size, int num_vertices);

}  // namespace diffsim::contact
