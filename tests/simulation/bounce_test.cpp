// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A stiff body that bounces once, compared with the flight of a point mass.

#include <gtest/gtest.h>

#include <cmath>

#include "contact/contact_term.hpp"
#include "contact/obstacles.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::bounce_test {
namespace {

constexpr double g = 9.8, h0 = 0.1, v0 = -1.0, end = 0.3;  // m, m/s, s

/// Height at `end` of a point that starts h0 above the ground with the upward velocity v0 and bounces once, derivatives
/// of this height with respect to h0 and v0, and the impact speed.
struct Flight {
  double height, by_height, by_velocity, impact;
};

Flight point() {
  const double w = std::sqrt(v0 * v0 + 2.0 * g * h0), t = (v0 + w) / g, left = end - t;
  const double by_time = -w + g * left;  // ∂z/∂t at fixed speed; t: time of the impact
  return {w * left - 0.5 * g * left * left, left * g / w + by_time / w, left * v0 / w + by_time * (1.0 + v0 / w) / g,
          w};
}

/// Flight of a cube of 10 mm, much stiffer than the barrier of width `range`. The barrier stops the cube at a third of
/// this width.
Flight body(double range, int steps, bool on_plane) {
  constexpr double size = 0.01, density = 1000.0;
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {size, size, size}, {1, 1, 1});
  const DifferentiableMaterial material{
      "stable_neo_hookean", {{"youngs_modulus", 1e7}, {"poisson_ratio", 0.3}, {"density", density}}, "all"};
  DifferentiableScene solver(mesh, {material},
                             {.dt = end / steps, .substeps = 1, .damping = 1.0, .gravity = {0.0, -g, 0.0}});
  ContactOptions contact;
  contact.barrier_distance = range;
  contact.barrier_stiffness = 0.25 * density * size * (v0 * v0 + 2.0 * g * h0) / range;
  if (on_plane)
    contact.planes.push_back({.point = {0.0, -h0, 0.0}, .normal = {0.0, 1.0, 0.0}});
  else
    contact.meshes.push_back({.mesh = contact::box_triangles({-0.1, -h0 - 0.1, -0.1}, {0.11, -h0, 0.12})});
  solver.add_contact(contact);
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) velocity.insert(velocity.end(), {0.0, v0, 0.0});
  solver.set_initial_velocity(velocity);

  DifferentiableSimulator simulator(solver);
  // Mean height of the body above the ground minus half of the body's height. The loss ½ (z - (z_end - 1))² has the
  // slope 1 with respect to z.
  const auto middle = [&](const State& state) {
    double sum = 0.0;
    const std::vector<double> x = state["positions"].to_host();
    for (std::size_t v = 0; v < static_cast<std::size_t>(mesh->num_owned_vertices()); ++v) sum += x[3 * v + 1];
    return sum / mesh->num_owned_vertices();
  };
  SumLoss nothing;
  simulator.rollout(steps, 400, nothing);
  const double z = middle(simulator.state());
  TargetPositionLoss loss(*mesh, mesh->region("all"), {0.5 * size, z - 1.0, 0.5 * size}, steps);
  simulator.rollout(steps, 400, loss);
  simulator.backward();
  Flight flight{z - 0.5 * size + h0, 0.0, 0.0, 0.0};
  const std::vector<double> x = simulator.initial_gradient()["positions"].to_host(),
                            v = simulator.initial_gradient()["velocities"].to_host();
  for (std::size_t i = 1; i < v.size(); i += 3) {
    flight.by_height += x[i];
    flight.by_velocity += v[i];
  }
  return flight;
}

double off(double value, double exact) { return std::abs(value - exact) / std::abs(exact); }

TEST(bounce, derivatives_of_a_drop_are_those_of_a_point_as_the_barrier_narrows) {
  // The derivatives depend on the body's vibration and on the phase of the steps during the short contact, so a
  // narrower barrier needs more steps.
  const Flight exact = point();
  double by_height = 1.0, by_velocity = 0.02, coarsest = 0.0;
  for (const auto& [range, steps] : {std::pair(16e-3, 16000), std::pair(8e-3, 16000), std::pair(4e-3, 40000)}) {
    const Flight found = body(range, steps, true);
    const double last_by_height = by_height, last_by_velocity = by_velocity;
    by_height = off(found.by_height, exact.by_height);
    by_velocity = off(found.by_velocity, exact.by_velocity);
    std::printf("d̂ = %g m: z %.4f (%.4f) m, ∂z/∂h₀ %.4f (%.4f), %.2f %%, ∂z/∂v₀ %.4f (%.4f) s, %.2f %%\n", range,
                found.height, exact.height, found.by_height, exact.by_height, 100 * by_height, found.by_velocity,
                exact.by_velocity, 100 * by_velocity);
    EXPECT_LT(by_height, 0.6 * last_by_height);
    EXPECT_LT(by_velocity, 0.6 * last_by_velocity);
    if (coarsest == 0.0) coarsest = by_height;
  }
  EXPECT_LT(by_height, 0.02);
  EXPECT_NEAR(std::log(coarsest / by_height) / std::log(4.0), 1.0, 0.2);  // first order in d̂
}

TEST(bounce, and_so_on_triangles) {
  const Flight exact = point(), found = body(4e-3, 12000, false);
  EXPECT_LT(off(found.by_height, exact.by_height), 0.02);
  EXPECT_LT(off(found.by_velocity, exact.by_velocity), 0.02);
}

}  // namespace
}  // namespace diffsim::bounce_test
