// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "contact/plane_contact.hpp"
#include "core/impact.hpp"
#include "diffsim/contact/contact.hpp"

namespace diffsim {

/// Plane with the contact law `impact`.
struct PlaneOfImpact {
  PlaneShape shape;
  PlaneLaw law;
};

/// Makes the impacts of the surfaces of affine and rigid bodies on planes, for the contact law `impact`. The formulas
/// are those of contact::BodyImpact; the impact of an affine body with a single contact equals the impact of a vertex
/// (make_plane_impact) if the change of the velocity of the contact by an impulse does not depend on the direction. The
/// impulses on one body do not act on other bodies, so that bodies with impacts must have no joints.
///
/// `planes`: all planes with impacts; a plane with several laws occurs once for each law. `rigid_cells`: local indices
/// of this rank's cells that are rigid bodies; all other affine bodies deform. `scales`: scales of surfaces. Returns
/// nullptr if the laws apply to no affine or rigid body. Collective.
std::unique_ptr<Impact> make_body_impacts(const std::shared_ptr<const TetrahedralMesh>& mesh,
                                          const std::vector<int>& rigid_cells, const std::vector<PlaneOfImpact>& planes,
                                          const std::vector<SurfaceScale>& scales);

}  // namespace diffsim
