// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Rods that bend and twist in space, compared with solutions for Kirchhoff rods, on three meshes each: values and
// convergence orders.

#include <gtest/gtest.h>

#include <cmath>

#include "simulation/convergence_testing.hpp"
#include "simulation/rod_bodies.hpp"

namespace diffsim::rod_benchmarks_test {
namespace {

using namespace testing_rod;

constexpr double pi = 3.14159265358979323846;

Point along_x(double x) { return {x, 0.0, 0.0}; }

/// Expects positions on several meshes to converge to `exact` at second order, with distances relative to the rod's
/// length. On the last mesh, expects the relative error of each component to be at most `tolerance`.
void expect_place(const std::string& what, const std::vector<Point>& places, const Point& exact, double tolerance,
                  double length) {
  std::vector<double> distances;
  for (const Point& x : places) distances.push_back(std::hypot(x[0] - exact[0], x[1] - exact[1], x[2] - exact[2]));
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_NEAR(places.back()[c], exact[c], tolerance * std::abs(exact[c]) + 1e-9) << what << ", component " << c;
  for (double& distance : distances) distance = 1.0 + distance / length;
  expect_convergence(what + ", 1 + distance", distances, 1.0, tolerance);
}

TEST(Elastica, under_a_dead_load_at_its_tip) {
  // EI = 1, P L² = 10.
  std::vector<Point> tips;
  for (const int n : {16, 32, 64}) {
    auto mesh = line(n, [&](int i) { return along_x(static_cast<double>(i) / n); });
    DifferentiableScene solver = statics(mesh, beam(1.0, 1.0, 0.7), 5);
    solver.clamp("start");
    pull_end(solver, {0.0, 0.0, -10.0});
    tips.push_back(at(*mesh, equilibrium(solver, 5), n));
  }
  expect_place("elastica", tips, {1.0 - 0.554996, 0.0, -0.810609}, 1e-3, 1.0);
}

TEST(Bend, of_45_degrees_under_a_force_across_its_plane) {
  // Bathe and Bolourchi 1979: radius 100, section 1 × 1, E = 1e7, ν = 0. The expected position of the tip is that of
  // the inextensible rod.
  std::vector<Point> tips;
  for (const int n : {16, 32, 64}) {
    auto mesh = line(
        n,
        [&](int i) {
          const double angle = 0.25 * pi * i / n;
          return Point{100.0 * std::sin(angle), 100.0 * (1.0 - std::cos(angle)), 0.0};
        },
        Point{0.0, 0.0, 1.0});
    DifferentiableScene solver = statics(mesh, beam(1e7 / 12.0, 1e7 / 12.0, 5e6 / 6.0, 1e9), 10);
    solver.clamp("start");
    pull_end(solver, {0.0, 0.0, 600.0});
    tips.push_back(at(*mesh, equilibrium(solver, 10), n));
  }
  expect_place("45° bend", tips, {47.1513, 15.6851, 53.4686}, 2e-3, 25.0 * pi);
}

TEST(Ring, that_is_open_gives_to_a_force_across_its_plane) {
  // Radius 1, clamped at one end, force F at the other. Castigliano's theorem, with the moments 1 - cos a about the
  // tangent and sin a about the radius, gives u/F = 2π (3/2/GJ + 1/2/EI).
  const double EI = 1.0, GJ = 0.7, force = 1e-5;
  std::vector<double> compliance;
  for (const int n : {16, 32, 64}) {
    auto mesh = line(n, [&](int i) {
      const double angle = 2.0 * pi * i / n;
      return Point{std::cos(angle), std::sin(angle), 0.0};
    });
    DifferentiableScene solver = statics(mesh, beam(EI, EI, GJ));
    solver.clamp("start");
    pull_end(solver, {0.0, 0.0, force});
    compliance.push_back(at(*mesh, equilibrium(solver), n)[2] / force);
  }
  expect_convergence("open ring, u/F", compliance, 2.0 * pi * (1.5 / GJ + 0.5 / EI), 5e-3);
}

TEST(Cantilever, rolls_up_under_a_moment_at_its_end) {
  // M = 2π EI/L gives a closed circle. The gap is the distance between the ends over the length.
  std::vector<double> gap;
  for (const int n : {32, 64, 128}) {
    auto mesh = line(n, [&](int i) { return along_x(static_cast<double>(i) / n); });
    DifferentiableScene solver = statics(mesh, beam(1.0, 1.0, 0.7, 1e4), 12);  // a pure moment causes no axial strain
    solver.clamp("start");
    solver.add_moment("last", {0.0, 2.0 * pi, 0.0});
    const std::vector<double> x = equilibrium(solver, 12);
    const Point start = at(*mesh, x, 0), end = at(*mesh, x, n);
    gap.push_back(1.0 + std::hypot(end[0] - start[0], end[1] - start[1], end[2] - start[2]));
    // The circle has the radius 1/(2π); its point opposite the clamp has z = -1/π.
    const Point half = at(*mesh, x, n / 2);
    EXPECT_NEAR(half[2], -1.0 / pi, 20.0 / (n * n));
  }
  expect_convergence("roll-up, 1 + gap", gap, 1.0, 1e-3);
}

TEST(Ring, of_Michell_is_unstable_beyond_a_twist) {
  // Closed ring of a rod that is straight and untwisted without forces, EI = 1, GJ = 0.8: the critical twist is
  // 2√3 π EI/GJ. The ring is periodic with the period of its segments, so displacements of different wave numbers are
  // decoupled. Displacements with two waves become unstable first.
  const double GJ = 0.8;
  std::vector<double> twists;
  for (const int n : {16, 32, 64}) {
    const double radius = 0.5 / std::sin(pi / n) / n;  // segments of length 1/n
    const auto ring = [&](int i) {
      const double angle = 2.0 * pi * i / n;
      return Point{radius * std::cos(angle), radius * std::sin(angle), 0.0};
    };
    auto mesh = line(n, ring, Point{0.0, 0.0, 1.0}, true, true);  // directors point outwards
    Directions waves;
    for (int field = 0; field < 12; ++field) {
      waves.emplace_back(mesh->rest_positions().size(), 0.0);
      for (int i = 0; i < n; ++i) {
        const bool of_director = field >= 6;
        const double angle = 2.0 * pi * (of_director ? i + 0.5 : i) / n;
        const Point frame[] = {
            {std::cos(angle), std::sin(angle), 0.0}, {-std::sin(angle), std::cos(angle), 0.0}, {0.0, 0.0, 1.0}};
        const double wave = field % 2 == 0 ? std::cos(2.0 * angle) : std::sin(2.0 * angle);
        const std::size_t v = 3 * local_of(*mesh, of_director ? n + i : i);
        for (std::size_t c = 0; c < 3; ++c)
          waves.back()[v + c] = wave * frame[static_cast<std::size_t>(field / 2 % 3)][c] / std::sqrt(n);
      }
    }
    const auto is_stable = [&](double twist) {
      Beam values = beam(1.0, 1.0, GJ);
      values["beam_rest_twist"] = -twist;
      values["beam_rest_curvature"] = 2.0 * n * std::tan(pi / n);  // straight: the mesh is curved away from directors
      DifferentiableScene solver = statics(mesh, values);
      return is_positive(stiffness(solver, mesh->rest_positions(), waves), waves.size());
    };
    twists.push_back(critical_load(1.0, 40.0, is_stable));
  }
  expect_convergence("Michell's ring", twists, 2.0 * std::sqrt(3.0) * pi / GJ, 2e-2);
}

TEST(Rod, of_Greenhill_buckles_under_a_moment_about_its_axis) {
  // Both ends clamped, EI = 1, GJ = 0.8, L = 1: M L/EI = 2.861 π (8.9868). The untwisted rod carries the moment because
  // it would be twisted without forces.
  const double GJ = 0.8;
  std::vector<double> moments;
  for (const int n : {8, 16, 32}) {
    auto mesh = line(n, [&](int i) { return along_x(static_cast<double>(i) / n); });
    const auto is_stable = [&](double moment) {
      Beam values = beam(1.0, 1.0, GJ);
      values["beam_rest_twist"] = -moment / GJ;
      DifferentiableScene solver = statics(mesh, values);
      solver.clamp("start");
      solver.clamp("end");
      const Directions free = free_components(solver);
      return is_positive(stiffness(solver, mesh->rest_positions(), free), free.size());
    };
    moments.push_back(critical_load(4.0, 14.0, is_stable));
  }
  expect_convergence("Greenhill, M L/EI", moments, 8.98682, 2e-2);
}

TEST(Cantilever, buckles_to_its_side_under_a_force_at_its_tip) {
  // EI₁ = 1 sideways, EI₂ large, GJ = 0.8, L = 1: P L² = 4.0126 √(EI₁ GJ).
  const double GJ = 0.8;
  std::vector<double> loads;
  for (const int n : {8, 16, 32}) {
    auto mesh = line(
        n, [&](int i) { return along_x(static_cast<double>(i) / n); }, Point{0.0, 1.0, 0.0});
    const auto is_stable = [&](double load) {
      DifferentiableScene solver = statics(mesh, beam(1.0, 1e5, GJ, 1e9));
      solver.clamp("start");
      pull_end(solver, {0.0, 0.0, -load});
      const Directions free = free_components(solver);
      // Equilibrium of the rod bent in the vertical plane.
      DifferentiableScene guided = statics(mesh, beam(1.0, 1e5, GJ, 1e9));
      guided.clamp("start");
      guided.clamp("all", {false, true, false});
      pull_end(guided, {0.0, 0.0, -load});
      const std::vector<double> x = equilibrium(guided);
      return is_positive(stiffness(solver, x, free), free.size());
    };
    loads.push_back(critical_load(2.0, 6.0, is_stable));
  }
  expect_convergence("lateral buckling", loads, 4.0126 * std::sqrt(GJ), 2e-2);
}

}  // namespace
}  // namespace diffsim::rod_benchmarks_test
