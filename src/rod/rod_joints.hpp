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

/// Creates the force term of the bending and twisting energy at those joints (`RodJoint`) at the ends of segments for
/// which the kind of the second segment is `joint.beyond`. `segments`: local indices of the segments, which must have
/// directors. `parameters`: parameters of the cross-section, in the order of `RodSection`.
std::unique_ptr<ForceTerm> make_joints(const TetrahedralMesh& mesh, const std::vector<int>& segments,
                                       const RodJoint& joint, const std::vector<PointParameter>& parameters);

}  // namespace rod
}  // namespace diffsim
