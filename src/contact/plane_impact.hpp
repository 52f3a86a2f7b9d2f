// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "contact/plane_contact.hpp"
#include "core/impact.hpp"

namespace diffsim {

/// Makes the impacts of a surface's vertices on a plane, for the contact law `impact`. A vertex has an impact at the
/// end of a substep of length h if its gap g = φ - ξ and its normal velocity u·n are negative, where φ is the height of
/// the vertex above the plane, ξ the thickness, n the normal of the plane, and u the velocity of the vertex relative to
/// the plane.
///
/// In the substep, the vertex moves with the constant acceleration a, the mean over the substep. It passes the plane at
/// the time s before the end of the substep, with the normal velocity -w:
///   w = √((u·n)² - 2 (a·n) g),   s = 2 |g|/(w + |u·n|) ≤ h.
/// The impact changes the normal velocity from -w to e w, with the coefficient of restitution e. Then the vertex moves
/// with the acceleration a for the time s:
///   u·n ← e w + s a·n,   g ← s e w + ½ s² a·n.
/// If e w + s a·n < 0, the vertex would meet the plane again before the end of the substep. The vertex then stays on
/// the plane: u·n ← 0, g ← 0. With the change j of the normal velocity at the impact and Coulomb's coefficient µ, the
/// sliding velocity u_t at the time of impact changes by -min(µ j, |u_t|) u_t/|u_t|, and the position by s times this
/// change. For a vertex that stays on the plane, u_t is the sliding velocity at the end of the substep, and s =
/// min(g/(u·n), h).
///
/// The time s depends on the state, so the derivatives of an impact include the derivative of the time of impact, which
/// gives the saltation matrix of the event (Kong et al. 2024, Saltation Matrices). For velocity Verlet and a
/// constant acceleration, the motion and its derivatives are exact.
///
/// Arguments are those of `make_plane_contact`. The parameters are those of the plane, the friction, the restitution
/// and the thickness. Collective.
std::unique_ptr<Impact> make_plane_impact(const std::shared_ptr<const TetrahedralMesh>& mesh, const PlaneShape& plane,
                                          const PlaneLaw& law);

}  // namespace diffsim
