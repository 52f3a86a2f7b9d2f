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

/// Half-space bounded by a plane, and its motion.
struct PlaneShape {
  std::string label;
  std::array<double, 3> normal;    ///< towards the body, at t = 0; of any length except zero
  std::array<double, 3> axis{};    ///< rotation axis, of any length; zero: the plane does not turn
  std::array<double, 3> origin{};  ///< m, a point of the axis at t = 0, which moves with the plane
};

/// Contact law of a plane, and the surface groups that touch the plane by this law (contact/surface_groups.hpp).
struct PlaneLaw {
  ContactLawNames parameters = shared_law_names();
  std::vector<std::size_t> groups = {};   ///< group numbers: regions, then bodies; empty: the whole surface
  std::vector<std::string> regions = {};  ///< regions of the surface that are groups
  /// Dimension of the surface whose vertices touch the plane: 2 for triangles, 1 for segments, 0 for lone points.
  int dimension = 2;
};

/// Makes the term of a plane that a body cannot pass: E = κ Σ_i w_i ψ(φ_i², d̂) over the surface's vertices, with their
/// rest areas w_i and heights φ_i = n·(x_i - p - t V) > 0. With a rotation axis a, n = R(a, ω t) n_0 and
/// φ_i = n·(x_i - o - t V) - n_0·(p - o). Only vertices are considered: a body is outside the half-space if all its
/// vertices are outside.
///
/// Parameters of the plane, named after its label: `obstacle_position:LABEL` p [3], m; `obstacle_velocity:LABEL` V [3],
/// m/s; and, if the plane turns, `obstacle_angular_velocity:LABEL` ω [1], rad/s.
///
/// `law` contains the groups of the term and their contact law; groups with another law need another term. Throws Error
/// (input) for a normal of zero or non-finite length, and the Errors of `surface_groups`. Collective.
std::unique_ptr<ContactTerm> make_plane_contact(std::shared_ptr<const TetrahedralMesh> mesh, const PlaneShape& plane,
                                                ContactForces forces, const PlaneLaw& law = {});

}  // namespace diffsim
