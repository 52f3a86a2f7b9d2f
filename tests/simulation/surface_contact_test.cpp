// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Bodies of one mesh that touch each other, and obstacles of triangles.

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/contact/contact_term.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/mesh/box.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim {
namespace {

using namespace testing_simulation;

struct Block {
  std::array<double, 3> size;
  std::array<int, 3> cells;
  std::array<double, 3> place;
  double turn = 0.0;  // about y
  std::array<double, 3> velocity{};
};

/// Several blocks as one mesh, whole on rank 0 before it is partitioned.
std::shared_ptr<TetrahedralMesh> make_mesh(const std::vector<Block>& blocks, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MeshData all;
  for (const Block& block : blocks) {
    const MeshData data = box_mesh(block.size, block.cells, 0, 1);
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

struct Scene {
  std::vector<Block> blocks;
  ContactOptions contact;
  double dt = 5e-4;
  std::array<double, 3> gravity{};
  double damping = 1.0;
};

/// A vertex of which block, by its place at rest.
int block_of(const Scene& scene, double y) {
  int block = 0;
  for (std::size_t b = 0; b < scene.blocks.size(); ++b)
    if (y > scene.blocks[b].place[1] - 1e-9) block = static_cast<int>(b);
  return block;
}

DifferentiableSolver make_solver(const Scene& scene, MPI_Comm comm = MPI_COMM_WORLD) {
  auto mesh = make_mesh(scene.blocks, comm);
  DifferentiableMaterial material{
      "stable_neo_hookean", {{"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"};
  DifferentiableSolver solver(mesh, {material},
                              {.dt = scene.dt, .substeps = 1, .damping = scene.damping, .gravity = scene.gravity});
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

ContactOptions soft(bool self) {
  ContactOptions contact;
  contact.barrier_distance = 0.015;
  contact.barrier_stiffness = 4e4;
  contact.friction_velocity = 0.05;
  contact.self = self;
  return contact;
}

/// One block falls on another, turned by `turn`.
Scene stack(double turn, double friction) {
  Scene scene;
  scene.blocks = {{{0.1, 0.05, 0.1}, {2, 1, 2}, {0.0, 0.0, 0.0}, 0.0, {0.0, 0.3, 0.0}},
                  {{0.1, 0.05, 0.1}, {2, 1, 2}, {0.013, 0.065, 0.017}, turn, {0.2, -0.3, 0.1}}};
  scene.contact = soft(true);
  scene.contact.friction = friction;
  return scene;
}

/// Over a bounce of `steps`, how far the energy goes off, as a part of it.
double energy_off(Scene scene, int steps) {
  scene.dt = 0.1 / steps;
  DifferentiableSolver solver = make_solver(scene);
  MeshModel& model = solver.integrator();
  model.prepare();
  State state = solver.initial_state();
  const std::array<double, 3> before = momentum(model, state);
  const double energy = model.kinetic_energy(state) + model.potential_energy(state);
  std::int64_t most = 0;
  double off = 0.0;
  for (int n = 0; n < steps; ++n) {
    model.step(n, state, nullptr);
    if (n % (steps / 50) != 0) continue;
    const ContactState contact = solver.contact_state(n + 1, state);
    most = std::max(most, contact.active_pairs);
    EXPECT_EQ(contact.intersections, 0);
    EXPECT_GT(contact.min_distance, 0.01);
    off = std::max(off, std::abs(model.kinetic_energy(state) + model.potential_energy(state) - energy));
  }
  const std::array<double, 3> after = momentum(model, state);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(after[c], before[c], 1e-12);
  EXPECT_GT(most, 20);
  EXPECT_EQ(solver.contact_state(steps, state).active_pairs, 0);
  return off / energy;
}

TEST(surface_contact, two_blocks_bounce_off_each_other_and_keep_momentum_and_energy) {
  const double coarse = energy_off(stack(0.4, 0.0), 200), fine = energy_off(stack(0.4, 0.0), 800);
  EXPECT_LE(coarse, 0.06);
  EXPECT_LE(fine, 0.35 * coarse);
}

TEST(surface_contact, friction_takes_the_energy_that_is_gone) {
  // Of a block on another, on two ways; the work is a matter of relative velocities.
  for (const double push : {0.0, 0.5}) {
    Scene scene = stack(0.4, 0.4);
    scene.dt = 2e-4;
    scene.blocks[0].velocity = {push, 0.3, 0.0};
    scene.blocks[1].velocity = {push + 1.0, -0.3, 0.1};
    DifferentiableSolver solver = make_solver(scene);
    MeshModel& model = solver.integrator();
    model.prepare();
    State state = solver.initial_state();
    const auto energy = [&] { return model.kinetic_energy(state) + model.potential_energy(state); };
    const double before = energy();
    double work = 0.0, power = 0.0;
    for (int n = 1; n <= 400; ++n) {
      solver.step(n - 1, state);
      const double now = solver.contact_state(n, state).friction_power;
      work += 0.5 * scene.dt * (power + now);
      power = now;
    }
    EXPECT_EQ(solver.contact_state(400, state).active_pairs, 0);
    EXPECT_GT(work, 0.02 * before);
    EXPECT_NEAR(before - energy(), work, 0.02 * work);
  }
}

/// What a run gives on any number of ranks: some numbers of the state at the end.
std::vector<double> digest(const Scene& scene, int steps, MPI_Comm comm) {
  DifferentiableSolver solver = make_solver(scene, comm);
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

TEST(surface_contact, does_not_depend_on_ranks) {
  // In self-contact with friction; each rank runs the whole scene alone, too.
  const std::vector<double> here = digest(stack(0.4, 0.3), 100, MPI_COMM_WORLD);
  const std::vector<double> alone = digest(stack(0.4, 0.3), 100, MPI_COMM_SELF);
  EXPECT_GT(std::abs(alone[0]), 1.0);
  for (std::size_t k = 0; k < alone.size(); ++k) EXPECT_NEAR(here[k], alone[k], 1e-11 * std::abs(alone[0]));
}

void expect_derivatives(const Scene& scene, int steps, const std::vector<std::string>& names) {
  DifferentiableSolver solver = make_solver(scene);
  solver.mesh()->define_region("top", BoxShape{{-1.0, scene.blocks.back().place[1] + 0.04, -1.0}, {1.0, 1.0, 1.0}});
  testing_simulation::expect_derivatives(solver, steps,
                                         {{"all", {0.1, 0.3, -0.1}, steps}, {"top", {0.5, 0.3, 0.4}, steps}},
                                         unknowns_of(names, {"barrier_distance", "barrier_stiffness"}));
}

TEST(surface_contact, derivatives_through_self_contact) {
  expect_derivatives(stack(0.4, 0.0), 30, {"barrier_distance", "initial_velocities"});
}

TEST(surface_contact, derivatives_through_self_contact_with_friction) {
  expect_derivatives(stack(0.4, 0.3), 25, {"barrier_stiffness", "friction", "friction_velocity", "initial_velocities"});
}

/// A block above a roof of two triangles.
Scene roof(double friction) {
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

TEST(surface_contact, derivatives_through_contact_with_a_mesh_obstacle) {
  expect_derivatives(
      roof(0.3), 60,
      {"obstacle_position:0", "obstacle_velocity:0", "barrier_stiffness", "barrier_distance", "friction"});
}

TEST(surface_contact, a_passage_is_an_error_that_names_the_pair) {
  Scene scene = roof(0.0);
  scene.blocks[0].velocity = {0.0, -150.0, 0.0};
  DifferentiableSolver solver = make_solver(scene);
  solver.model().prepare();
  State state = solver.initial_state();
  try {
    solver.step(0, state);
    FAIL() << "no error";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("step 0, substep 0: contact would be passed through"), std::string::npos) << text;
    EXPECT_NE(text.find("obstacle 0's"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace diffsim
