// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/point_parameters_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "rod/rod_section.hpp"

namespace diffsim::rod {

/// Creates the force terms of three energies of a rod: the stretching energy (`RodStretch`), the penalty energy that
/// keeps directors perpendicular to segments and at the rest length (`RodSectionShape`), and the bending and twisting
/// energy at the nodes between segments (`RodJoint`). `segments`: local indices of the rod's segments. `parameters`:
/// parameters of the cross-section, in the order of the values p of `RodSection`. Throws Error of kind `input` on every
/// rank if a segment of the rod on any rank has no director. Collective.
std::vector<std::unique_ptr<ForceTerm>> make_terms(const TetrahedralMesh& mesh, const std::vector<int>& segments,
                                                   const RodSection& section,
                                                   const std::vector<PointParameter>& parameters);

}  // namespace diffsim::rod
