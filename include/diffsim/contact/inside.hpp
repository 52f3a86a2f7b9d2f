// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>
#include <vector>

#include "diffsim/contact/surface.hpp"

namespace diffsim::contact {

/// Σ of the solid angles at which triangles over places [., 3] are seen from p, over 4π (van Oosterom and Strackee
/// 1983, The solid angle of a plane triangle, eq. 8): of a closed surface turned outwards 1 inside and 0 outside. p is
/// on no triangle.
double winding(const std::vector<double>& places, const std::vector<std::array<int, 3>>& triangles,
               const std::array<double, 3>& p);

/// The lowest of each set of vertices that elements of `size` vertices each connect, in order.
std::vector<int> witnesses(const std::vector<int>& elements, int size, int num_vertices);

}  // namespace diffsim::contact
