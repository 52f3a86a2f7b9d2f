// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contact/pair_force.hpp"
#include "contact_testing.hpp"

namespace diffsim::contact::testing_pairs {

/// Weights and contact laws of the pairs whose forces are differentiated.
inline constexpr PointTriangleWeights point_triangle = {0.7, {-0.5, -0.5, 0.0}, {0.25, 0.0, 1.0 / 6.0}};
inline const EdgeEdgeWeights edge_edge = {mollifier_threshold(1.0, 1.0)};
inline constexpr ContactLaw<double> law = {3e4, 0.8, 0.3, 0.2};
inline constexpr ContactLaw<double> thick_law = {3e4, 0.7, 0.3, 0.2, 0.25};
inline constexpr ContactLaw<double> penalty_law = {3e4, 0.7, 0.3, 0.2, 0.25, 0.4, true};

}  // namespace diffsim::contact::testing_pairs
