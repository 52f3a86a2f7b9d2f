// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "contact/contact_term.hpp"
#include "contact/parameters.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Half-space bounded by a plane, which may rotate.
struct PlaneShape {
  std::string label;
  std::array<double, 3> normal;    ///< normal of the plane at t = 0, out of the half-space, of any length except zero
  std::array<double, 3> axis{};    ///< rotation axis of the plane, of any length; a zero vector means no rotation
  std::array<double, 3> origin{};  ///< point on the rotation axis at t = 0, m; the axis moves with the plane
};

/// Contact law of a plane, and the groups of the surface to which the law applies. A surface group is a region of the
/// surface or a body (contact/surface_groups.hpp).
struct PlaneLaw {
  ContactLawNames parameters = shared_law_names();
  std::vector<std::size_t> groups = {};   ///< indices of surface groups; an empty list stands for the whole surface
  std::vector<std::string> regions = {};  ///< names of surface regions, each of which forms a surface group
  /// Dimension of the surface whose vertices touch the plane: 2 for triangles, 1 for segments, 0 for bodies of points.
  int dimension = 2;
};

/// Makes the contact term of a plane. For a barrier law, the contact energy of a plane and a surface is
///   E = κ Σ_i w_i ψ(φ_i², d̂, ξ),   φ_i = n·(x_i - p - t V) > 0,
/// with the barrier stiffness κ, the barrier ψ (contact/barrier.hpp), the barrier distance d̂ and the thickness ξ. The
/// sum is over the surface's vertices i with the rest areas w_i, the positions x_i and the heights φ_i above the plane.
/// The point p is on the plane at t = 0, V is the plane's velocity, and n is the unit normal, which is constant if the
/// plane does not rotate. If the plane rotates at the angular velocity ω about the axis a through the point o,
///   n = R(a, ω t) n_0,   φ_i = n·(x_i - o - t V) - n_0·(p - o),
/// where R(a, ω t) is the rotation by the angle ω t, and n_0 is the unit normal at t = 0. For a penalty law, ψ = d̂ r³/3
/// with r = max(1 - (φ_i - ξ)/d̂, 0), and φ_i may be negative. On segments and in bodies of points, other weights
/// replace the rest areas w_i (see PlaneForce). Contact with a plane considers vertices only: a body is outside the
/// half-space bounded by the plane if all its vertices are outside.
///
/// The parameters of a plane with the name LABEL are the point p [3] (m), `obstacle_position:LABEL`, the velocity V [3]
/// (m/s), `obstacle_velocity:LABEL`, and, if the plane rotates, the angular velocity ω [1] (rad/s),
/// `obstacle_angular_velocity:LABEL`.
///
/// The argument `law` contains a contact law and the surface groups to which the law applies. Surface groups with
/// different contact laws need separate contact terms. Throws Error (input) for a normal of zero or non-finite length,
/// and in the cases in which `surface_groups` throws Error (input). Collective.
std::unique_ptr<ContactTerm> make_plane_contact(std::shared_ptr<const TetrahedralMesh> mesh, const PlaneShape& plane,
                                                ContactForces forces, const PlaneLaw& law = {});

}  // namespace diffsim
