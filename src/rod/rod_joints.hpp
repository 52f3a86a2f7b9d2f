// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/point_parameters_impl.hpp"
#include "rod/rod_energies.hpp"

namespace diffsim {

class TetrahedralMesh;

namespace rod {

/// Creates the force term of the bending and twisting energy of the joints (`RodJoint`) at the ends of a rod's
/// segments. The force term contains only the joints whose second segment has the kind `joint.beyond`. `segments`:
/// local indices of the rod's segments, which must have directors. `parameters`: parameters of the cross-section, in
/// the order of the values p of `RodSection`.
std::unique_ptr<ForceTerm> make_joints(const TetrahedralMesh& mesh, const std::vector<int>& segments,
                                       const RodJoint& joint, const std::vector<PointParameter>& parameters);

}  // namespace rod
}  // namespace diffsim
