// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "mesh/body_meshes.hpp"
#include "simulation/affine_bodies.hpp"

/// A crate on a moving floor, a slab on the crate, and a soft block next to both, for tests. The crate and the slab are
/// affine bodies that rotate; all gaps are smaller than d̂ = 15 mm.
namespace diffsim::testing_affine {

/// Returns the mesh, with the regions `knob` of the soft block and `corner` of the crate.
inline std::shared_ptr<TetrahedralMesh> crate_and_slab(MPI_Comm comm) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(comm, "crate", {0.1, 0.06, 0.08}, {0.0, 0.039, 0.0}, {1.0, 0.3, 0.2}, 0.02));
  bodies.push_back(
      {"soft", testing_mesh::box_body(comm, {"soft", {0.05, 0.05, 0.05}, {1, 1, 1}, {0.061, 0.07, -0.02}})});
  bodies.push_back(affine_box(comm, "slab", {0.12, 0.03, 0.07}, {-0.02, 0.0945, 0.003}, {0.2, 1.0, 0.1}, 0.03));
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  mesh->define_region("knob", VertexList{{0, 2}}, "soft");
  mesh->define_region("corner", VertexList{{0}}, "crate");
  return mesh;
}

/// Returns the material of the soft block.
inline DifferentiableMaterial rubber() {
  return {"stable_neo_hookean", {{"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "soft/all"};
}

/// Attaches the soft block to the slab and sets the initial velocities.
inline void set_in_motion(DifferentiableScene& scene) {
  const TetrahedralMesh& mesh = *scene.mesh();
  scene.attach("knob", "slab/all", 80.0);
  std::vector<double> velocity;
  add_rigid_velocity(mesh, "crate", {0.2, -0.15, 0.1}, {0.5, 2.0, -1.0}, velocity);
  add_rigid_velocity(mesh, "slab", {-0.1, -0.2, 0.05}, {-0.7, 1.0, 0.6}, velocity);
  for (const int v : mesh.region("soft/all").vertices)
    if (v < mesh.num_owned_vertices()) velocity[3 * static_cast<std::size_t>(v)] = -0.2;
  scene.set_initial_velocity(velocity);
}

/// Returns contact with each other and with the floor.
inline ContactOptions moving_floor(double friction) {
  ContactOptions contact;
  contact.barrier_distance = 0.015;
  contact.barrier_stiffness = 4e3;
  contact.friction = friction;
  contact.friction_velocity = 0.5;  // larger than all sliding velocities, so the results depend on ε_v
  contact.planes.push_back({.point = {0.0, 0.0, 0.0}, .normal = {0.02, 1.0, 0.03}, .velocity = {0.05, 0.0, 0.02}});
  return contact;
}

/// Adds contact with each other and with the floor.
inline void add_moving_floor(DifferentiableScene& scene, double friction) { scene.add_contact(moving_floor(friction)); }

}  // namespace diffsim::testing_affine
