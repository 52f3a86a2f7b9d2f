// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "contact/plane_contact.hpp"
#include "contact/surface_contact.hpp"
#include "diffsim/contact/contact.hpp"

namespace diffsim {

/// List of all surface regions, bodies and obstacles that may be in contact, and contact laws of pairs of entries of
/// the list. The entries of ContactGroups are, in this order, the surface regions named in `ContactOptions::pairs` or
/// in the constructor's argument `more_regions`, the bodies, the planes (`ContactOptions::planes`), and the obstacles
/// of triangles (`ContactOptions::meshes`). Arguments `place`, `a` and `b` of member functions are indices of entries
/// of ContactGroups.
class ContactGroups {
 public:
  /// Creates the list of surface regions, bodies and obstacles that may be in contact. Regions that do not belong to
  /// exactly one body of the mesh are ignored. `obstacle_bodies`: indices, in the mesh's list of bodies, of the bodies
  /// whose vertices are all prescribed. `more_regions`: regions that are added to ContactGroups, after the regions
  /// named in `options.pairs`. The regions `more_regions` have the contact laws of their bodies.
  ContactGroups(const ContactOptions& options, const TetrahedralMesh& mesh,
                const std::vector<std::size_t>& obstacle_bodies, const std::vector<std::string>& more_regions = {});

  /// Restricts contact to the pairs of an entry of ContactGroups with an index in `first` and an entry with an index in
  /// `second`; all other pairs of entries become pairs without contact.
  void restrict_to(const std::vector<std::size_t>& first, const std::vector<std::size_t>& second);

  /// Returns the names of the entries of ContactGroups that are bodies or obstacles.
  std::vector<std::string> names() const { return {names_.begin() + first_body(), names_.end()}; }
  const std::string& plane(std::size_t k) const { return names_[first_plane() + k]; }
  const std::string& mesh(std::size_t k) const { return names_[first_plane() + num_planes_ + k]; }
  /// Returns the index of the entry of ContactGroups with the given name, or `size()` if the name is unknown.
  std::size_t find(const std::string& name) const;
  std::size_t size() const { return names_.size(); }
  bool is_obstacle(std::size_t place) const { return place >= first_plane(); }
  /// Returns true if entry `place` of ContactGroups is a body whose vertices are all prescribed, or a region of such a
  /// body.
  bool is_prescribed(std::size_t place) const;
  /// Indices, in the mesh's list of bodies, of the bodies whose vertices are all prescribed.
  const std::vector<std::size_t>& prescribed_bodies() const { return prescribed_bodies_; }
  /// Returns the index, among the entries of ContactGroups, of the body to which region `place` belongs, or `place`
  /// itself for a body or an obstacle.
  std::size_t body_of(std::size_t place) const { return place < bodies_of_.size() ? bodies_of_[place] : place; }
  /// Returns the index, in the mesh's list of bodies, of the body `place`, or of the body to which region `place`
  /// belongs.
  std::size_t body_index(std::size_t place) const { return body_of(place) - bodies_of_.size(); }
  /// Returns true if at least one pair of entries of ContactGroups that are not planes may be in contact.
  /// `any_surfaces_touch` considers pairs of an entry with itself, and ignores pairs in which both entries are
  /// obstacles or prescribed bodies.
  bool any_surfaces_touch() const;

  /// Returns the names of two entries of ContactGroups that are not planes and touch each other with the contact law
  /// `impact`, or two empty names if there are no such entries.
  std::array<std::string, 2> impact_of_surfaces() const;

  /// Returns the names of the surface regions: first the regions named in `ContactOptions::pairs`, in the order of the
  /// pairs, then the regions `more_regions` of the constructor.
  std::vector<std::string> regions() const { return {names_.begin(), names_.begin() + first_body()}; }
  /// Returns the contact laws of plane number `plane`. Each law of a plane lists the regions and bodies to which the
  /// law applies; an empty list stands for all regions and bodies.
  std::vector<PlaneLaw> laws_of_plane(std::size_t plane) const;
  /// Returns the contact laws between regions, bodies and obstacles of triangles, except the shared law, which has the
  /// values of ContactOptions and applies to all pairs without a law of their own.
  std::vector<GroupLaw> laws_of_surfaces() const;
  /// Returns the pairs of groups (regions, bodies and obstacles of triangles) between which there is no contact.
  std::vector<std::array<std::size_t, 2>> ignored_surfaces() const;

 private:
  /// Returns true if entries a and b of ContactGroups may be in contact: `restrict_to` does not exclude the pair, and
  /// either no ContactPair applies to a and b, or the member `touch` of the ContactPair that applies is true.
  bool touch(std::size_t a, std::size_t b) const;
  /// Returns the group number, as in GroupLaw, of entry `place` of ContactGroups, which must not be a plane.
  std::size_t number_of_surface(std::size_t place) const { return is_obstacle(place) ? place - num_planes_ : place; }
  /// Returns the name of the thickness parameter of entry `place` of ContactGroups, or an empty string if the entry has
  /// no thickness.
  std::string thickness_of(std::size_t place) const;
  /// Returns the parameter names of the contact law of entries a and b of ContactGroups; the thickness parameters are
  /// sorted by name.
  ContactLawNames law_of(std::size_t a, std::size_t b) const;
  std::ptrdiff_t first_body() const { return static_cast<std::ptrdiff_t>(bodies_of_.size()); }
  std::size_t first_plane() const { return bodies_of_.size() + num_bodies_; }
  bool is_plane(std::size_t place) const { return is_obstacle(place) && place < first_plane() + num_planes_; }
  /// Returns the index of the ContactPair in `ContactOptions::pairs` that applies to entries a and b of ContactGroups,
  /// or the number of ContactPairs if no ContactPair applies. A ContactPair may apply if the ContactPair names a and b
  /// or, in place of an entry that is a region, the region's body. Of several ContactPairs that may apply, the
  /// ContactPair that names the fewest bodies in place of regions applies, or the first of several such ContactPairs.
  std::size_t pair_of(std::size_t a, std::size_t b) const;

  const ContactOptions* options_;
  std::size_t num_bodies_, num_planes_;
  std::vector<std::string> names_;
  std::vector<std::size_t> bodies_of_;  // for each region: index in `names_` of the region's body
  std::vector<std::size_t> prescribed_bodies_;
  std::vector<char> side_;  // [size()]: 1 or 2 for the two sets of `restrict_to`, else 0; empty: no restriction
};

/// Returns the reason why `name` is not the name of exactly one body, obstacle or region in contact, or an empty string
/// if the name is valid.
std::string name_error(const ContactGroups& groups, const TetrahedralMesh& mesh, const std::string& name);

/// Returns the reason why the ContactPair `options.pairs[pair]` is invalid for the mesh's bodies and the obstacles, or
/// an empty string if the pair is valid. A ContactPair is invalid if a name is unknown or ambiguous, if both names are
/// obstacles, if both names belong to one body although `ContactOptions::self` is false, or if an earlier ContactPair
/// has the same names. A ContactPair is also invalid if a value is outside its parameter's range, if damping is given
/// although the contact law is not the penalty, or if a law or a value is given although the member `touch` is false.
/// `obstacle_bodies`: indices, in the mesh's list of bodies, of the bodies that are obstacles.
std::string pair_error(const ContactOptions& options, std::size_t pair, const TetrahedralMesh& mesh,
                       const std::vector<std::size_t>& obstacle_bodies);

}  // namespace diffsim
