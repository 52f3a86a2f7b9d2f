// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A rope is drawn over a fixed cylinder: over half a turn the tension grows by the factor e^{µ π} (Euler 1769,
// Eytelwein 1808). The cylinder has 64 sides, over whose edges the rope jolts; tensions are therefore averaged while
// the rope moves by one side.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "contact/obstacles.hpp"
#include "core/file_order.hpp"
#include "simulation/spring_bodies.hpp"

namespace diffsim::capstan_test {
namespace {

constexpr double pi = 3.14159265358979323846, radius = 0.1, range = 2e-3, stiffness = 2e3, speed = 0.05, load = 1.0;

/// Ratio of the tensions at the drawn end and at the loaded end, with n segments on half a turn.
double ratio_of_tensions(int n, double friction) {
  constexpr int leg = 4;  // segments that hang down on either side
  const double reach = radius + 0.5 * range, h = pi * reach / n;
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<std::int64_t, 2>> ends;
  for (int i = leg; i > 0; --i) points.push_back({-reach, 0.0, -h * i});
  for (int i = 0; i <= n; ++i) {
    const double angle = pi * i / n;
    points.push_back({-reach * std::cos(angle), 0.0, reach * std::sin(angle)});
  }
  for (int i = 1; i <= leg; ++i) points.push_back({reach, 0.0, -h * i});
  const auto last = static_cast<std::int64_t>(points.size()) - 1;
  for (std::int64_t i = 0; i < last; ++i) ends.push_back({i, i + 1});
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_SELF, testing_spring::segments(MPI_COMM_SELF, points, ends));
  mesh->define_region("drawn", VertexList{{last}});
  const DifferentiableMaterial rope{"rope", {{"rope_stiffness", stiffness}, {"rope_density", 1e-3}}, "all"};
  constexpr int steps_of_side = 20;
  const double dt = 2.0 * pi * radius / 64.0 / speed / steps_of_side;
  DifferentiableScene solver(mesh, {rope},
                             {.dt = dt, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::implicit_euler});
  solver.move("drawn", {0.0, 0.0, 1.0}, {0.0, 0.0, 0.0}, {0.0}, {0.0, 0.0, -speed});
  const auto& numbers = mesh->vertex_order().file_index();
  std::vector<double> force(3 * points.size(), 0.0);
  for (std::size_t v = 0; v < points.size(); ++v)
    if (numbers[v] == 0) force[3 * v + 2] = -load;
  solver.add_nodal_load(force);
  ContactOptions contact;
  contact.barrier_distance = range;
  contact.barrier_stiffness = 2e4;
  contact.friction = friction;
  contact.friction_velocity = 1e-3 * speed;
  contact.meshes.push_back({.mesh = contact::cylinder_triangles({0.0, -0.05, 0.0}, {0.0, 0.05, 0.0}, radius)});
  solver.add_contact(contact);
  State state = solver.initial_state();
  solver.model().prepare();

  // Tensions of the outermost segments, computed from their strains.
  double light = 0.0, heavy = 0.0;
  for (int step = 0; step < 2 * steps_of_side; ++step) {
    solver.step(step, state);
    if (step < steps_of_side) continue;
    const std::vector<double> x = state["positions"].to_host();
    const auto tension = [&](std::int64_t a) {
      double d[3] = {};
      for (std::size_t v = 0; v < points.size(); ++v)
        for (std::size_t c = 0; c < 3; ++c)
          d[c] += numbers[v] == a ? x[3 * v + c] : numbers[v] == a + 1 ? -x[3 * v + c] : 0.0;
      return stiffness * (std::hypot(d[0], d[1], d[2]) / h - 1.0);
    };
    light += tension(0) / steps_of_side;
    heavy += tension(last - 1) / steps_of_side;
  }
  if (std::getenv("DIFFSIM_VERBOSE"))
    std::printf("capstan, µ %.2f, %3d segments: %.5f N and %.5f N, ratio %.5f, e^(µ π) %.5f\n", friction, n, light,
                heavy, heavy / light, std::exp(friction * pi));
  EXPECT_NEAR(light, load, 1e-2 * load);
  return heavy / light;
}

TEST(Capstan, multiplies_the_tension) {
  for (const double friction : {0.0, 0.1, 0.3})
    for (const int n : {24, 48, 96})
      EXPECT_NEAR(ratio_of_tensions(n, friction) / std::exp(friction * pi), 1.0, 0.03) << friction << ", " << n;
}

}  // namespace
}  // namespace diffsim::capstan_test
