// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "diffsim/contact/plane_contact.hpp"
#include "diffsim/contact/surface_contact.hpp"
#include "diffsim/simulation/contact.hpp"

namespace diffsim {

/// Names of all that may touch, and the laws of their pairs. Places are those of regions of surfaces that pairs name,
/// bodies, planes, obstacles of triangles, in this order.
class ContactGroups {
 public:
  /// Regions that are not of one body of the mesh are left out.
  /// `obstacle_bodies`: places in the mesh's list of bodies whose vertices are all prescribed.
  ContactGroups(const ContactOptions& options, const TetrahedralMesh& mesh,
                const std::vector<std::size_t>& obstacle_bodies);

  /// Names of bodies and obstacles.
  std::vector<std::string> names() const { return {names_.begin() + first_body(), names_.end()}; }
  const std::string& plane(std::size_t k) const { return names_[first_plane() + k]; }
  const std::string& mesh(std::size_t k) const { return names_[first_plane() + num_planes_ + k]; }
  /// Place of a name; the number of places for one that is not there.
  std::size_t find(const std::string& name) const;
  std::size_t size() const { return names_.size(); }
  bool is_obstacle(std::size_t place) const { return place >= first_plane(); }
  /// Whether a region or a body is of an obstacle that is a body.
  bool is_prescribed(std::size_t place) const;
  /// Bodies that are obstacles, by their places in the mesh's list.
  const std::vector<std::size_t>& prescribed_bodies() const { return prescribed_bodies_; }
  /// Place of the body that a region is of; that of all else is its own.
  std::size_t body_of(std::size_t place) const { return place < bodies_of_.size() ? bodies_of_[place] : place; }

  /// Regions of surfaces, in the order in which pairs name them.
  std::vector<std::string> regions() const { return {names_.begin(), names_.begin() + first_body()}; }
  /// Laws of a plane with each region and body, those that share one together.
  std::vector<PlaneLaw> laws_of_plane(std::size_t plane) const;
  /// Laws of regions, bodies and obstacles of triangles that are not the shared one.
  std::vector<GroupLaw> laws_of_surfaces() const;
  /// Pairs of regions, bodies and obstacles of triangles that do not touch each other, by their groups.
  std::vector<std::array<std::size_t, 2>> ignored_surfaces() const;

 private:
  /// Whether two places touch each other: by the pair whose law they have.
  bool touch(std::size_t a, std::size_t b) const;
  /// Group (GroupLaw) of a place that is no plane.
  std::size_t number_of_surface(std::size_t place) const { return is_obstacle(place) ? place - num_planes_ : place; }
  /// Name of the parameter of a place's thickness, empty where it has none.
  std::string thickness_of(std::size_t place) const;
  /// Names of the law of two places; thicknesses in the order of their names.
  ContactLawNames law_of(std::size_t a, std::size_t b) const;
  std::ptrdiff_t first_body() const { return static_cast<std::ptrdiff_t>(bodies_of_.size()); }
  std::size_t first_plane() const { return bodies_of_.size() + num_bodies_; }
  bool is_plane(std::size_t place) const { return is_obstacle(place) && place < first_plane() + num_planes_; }
  /// Index of the pair whose law two places have, the number of pairs for the shared law: of the pairs that name them
  /// or their bodies the one that names most of them, of several the first.
  std::size_t pair_of(std::size_t a, std::size_t b) const;

  const ContactOptions* options_;
  std::size_t num_bodies_, num_planes_;
  std::vector<std::string> names_;
  std::vector<std::size_t> bodies_of_;  // of regions
  std::vector<std::size_t> prescribed_bodies_;
};

}  // namespace diffsim
