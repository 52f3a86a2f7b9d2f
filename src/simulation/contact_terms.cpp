// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "simulation/contact_terms.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "contact/plane_contact.hpp"
#include "core/file_order.hpp"
#include "diffsim/checkpoint/checkpoint_options.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "mesh/bodies.hpp"
#include "mesh/closed_surface.hpp"

namespace diffsim {
namespace {

/// Returns the maximum number of pairs of each kind on a rank: the number that fits into the memory, but at most
/// `most`. The ranks of a machine share half of the machine's free memory equally, for two kinds of pairs at 16 B per
/// pair. Collective.
std::int64_t pairs_that_fit(MPI_Comm comm, std::int64_t most) {
  MPI_Comm machine = MPI_COMM_NULL;
  DIFFSIM_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
  const int ranks = num_ranks(machine);
  MPI_Comm_free(&machine);
  return static_cast<std::int64_t>(std::min(static_cast<double>(most), 0.5 * free_memory_bytes() / (32.0 * ranks)));
}

/// Two sides of a sensor's contact: entries of the list of ContactGroups.
struct ContactSides {
  std::vector<std::size_t> first, second;
};

Error error_of(const std::array<std::string, 2>& between, const std::string& what) {
  return Error("contact between '" + between[0] + "' and '" + between[1] + "': " + what, ErrorKind::input);
}

/// Returns the entries that belong to the body, obstacle or region `place`: a body and its regions, or `place` alone.
std::vector<std::size_t> parts_of(const ContactGroups& groups, std::size_t place) {
  std::vector<std::size_t> parts;
  for (std::size_t other = 0; other < groups.size(); ++other)
    if (other == place || groups.body_of(other) == place) parts.push_back(other);
  return parts;
}

/// Returns the two sides with the names `between`. Throws Error (input) for unknown names, two obstacles, and two parts
/// of one body.
ContactSides sides_of(const ContactGroups& groups, const TetrahedralMesh& mesh,
                      const std::array<std::string, 2>& between) {
  const bool with_all = between[1] == "all";
  for (const std::string& name : between)
    if (!(with_all && &name == &between[1]))
      if (const std::string reason = name_error(groups, mesh, name); !reason.empty()) throw error_of(between, reason);
  const std::size_t first = groups.find(between[0]);
  ContactSides sides{parts_of(groups, first), {}};
  if (with_all) {
    for (std::size_t other = 0; other < groups.size(); ++other)
      if (groups.body_of(other) != groups.body_of(first)) sides.second.push_back(other);
    return sides;
  }
  const std::size_t second = groups.find(between[1]);
  if (groups.body_of(first) == groups.body_of(second))
    throw error_of(between, "the names belong to one body; give two bodies, or a body and an obstacle");
  const auto is_fixed = [&](std::size_t place) { return groups.is_obstacle(place) || groups.is_prescribed(place); };
  if (is_fixed(first) && is_fixed(second))
    throw error_of(between, "both names are obstacles, which do not touch each other; give a body and an obstacle");
  sides.second = parts_of(groups, second);
  return sides;
}

ContactForces forces_of(const SceneContact& contact, sensor::ContactPart part) {
  if (!contact.friction) return ContactForces::barrier;
  return part == sensor::ContactPart::all      ? ContactForces::barrier_and_friction
         : part == sensor::ContactPart::normal ? ContactForces::barrier_part
                                               : ContactForces::friction_part;
}

/// Makes the terms of all pairs to which `groups` is restricted.
std::vector<std::unique_ptr<ForceTerm>> make_terms(const SceneContact& contact, const EmbeddedSurface& surface,
                                                   const ContactGroups& groups, ContactForces forces) {
  std::vector<std::unique_ptr<ForceTerm>> terms;
  const auto add = [&](std::unique_ptr<ContactTerm> term) {
    if (surface.map) term = make_mapped_contact(std::move(term), surface);
    terms.push_back(std::move(term));
  };
  const std::vector<int> dimensions = dimensions_in_contact(*surface.mesh);
  for (std::size_t k = 0; k < contact.options.planes.size(); ++k) {
    const PlaneObstacle& plane = contact.options.planes[k];
    for (PlaneLaw law : groups.laws_of_plane(k))
      for (const int dimension : law.parameters.is_impact() ? std::vector<int>{} : dimensions) {
        law.dimension = dimension;
        add(make_plane_contact(
            surface.mesh, {groups.plane(k), plane.normal, plane.rotation.axis, plane.rotation.origin}, forces, law));
      }
  }
  if (!groups.any_surfaces_touch()) return terms;
  SurfaceContactOptions options = surface_options(contact.options, groups, surface.mesh->comm());
  options.self = false;
  options.forces = forces;
  add(std::make_unique<SurfaceContact>(surface.mesh, std::move(options)));
  return terms;
}

/// Returns 1 for each local vertex of the bodies with the given indices in the mesh's list of bodies, else 0.
std::vector<char> vertices_of(const TetrahedralMesh& mesh, const std::vector<std::size_t>& bodies) {
  std::vector<char> are_inside(static_cast<std::size_t>(mesh.num_vertices()), 0);
  for (std::size_t v = 0; v < are_inside.size(); ++v) {
    const auto body = static_cast<std::size_t>(body_of_vertex(mesh.bodies(), mesh.vertex_order().file_index()[v]));
    are_inside[v] = std::find(bodies.begin(), bodies.end(), body) != bodies.end() ? 1 : 0;
  }
  return are_inside;
}

}  // namespace

std::vector<int> dimensions_in_contact(const TetrahedralMesh& mesh) {
  std::vector<int> dimensions;
  for (const int dimension : {2, 1, 0}) {
    const auto count = static_cast<std::int64_t>(contact::surface_areas(mesh, dimension).vertices.size());
    if (sum_over_ranks(count, mesh.comm()) > 0) dimensions.push_back(dimension);
  }
  return dimensions;
}

SurfaceContactOptions surface_options(const ContactOptions& options, const ContactGroups& groups, MPI_Comm comm) {
  SurfaceContactOptions surfaces;
  surfaces.self = options.self;
  surfaces.prescribed_bodies = groups.prescribed_bodies();
  surfaces.regions = groups.regions();
  // Surfaces have no impacts: if the shared law is `impact`, all surfaces that touch have their own laws.
  surfaces.shared = shared_law_names(options.law == ContactLawKind::impact ? ContactLawKind::barrier : options.law);
  surfaces.laws = groups.laws_of_surfaces();
  surfaces.ignored = groups.ignored_surfaces();
  surfaces.max_pairs = options.max_pairs > 0 ? options.max_pairs : pairs_that_fit(comm, surfaces.max_pairs);
  for (std::size_t k = 0; k < options.meshes.size(); ++k) {
    const MeshObstacle& obstacle = options.meshes[k];
    const std::string label = groups.mesh(k), reason = volume_error(obstacle.mesh);
    if (obstacle.solid.value_or(false) && !reason.empty())
      throw Error("obstacle '" + label + "' has no inside: " + reason + "; repair the mesh, or set solid: false",
                  ErrorKind::input);
    surfaces.obstacles.push_back({label, obstacle.mesh, obstacle.solid.value_or(reason.empty()), obstacle.rotation.axis,
                                  obstacle.rotation.origin});
  }
  return surfaces;
}

sensor::ContactBetween make_contact_between(const SceneContact& contact, const TetrahedralMesh& mesh,
                                            const std::array<std::string, 2>& between, sensor::ContactPart part) {
  if (part == sensor::ContactPart::friction && !contact.friction)
    throw error_of(between, "the scene's contact has no friction; give a friction coefficient");
  std::vector<std::string> regions_of_sides{between[0]};
  if (between[1] != "all") regions_of_sides.push_back(between[1]);
  ContactGroups groups(contact.options, mesh, contact.obstacle_bodies, regions_of_sides);
  const ContactSides sides = sides_of(groups, mesh, between);
  groups.restrict_to(sides.first, sides.second);
  EmbeddedSurface surface = contact.surface;
  const std::vector<std::string> regions = groups.regions();
  if (surface.map && regions != ContactGroups(contact.options, mesh, contact.obstacle_bodies).regions())
    surface = embed_surfaces(mesh, contact.options.surfaces, regions, contact.options.scales);
  sensor::ContactBetween made;
  made.terms = make_terms(contact, surface, groups, forces_of(contact, part));
  if (made.terms.empty())
    throw error_of(
        between,
        "the two sides have no contact forces: they do not touch each other, or by impacts only; name another pair");
  made.is_embedded = surface.map != nullptr;
  // Obstacles that are no bodies have no vertices in the mesh. The force on such an obstacle is minus the force on the
  // other side.
  const bool is_reversed = groups.is_obstacle(sides.first.front());
  made.sign = is_reversed ? -1.0 : 1.0;
  std::vector<std::size_t> bodies;
  for (const std::size_t place : is_reversed ? sides.second : sides.first)
    if (!groups.is_obstacle(place)) bodies.push_back(groups.body_index(place));
  made.vertices = vertices_of(mesh, bodies);
  return made;
}

}  // namespace diffsim
