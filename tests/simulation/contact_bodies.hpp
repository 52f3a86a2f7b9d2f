// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "simulation/contact_blocks.hpp"

/// Scenes with several bodies in one mesh, whose pairs have contact laws of their own.
namespace diffsim::testing_contact {

/// Parameters of a contact law: d̂, m; κ, Pa; µ; ε_v, m/s.
struct Law {
  double distance, stiffness, friction, velocity;
};
constexpr Law soft_law{0.015, 4e4, 0.4, 0.05}, hard_law{0.012, 9e4, 0.15, 0.3};

inline ContactPair pair_of(const std::string& a, const std::string& b, const Law& law) {
  return {{a, b}, law.distance, law.stiffness, law.friction, law.velocity};
}

inline void set_shared(ContactOptions& contact, const Law& law) {
  contact.barrier_distance = law.distance;
  contact.barrier_stiffness = law.stiffness;
  contact.friction = law.friction;
  contact.friction_velocity = law.velocity;
}

/// Scene of three blocks, low, middle and high, stacked between a plane, floor, and a sheet of triangles, roof. The
/// gaps between neighbours are smaller than 11 mm; all other pairs are far apart. All neighbours slide on each other.
inline Scene tower(const Law& shared, const std::string& integrator = "symplectic_euler") {
  Scene scene;
  scene.integrator = integrator;
  scene.dt = is_explicit(integrator_named(integrator)) ? 4e-4 : 4e-3;
  scene.blocks = {{{0.1, 0.05, 0.1}, {2, 1, 2}, {0.0, 0.0, 0.0}, 0.1, {0.2, -0.1, 0.05}, "low"},
                  {{0.1, 0.05, 0.1}, {2, 1, 2}, {0.013, 0.06, 0.017}, 0.4, {-0.1, 0.1, 0.0}, "middle"},
                  {{0.1, 0.05, 0.1}, {1, 1, 1}, {0.0, 0.119, 0.01}, 0.2, {0.0, 0.0, -0.25}, "high"}};
  set_shared(scene.contact, shared);
  scene.contact.planes.push_back(
      {.point = {0.0, -0.009, 0.0}, .normal = {0.02, 1.0, 0.0}, .velocity = {0.05, 0.0, 0.0}, .label = "floor"});
  MeshObstacle roof;
  roof.mesh.vertices = {{-0.3, 0.178, -0.3}, {0.4, 0.179, -0.3}, {0.05, 0.18, 0.5}};
  roof.mesh.triangles = {{0, 1, 2}};
  roof.velocity = {0.1, -0.05, 0.0};
  roof.label = "roof";
  scene.contact.meshes.push_back(roof);
  return scene;
}

/// Overload of `tower` in which the low block has the law `of_low` with the floor and with the middle block.
inline Scene tower(const Law& shared, const Law& of_low, const std::string& integrator = "symplectic_euler") {
  Scene scene = tower(shared, integrator);
  scene.contact.pairs = {pair_of("floor", "low", of_low), pair_of("low", "middle", of_low)};
  return scene;
}

}  // namespace diffsim::testing_contact
