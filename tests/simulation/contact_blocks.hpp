// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include "contact/contact_term.hpp"
#include "core/file_order.hpp"
#include "diffsim/mesh/construction.hpp"
#include "simulation/simulation_testing.hpp"

/// Scenes, shared by several tests, with bodies of one mesh that touch each other and with obstacles of triangles.
namespace diffsim::testing_contact {

inline int ranks() {
  int count = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

struct Block {
  std::array<double, 3> size;
  std::array<int, 3> cells;
  std::array<double, 3> place;
  double turn = 0.0;  // angle about y, rad
  std::array<double, 3> velocity{};
  std::string name = {};  // name of a separate body; either all blocks have names or none
};

/// Returns one mesh of several blocks, in which each block with a name is a body. Rank 0 has the whole mesh before the
/// partition.
inline std::shared_ptr<TetrahedralMesh> make_mesh(const std::vector<Block>& blocks, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MeshData all;
  for (const Block& block : blocks) {
    const MeshData data = box_mesh(block.size, block.cells, 0, 1);
    if (!block.name.empty()) all.bodies.push_back({block.name, all.num_vertices, all.num_cells});
    if (rank == 0) {
      for (const std::int64_t v : data.cells) all.cells.push_back(all.num_vertices + v);
      for (std::size_t v = 0; v < data.coordinates.size() / 3; ++v) {
        const double x = data.coordinates[3 * v], y = data.coordinates[3 * v + 1], z = data.coordinates[3 * v + 2];
        all.coordinates.insert(
            all.coordinates.end(),
            {block.place[0] + x * std::cos(block.turn) + z * std::sin(block.turn), block.place[1] + y,
             block.place[2] - x * std::sin(block.turn) + z * std::cos(block.turn)});
      }
    }
    all.num_vertices += data.num_vertices;
    all.num_cells += data.num_cells;
  }
  if (rank != 0) {
    all.first_vertex = all.num_vertices;
    all.first_cell = all.num_cells;
  }
  return std::make_shared<TetrahedralMesh>(comm, all);
}

/// Region of the vertices in a box, restricted to the named block if a name is given.
struct BlockRegion {
  std::string name;
  BoxShape box;
  std::string block = {};
};

struct Scene {
  std::vector<Block> blocks;
  std::vector<BlockRegion> regions = {};
  ContactOptions contact;
  double dt = 5e-4;
  std::array<double, 3> gravity{};
  double damping = 1.0;
  std::string integrator = "symplectic_euler";
  int direct_below = LinearOptions{}.direct_below;
  int max_stalled = NewtonOptions{}.max_stalled;
  int substeps = 1;
};

/// Index of the block to which a vertex at rest height y belongs.
inline int block_of(const Scene& scene, double y) {
  int block = 0;
  for (std::size_t b = 0; b < scene.blocks.size(); ++b)
    if (y > scene.blocks[b].place[1] - 1e-9) block = static_cast<int>(b);
  return block;
}

inline DifferentiableScene make_solver(const Scene& scene, MPI_Comm comm = MPI_COMM_WORLD) {
  auto mesh = make_mesh(scene.blocks, comm);
  for (const BlockRegion& region : scene.regions) mesh->define_region(region.name, region.box, region.block);
  DifferentiableSolver options{.dt = scene.dt,
                               .substeps = scene.substeps,
                               .damping = scene.damping,
                               .gravity = scene.gravity,
                               .integrator = integrator_named(scene.integrator)};
  options.implicit.linear.direct_below = scene.direct_below;
  options.implicit.newton.max_stalled = scene.max_stalled;
  DifferentiableScene solver = testing_simulation::make_soft_solver(mesh, 5e4, options);
  solver.add_contact(scene.contact);
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
    const auto& of = scene.blocks[static_cast<std::size_t>(
        block_of(scene, mesh->rest_positions()[3 * static_cast<std::size_t>(v) + 1]))];
    velocity.insert(velocity.end(), of.velocity.begin(), of.velocity.end());
  }
  solver.set_initial_velocity(velocity);
  return solver;
}

inline ContactOptions soft(bool self) {
  ContactOptions contact;
  contact.barrier_distance = 0.015;
  contact.barrier_stiffness = 4e4;
  contact.friction_velocity = 0.05;
  contact.self = self;
  return contact;
}

/// Scene of a single free block, whose lowest face is at y = 0.
inline Scene lone_block(const std::string& integrator, double dt, double friction) {
  Scene scene;
  scene.integrator = integrator;
  scene.dt = dt;
  scene.blocks = {{{0.1, 0.05, 0.1}, {2, 1, 2}, {0.0, 0.0, 0.0}}};
  scene.contact = soft(false);
  scene.contact.friction = friction;
  return scene;
}

/// Checks the derivatives of the block's position and rotation with respect to the named parameters.
inline void expect_derivatives_of_place(const Scene& scene, int steps, const std::vector<std::string>& names) {
  DifferentiableScene solver = make_solver(scene);
  solver.mesh()->define_region("side", BoxShape{{0.09, -1.0, -1.0}, {1.0, 1.0, 1.0}});
  GradientCheckOptions options;
  if (solver.model().solver_tolerance() > 0.0) options.dot_product_tolerance = 10.0 * solver.model().solver_tolerance();
  testing_simulation::expect_derivatives(solver, steps,
                                         {{"all", {0.1, 0.3, -0.1}, steps}, {"side", {0.5, 0.3, 0.4}, steps}},
                                         testing_simulation::unknowns_of(names, {}), options);
}

/// Scene of two blocks, one above the other, that move towards each other. The upper block is rotated about y by
/// `turn`.
inline Scene stack(double turn, double friction) {
  Scene scene;
  scene.blocks = {{{0.1, 0.05, 0.1}, {2, 1, 2}, {0.0, 0.0, 0.0}, 0.0, {0.0, 0.3, 0.0}},
                  {{0.1, 0.05, 0.1}, {2, 1, 2}, {0.013, 0.065, 0.017}, turn, {0.2, -0.3, 0.1}}};
  scene.contact = soft(true);
  scene.contact.friction = friction;
  return scene;
}

/// Scene of a block above a roof, an obstacle of two triangles.
inline Scene roof(double friction) {
  Scene scene;
  scene.blocks = {{{0.1, 0.05, 0.1}, {2, 1, 2}, {0.0, 0.0, 0.0}, 0.3, {0.1, -0.4, 0.0}}};
  scene.contact = soft(false);
  scene.contact.friction = friction;
  MeshObstacle obstacle;
  obstacle.mesh.vertices = {{0.05, -0.02, -0.3}, {0.06, -0.02, 0.3}, {-0.3, -0.2, 0.0}, {0.4, -0.2, 0.0}};
  obstacle.mesh.triangles = {{0, 1, 2}, {0, 3, 1}};
  obstacle.velocity = {0.05, 0.1, 0.0};
  scene.contact.meshes.push_back(obstacle);
  return scene;
}

/// Weighted sums of the final positions, which do not depend on the number of ranks.
inline std::vector<double> digest(const Scene& scene, int steps, MPI_Comm comm) {
  DifferentiableScene solver = make_solver(scene, comm);
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  const TetrahedralMesh& mesh = *solver.mesh();
  std::vector<double> file(3 * static_cast<std::size_t>(mesh.vertex_order().block_size()));
  mesh.vertex_order().to_file(state["positions"].to_host(), 3, file);
  std::vector<double> sums(8, 0.0);
  for (std::size_t i = 0; i < file.size(); ++i) {
    const double global = 3.0 * static_cast<double>(mesh.vertex_order().block_begin()) + static_cast<double>(i);
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k] += file[i] * std::cos((0.1 + 0.37 * static_cast<double>(k)) * global);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, comm);
  return sums;
}

}  // namespace diffsim::testing_contact
