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

/// Data of a scene's contact from which terms of single pairs of bodies and obstacles are made.
struct SceneContact {
  ContactOptions options;
  EmbeddedSurface surface;
  std::vector<std::size_t> obstacle_bodies;  ///< indices of the bodies whose vertices are all prescribed
  bool friction = false;                     ///< true if the scene's contact has friction terms
};

/// Returns the dimensions of the surface elements that exist in the mesh: 2 for triangles, 1 for segments, 0 for
/// points. Collective.
std::vector<int> dimensions_in_contact(const TetrahedralMesh& mesh);

/// Returns the options of the contact of the surfaces of bodies with each other and with the obstacles of triangles.
/// Throws Error (input) for an open obstacle whose `solid` is true. Collective.
SurfaceContactOptions surface_options(const ContactOptions& options, const ContactGroups& groups, MPI_Comm comm);

/// Makes the contact terms of two sides, which are the only terms of the result. The terms have the parameters of the
/// scene's contact. `between`: names of bodies, obstacles or regions, as in `SensorSpec::between`. `mesh`: mesh of the
/// scene. Throws Error (input) for unknown names, two obstacles, two parts of one body, two sides that do not touch
/// each other, and for friction in a scene whose contact has no friction. Collective.
sensor::ContactBetween make_contact_between(const SceneContact& contact, const TetrahedralMesh& mesh,
                                            const std::array<std::string, 2>& between, sensor::ContactPart part);

}  // namespace diffsim
