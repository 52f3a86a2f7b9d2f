// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// A place for a body: x ↦ R S x + t, S = diag(scale), R the rotation by `angle` about `axis` through the origin
/// (Rodrigues' formula), t = `translate`.
struct Placement {
  std::array<double, 3> scale{1.0, 1.0, 1.0};  ///< positive: a mirrored body would be inside out
  std::array<double, 3> axis{0.0, 0.0, 1.0};   ///< of any length but zero
  double angle = 0.0;                          ///< rad
  std::array<double, 3> translate{};           ///< m
};

/// Moves the vertices of `mesh` to their place. Throws InputError for a factor of scale that is not positive and
/// finite, and for an axis without length where there is an angle. No communication.
void place(MeshData& mesh, const Placement& placement);

}  // namespace diffsim
