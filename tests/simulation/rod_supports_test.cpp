// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Rods with clamps, walls, planes of symmetry and prescribed motions; moments; initial shapes; torsional vibrations.

#include <gtest/gtest.h>

#include <cmath>

#include "simulation/convergence_testing.hpp"
#include "simulation/rod_bodies.hpp"

namespace diffsim::rod_supports_test {
namespace {

using namespace testing_rod;

constexpr double pi = 3.14159265358979323846;

/// Straight rod along x that starts at `begin`, with segments of 0.1 m.
std::shared_ptr<TetrahedralMesh> straight(int n, double begin = 0.0, bool is_turned = false) {
  return line(
      n,
      [&](int i) {
        return Point{begin + 0.1 * i, 0.0, 0.0};
      },
      Point{0.0, 1.0, 0.0}, false, is_turned);
}

/// Angle of a director about x, measured from y.
double angle_of(const TetrahedralMesh& mesh, const std::vector<double>& x, int director) {
  const Point d = at(mesh, x, director);
  return std::atan2(d[2], d[1]);
}

TEST(RodSupports, a_wall_is_a_clamp_at_its_second_vertex) {
  const auto tip = [](bool has_wall) {
    const int n = has_wall ? 11 : 10;
    auto mesh = straight(n, has_wall ? -0.1 : 0.0);
    mesh->define_region("wall", VertexList{{0, 1}});
    DifferentiableScene solver = statics(mesh, beam(0.1, 0.2, 0.07, 1e3), 4);
    if (has_wall)
      solver.fix("wall");
    else
      solver.clamp("start");
    pull_end(solver, {0.0, 0.3, -0.2});
    solver.add_moment("last", {0.1, 0.0, 0.0});
    return at(*mesh, equilibrium(solver, 4), n);
  };
  const Point wall = tip(true), clamp = tip(false);
  EXPECT_LT(clamp[2], -0.1);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(wall[c], clamp[c], 1e-9);
}

TEST(RodSupports, half_of_a_rod_at_a_plane_of_symmetry_is_the_whole) {
  // Clamped at both ends, with a force in the middle.
  const auto middle = [](bool is_half) {
    const int n = is_half ? 8 : 16;
    auto mesh = straight(n);
    mesh->define_region("middle", VertexList{{8}});
    DifferentiableScene solver = statics(mesh, beam(0.1, 0.1, 0.07), 2);
    solver.clamp("start");
    if (is_half)
      solver.clamp("end", {true, false, false});
    else
      solver.clamp("end");
    std::vector<double> load(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0);
    load[3 * local_of(*mesh, 8) + 2] = is_half ? -1.0 : -2.0;
    solver.add_nodal_load(load);
    return at(*mesh, equilibrium(solver, 2), 8)[2];
  };
  const double whole = middle(false);
  EXPECT_LT(whole, -0.004);
  EXPECT_NEAR(middle(true), whole, 1e-4 * std::abs(whole));
}

TEST(RodSupports, a_rod_in_a_plane_of_symmetry_stays_there) {
  // Tested with directors in the plane of symmetry and perpendicular to this plane.
  for (const bool is_turned : {false, true}) {
    auto mesh = straight(10, 0.0, is_turned);
    DifferentiableScene solver = statics(mesh, beam(0.1, 0.1, 0.07), 3);
    solver.fix("start");
    solver.fix("end", {false, true, true});
    solver.clamp("all", {false, false, true});
    std::vector<double> load(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0);
    load[3 * local_of(*mesh, 5) + 1] = -0.3;
    solver.add_nodal_load(load);
    const std::vector<double> x = equilibrium(solver, 3);
    EXPECT_NEAR(at(*mesh, x, 5)[1], -0.3 / (48.0 * 0.1), 2e-3);  // P L³/(48 EI)
    EXPECT_NEAR(at(*mesh, x, 5)[2], 0.0, 1e-12);
  }
}

TEST(RodSupports, a_moment_about_the_axis_twists_evenly) {
  auto mesh = straight(10);
  const double GJ = 0.07, moment = 0.1;
  DifferentiableScene solver = statics(mesh, beam(0.1, 0.1, GJ), 2);
  solver.clamp("start");
  solver.add_moment("last", {moment, 0.0, 0.0});
  const std::vector<double> x = equilibrium(solver, 2);
  for (int s = 0; s < 10; ++s) EXPECT_NEAR(angle_of(*mesh, x, 11 + s), moment / GJ * 0.1 * (s + 0.5), 1e-9) << s;
}

/// Makes a quasi-static scene of a beam with steps of 0.25 s for prescribed motions.
DifferentiableScene quarter_second_steps(const std::shared_ptr<TetrahedralMesh>& mesh) {
  DifferentiableMaterial material{"beam", {}, "all"};
  for (const auto& [name, value] : beam(0.1, 0.1, 0.07)) material.values[name] = value;
  return {mesh, {material}, {.dt = 0.25, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::quasi_static}};
}

TEST(RodSupports, a_motion_turns_directors_and_twists_the_rod) {
  // The last two vertices rotate about x by 2 rad in 4 steps. The twist between the clamp and the grip is uniform.
  auto mesh = straight(10);
  mesh->define_region("grip", VertexList{{9, 10}});
  DifferentiableScene solver = quarter_second_steps(mesh);
  solver.clamp("start");
  solver.move("grip", {1.0, 0.0, 0.0}, {0.3, 0.0, 0.0}, {2.0}, {0.0, 0.0, 0.0});
  const std::vector<double> x = equilibrium(solver, 4);
  EXPECT_NEAR(angle_of(*mesh, x, 11 + 9), 2.0, 1e-12);
  for (int s = 0; s < 9; ++s) EXPECT_NEAR(angle_of(*mesh, x, 11 + s), 2.0 * (s + 0.5) / 9.0, 1e-8) << s;
}

TEST(RodSupports, a_motion_about_a_point_turns_directors_and_does_not_shift_them) {
  // Rotation about z by 0.5 rad in 4 steps, about a moving point that is not the origin. The free part of the rod
  // follows.
  auto mesh = straight(10);
  mesh->define_region("grip", VertexList{{0, 1}});
  DifferentiableScene solver = quarter_second_steps(mesh);
  solver.move("grip", {0.0, 0.0, 1.0}, {0.3, 0.2, 0.1}, {0.5}, {0.1, 0.2, -0.1});
  const std::vector<double> x = equilibrium(solver, 4);
  const double c = std::cos(0.5), s = std::sin(0.5);
  for (int segment = 0; segment < 10; ++segment) {
    const Point d = at(*mesh, x, 11 + segment);
    EXPECT_NEAR(d[0], -0.1 * s, 1e-6) << segment;  // a director is as long as its segment
    EXPECT_NEAR(d[1], 0.1 * c, 1e-6) << segment;
    EXPECT_NEAR(d[2], 0.0, 1e-6) << segment;
  }
  const Point end = at(*mesh, x, 10);  // (1, 0, 0) in the rest shape
  EXPECT_NEAR(end[0], 0.4 + 0.7 * c + 0.2 * s, 1e-5);
  EXPECT_NEAR(end[1], 0.4 + 0.7 * s - 0.2 * c, 1e-5);
  EXPECT_NEAR(end[2], -0.1, 1e-5);
}

/// Displacements of all vertices, without directors, in a rotation by a right angle about z.
std::vector<double> quarter_turn(const TetrahedralMesh& mesh) {
  const std::vector<double>& X = mesh.rest_positions();
  std::vector<double> displacement(X.size(), 0.0);
  for (std::size_t v = 0; v < X.size() / 3; ++v) {
    if (mesh.is_director()[v] != 0) continue;
    displacement[3 * v] = -X[3 * v + 1] - X[3 * v];
    displacement[3 * v + 1] = X[3 * v] - X[3 * v + 1];
  }
  return displacement;
}

TEST(RodSupports, an_initial_shape_takes_directors_along) {
  // A rotated straight rod has no energy.
  auto mesh = straight(10);
  DifferentiableScene solver = statics(mesh, beam(0.1, 0.2, 0.07, 100.0));
  solver.clamp("last");
  solver.set_initial_displacement(quarter_turn(*mesh));
  State state = solver.initial_state();
  solver.model().prepare();
  EXPECT_NEAR(solver.system().potential_energy(state), 0.0, 1e-14);
  // Directors of a curved rod are also perpendicular to their segments.
  auto curved = line(10, [](int i) { return Point{0.1 * i, 0.02 * i * i, 0.05 * std::sin(i)}; });
  DifferentiableScene other = statics(curved, beam(0.1, 0.2, 0.07, 100.0));
  other.set_initial_displacement(quarter_turn(*curved));
  state = other.initial_state();
  const std::vector<double> x = state["positions"].to_host();
  for (int s = 0; s < 10; ++s) {
    const Point a = at(*curved, x, s), b = at(*curved, x, s + 1), d = at(*curved, x, 11 + s);
    double along = 0.0;
    for (std::size_t c = 0; c < 3; ++c) along += (b[c] - a[c]) * d[c];
    EXPECT_NEAR(along, 0.0, 1e-15);
  }
}

TEST(Torsion, has_its_frequency) {
  // Clamped at one end: ω L √(ρJ/GJ) = π/2.
  const double GJ = 0.8, inertia = 1e-4;
  std::vector<double> omegas;
  for (const int n : {8, 16, 32}) {
    auto mesh = line(
        n,
        [&](int i) {
          return Point{static_cast<double>(i) / n, 0.0, 0.0};
        },
        Point{0.0, 1.0, 0.0});
    DifferentiableScene solver = statics(mesh, beam(1.0, 1.0, GJ));
    solver.clamp("start");
    solver.system().prepare();
    // Directors move along z as cross-sections rotate. With displacements scaled by 1/√mass, the smallest eigenvalue is
    // ω².
    const std::vector<double> mass = solver.system().mass().to_host();
    Directions turns;
    for (int s = 0; s < n; ++s) {
      const std::size_t v = local_of(*mesh, n + 1 + s);
      EXPECT_NEAR(mass[v] * 1.0 / n, inertia, 1e-15);  // ρJ L/D², with D = L = 1/n
      turns.emplace_back(mesh->rest_positions().size(), 0.0);
      turns.back()[3 * v + 2] = 1.0 / std::sqrt(mass[v]);
    }
    // ω² is the largest shift for which K - ω² I is positive definite.
    const std::vector<double> K = stiffness(solver, mesh->rest_positions(), turns);
    omegas.push_back(std::sqrt(critical_load(1.0, 1e5, [&](double square) {
      std::vector<double> shifted = K;
      for (std::size_t i = 0; i < turns.size(); ++i) shifted[i * turns.size() + i] -= square;
      return is_positive(shifted, turns.size());
    })));
  }
  expect_convergence("torsion, ω", omegas, 0.5 * pi * std::sqrt(GJ / inertia), 5e-3);
}

}  // namespace
}  // namespace diffsim::rod_supports_test
