// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Placement of a body: x ↦ R S x + t with S = diag(scale), R the rotation by `angle` about `axis` through the origin
/// (Rodrigues' formula) and t = `translate`.
struct Placement {
  std::array<double, 3> scale{1.0, 1.0, 1.0};  ///< positive, because mirroring would invert the cells
  std::array<double, 3> axis{0.0, 0.0, 1.0};   ///< of any non-zero length
  double angle = 0.0;                          ///< rad
  std::array<double, 3> translate{};           ///< m
};

/// Applies `placement` to the vertices of `mesh`, and to the surface of an affine body. Throws InputError for a scale
/// factor that is not positive and finite, and, if the angle is not zero, for an axis of zero length or an angle that
/// is not finite. No communication.
void place(MeshData& mesh, const Placement& placement);

}  // namespace diffsim
