// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The force of contact is the negative gradient of its energy: with planes, with triangles, and of a body with itself.

#include <gtest/gtest.h>

#include <cmath>

#include "simulation/contact_blocks.hpp"

namespace diffsim::contact_energy_test {
namespace {

using namespace testing_contact;

double over_ranks(double share) {
  MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return share;
}

/// Expects the force of each contact term to have the slope of the term's energy at the initial positions of a scene.
void expect_slope(const Scene& scene) {
  DifferentiableScene solver = make_solver(scene);
  solver.model().prepare();
  const State start = solver.initial_state();
  const Field& positions = start["positions"];
  Field direction = positions.like("direction");
  std::vector<double> way = positions.to_host();
  for (std::size_t i = 0; i < way.size(); ++i) way[i] = std::sin(40.0 * way[i] + static_cast<double>(i % 3));
  direction.from_host(way);
  const double time = 0.003;
  for (const auto& term : solver.system().terms()) {
    if (!term->limits_steps()) continue;
    const auto energy = [&](double part) {
      Field moved = positions.clone();
      axpy(part, direction, moved);
      return over_ranks(term->energy({moved, 0, nullptr, nullptr, time}, solver.parameters()));
    };
    EXPECT_GT(energy(0.0), 0.0);
    // Fourth-order central difference.
    const double h = 1e-5;
    const double slope = (8.0 * (energy(h) - energy(-h)) - (energy(2.0 * h) - energy(-2.0 * h))) / (12.0 * h);
    Field force = positions.like("force");
    term->add_force({positions, 0, nullptr, nullptr, time}, solver.parameters(), force);
    double work = 0.0;
    const std::vector<double> shares = force.to_host();
    for (std::size_t i = 0; i < shares.size(); ++i) work += shares[i] * way[i];
    EXPECT_NEAR(-over_ranks(work), slope, 1e-8 * std::abs(slope));
  }
}

TEST(contact_energy, of_planes) {
  Scene scene = lone_block("symplectic_euler", 1e-3, 0.0);
  scene.contact.planes.push_back({.point = {0.0, -0.009, 0.0}, .normal = {0.1, 1.0, 0.0}, .velocity = {0.0, 0.1, 0.0}});
  expect_slope(scene);
  scene.contact.planes[0].rotation = {{0.2, 0.9, 0.1}, {0.05, -0.04, 0.03}, 2.0};
  expect_slope(scene);
}

TEST(contact_energy, of_triangles) {
  Scene scene = roof(0.0);
  for (auto& vertex : scene.contact.meshes[0].mesh.vertices) vertex[1] += 0.012;
  expect_slope(scene);
}

TEST(contact_energy, of_a_body_with_itself) {
  Scene scene = stack(0.4, 0.0);
  scene.blocks[1].place[1] = 0.06;
  expect_slope(scene);
}

}  // namespace
}  // namespace diffsim::contact_energy_test
