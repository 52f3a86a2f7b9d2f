// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "contact/embedded_surface.hpp"
#include "contact/surface_contact.hpp"
#include "diffsim/contact/contact.hpp"
#include "sensor/contact_sensor.hpp"
#include "simulation/contact_groups.hpp"

namespace diffsim {

/// Data of a scene's contact from which `make_contact_between` creates the contact terms of one pair of bodies,
/// obstacles or regions.
struct SceneContact {
  ContactOptions options;
  EmbeddedSurface surface;
  /// Indices, in the mesh's list of bodies, of the bodies whose vertices are all prescribed.
  std::vector<std::size_t> obstacle_bodies;
  bool friction = false;  ///< true if the scene's contact has friction or damping
};

/// Returns the dimensions of the surface elements that exist in the mesh: 2 for triangles, 1 for segments, 0 for
/// points. Collective.
std::vector<int> dimensions_in_contact(const TetrahedralMesh& mesh);

/// Returns the options of contact between the surfaces of bodies, and between the surfaces of bodies and obstacles of
/// triangles. Throws Error (input) for an obstacle whose option `solid` is true but whose surface does not enclose a
/// volume. Collective.
SurfaceContactOptions surface_options(const ContactOptions& options, const ContactGroups& groups, MPI_Comm comm);

/// Creates the contact terms between two surfaces, with the parameters of the scene's contact. Each surface is that of
/// a body, an obstacle or a region; if `between`[1] is "all", the second surface is that of all other bodies and
/// obstacles. `between`: names of bodies, obstacles or regions, as in `SensorSpec::between`. `mesh`: mesh of the scene.
/// Throws Error (input) if a name is unknown, if both names are obstacles or belong to one body, if the scene has no
/// contact between the two surfaces, or if `part` is ContactPart::friction although `contact.friction` is false.
/// Collective.
sensor::ContactBetween make_contact_between(const SceneContact& contact, const TetrahedralMesh& mesh,
                                            const std::array<std::string, 2>& between, sensor::ContactPart part);

}  // namespace diffsim
