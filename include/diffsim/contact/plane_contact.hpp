// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/contact/contact_term.hpp"
#include "diffsim/contact/parameters.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Which half-space, and how it moves.
struct PlaneShape {
  std::string label;
  std::array<double, 3> normal;    ///< to the body, at t = 0; any length but zero
  std::array<double, 3> axis{};    ///< that it turns about, of any length; zero: it does not turn
  std::array<double, 3> origin{};  ///< m, a point of the axis at t = 0, which travels with the plane
};

/// Groups of a mesh's surface that touch a plane by one law (contact/surface_groups.hpp).
struct PlaneLaw {
  ContactLawNames parameters = shared_law_names();
  std::vector<std::size_t> groups = {};   ///< by number: regions, then bodies; empty: the whole surface
  std::vector<std::string> regions = {};  ///< that are groups
  /// Dimension of the surface whose vertices touch the plane: 2 of triangles, 1 of lines, 0 of lone points.
  int dimension = 2;
};

/// Makes the term of a half-space that a body cannot enter: E = κ Σ_i w_i ψ(φ_i², d̂) over the surface's vertices, w_i
/// their rest areas, φ_i = n·(x_i - p - t V) > 0. With an axis a, n = R(a, ω t) n_0 and
/// φ_i = n·(x_i - o - t V) - n_0·(p - o). A body whose vertices are outside is outside.
///
/// Parameters of its own, named after the label: `obstacle_position:LABEL` p [3], m, `obstacle_velocity:LABEL` V [3],
/// m/s, and of one that turns `obstacle_angular_velocity:LABEL` ω [1], rad/s.
///
/// `law` says which groups the term is of, and by which law; groups with
/// another law need another term. Throws Error for a normal without direction and as `surface_groups` does. Collective.
std::unique_ptr<ContactTerm> make_plane_contact(std::shared_ptr<const TetrahedralMesh> mesh, const PlaneShape& plane,
                                                ContactForces forces, const PlaneLaw& law = {});

}  // namespace diffsim
