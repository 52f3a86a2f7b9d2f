// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Stiff affine bodies compared with results for rigid bodies.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

#include "diffsim/mesh/construction.hpp"
#include "max_or_nan.hpp"
#include "simulation/affine_scenes.hpp"

namespace diffsim::affine_benchmarks_test {
namespace {

using namespace testing_affine;

// ---- free rotation ----------------------------------------------------------------------------------------------

/// Side lengths of a box of mass 12 kg with these principal moments of inertia.
Vector sides_of(const Vector& I) {
  const double half = 0.5 * (I[0] + I[1] + I[2]);
  return {std::sqrt(half - I[0]), std::sqrt(half - I[1]), std::sqrt(half - I[2])};
}

/// Rotation of a rigid body by Euler's equations and the classical Runge–Kutta method: angular velocity in the body's
/// frame, and the axes of this frame in space.
struct Euler {
  Vector w;
  std::array<Vector, 3> axes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};  // rows: the body's axes in space

  static Euler rate(const Euler& s, const Vector& I) {
    Euler r;
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
      r.w[c] = (I[a] - I[b]) * s.w[a] * s.w[b] / I[c];
      // e_c' = ω × e_c = ω_b e_a - ω_a e_b.
      for (std::size_t i = 0; i < 3; ++i) r.axes[c][i] = s.w[b] * s.axes[a][i] - s.w[a] * s.axes[b][i];
    }
    return r;
  }
  Euler plus(const Euler& r, double h) const {
    Euler s = *this;
    for (std::size_t c = 0; c < 3; ++c) {
      s.w[c] += h * r.w[c];
      for (std::size_t i = 0; i < 3; ++i) s.axes[c][i] += h * r.axes[c][i];
    }
    return s;
  }
  void step(const Vector& I, double h) {
    const Euler k1 = rate(*this, I), k2 = rate(plus(k1, 0.5 * h), I), k3 = rate(plus(k2, 0.5 * h), I),
                k4 = rate(plus(k3, h), I);
    *this = plus(k1, h / 6.0).plus(k2, h / 3.0).plus(k3, h / 3.0).plus(k4, h / 6.0);
  }
};

/// Scene of a free rotating box. The principal axes of its initial position are the coordinate axes.
DifferentiableScene spinning_box(const Vector& I, const Vector& w, double youngs_modulus,
                                 DifferentiableSolver options) {
  std::vector<NamedMesh> bodies;
  const Vector size = sides_of(I);
  bodies.push_back(affine_box(MPI_COMM_WORLD, "box", size, {0, 0, 0}));
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  options.gravity = {0.0, 0.0, 0.0};
  options.damping = 1.0;
  options.implicit.newton.tolerance = 1e-12;
  DifferentiableScene solver(mesh, {stiff(youngs_modulus, 12.0 / (size[0] * size[1] * size[2]))}, options);
  std::vector<double> velocity;
  add_rigid_velocity(*mesh, "box", {0, 0, 0}, w, velocity);
  solver.set_initial_velocity(velocity);
  return solver;
}

/// Largest error of the body's edges at the end, relative to the edges' lengths. The reference is Euler's equations.
double error_of_orientation(const Vector& I, const Vector& w, double end, int steps, const std::string& integrator) {
  DifferentiableScene solver =
      spinning_box(I, w, 1e6, {.dt = end / steps, .substeps = 1, .integrator = integrator_named(integrator)});
  solver.model().prepare();
  State state = solver.initial_state();
  const Motion start = motion_of(state, 12.0);
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  const Motion last = motion_of(state, 12.0);
  Euler exact{w};
  for (int n = 0; n < 20000; ++n) exact.step(I, end / 20000);
  double worst = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    double square = 0.0, length = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      double turned = 0.0;
      for (std::size_t c = 0; c < 3; ++c) turned += start.edges[k][c] * exact.axes[c][i];
      square += std::pow(last.edges[k][i] - turned, 2);
      length += std::pow(start.edges[k][i], 2);
    }
    worst = max_or_nan(worst, std::sqrt(square / length));
  }
  return worst;
}

TEST(affine_benchmarks, free_rotation_converges_at_second_order) {
  const Vector I{1.0, 2.0, 2.5}, w{0.3, 1.0, 0.2};
  for (const std::string integrator : {"newmark", "bdf2"}) {
    const double coarse = error_of_orientation(I, w, 4.0, 100, integrator),
                 fine = error_of_orientation(I, w, 4.0, 200, integrator);
    print(integrator.c_str(), std::log2(coarse / fine), 2.0);
    EXPECT_GT(std::log2(coarse / fine), 1.8) << integrator;
    EXPECT_LT(fine, integrator == "newmark" ? 2e-3 : 8e-3) << integrator;
  }
}

TEST(affine_benchmarks, explicit_steps_keep_the_angular_momentum) {
  const Vector I{1.0, 2.0, 2.5}, w{0.01, 1.0, 0.01};
  DifferentiableScene solver =
      spinning_box(I, w, 1e4, {.dt = 0.02, .substeps = 20, .integrator = Integrator::velocity_verlet});
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < 1000; ++n) solver.step(n, state);
  const Motion last = motion_of(state, 12.0);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(last.angular_momentum[c], I[c] * w[c], 1e-10);
}

TEST(affine_benchmarks, vibrates_as_stiff_and_heavy_as_its_volume) {
  // A cube is stretched along x. For ν = 0 and small strains ω² = E V/(ρ V a²/12). After half a period the cube is
  // compressed.
  constexpr double a = 0.2, E = 1e5, density = 700.0, strain = 1e-3;
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(MPI_COMM_WORLD, "cube", {a, a, a}, {0, 0, 0}));
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  const double half_period = std::numbers::pi / std::sqrt(12.0 * E / (density * a * a));
  constexpr int steps = 50;
  DifferentiableScene solver(
      mesh, {stiff(E, density)},
      {.dt = half_period / steps, .substeps = 4, .gravity = {0, 0, 0}, .integrator = Integrator::velocity_verlet});
  std::vector<double> stretch;
  for (int v = 0; v < 4; ++v)
    stretch.insert(stretch.end(), {strain * mesh->rest_positions()[3 * static_cast<std::size_t>(v)], 0.0, 0.0});
  solver.set_initial_displacement(stretch);
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  const std::vector<double> x = state["positions"].to_host();
  for (std::size_t i = 0; i < 12; i += 3)
    EXPECT_NEAR(x[i] - mesh->rest_positions()[i], -stretch[i], 5e-3 * std::abs(stretch[i]));
}

// ---- on a slope -------------------------------------------------------------------------------------------------

DifferentiableScene stiff_on_slope(NamedMesh body, const Slope& slope, double dt) {
  return on_slope(std::move(body), stiff(1e7, 1000.0), {.dt = dt, .integrator = Integrator::bdf2}, slope);
}

TEST(affine_benchmarks, a_block_holds_and_slides_on_a_slope) {
  DifferentiableScene holds = stiff_on_slope(block(), {0.5, 0.51, {}}, 0.01);
  EXPECT_LT(run(holds, 50).v.back(), 1e-3);  // friction keeps the velocity below ε_v
  DifferentiableScene slides = stiff_on_slope(block(), {0.5, 0.48, {}}, 0.01);
  const double angle = std::atan(0.5), expected = 9.81 * (std::sin(angle) - 0.48 * std::cos(angle));
  const Track track = run(slides, 50);  // in the first steps the block settles on the plane
  const double acceleration = (track.v[50] - track.v[20]) / 0.3;
  print("slides on a slope, m/s²", acceleration, expected);
  EXPECT_NEAR(acceleration, expected, 1e-4 * expected);
}

TEST(affine_benchmarks, a_block_stops) {
  DifferentiableScene scene = stiff_on_slope(block(), {0.0, 0.4, {1.0, 0.0, 0.0}}, 0.005);
  expect_stop(scene, 0.4, 80);
}

TEST(affine_benchmarks, a_ball_rolls_down_a_slope) {
  DifferentiableScene scene = stiff_on_slope(ball(), {0.3, 0.5, {}}, 0.01);
  expect_rolling(scene, 0.3, 50);
}

TEST(affine_benchmarks, a_sliding_ball_begins_to_roll) {
  DifferentiableScene scene = stiff_on_slope(ball(), {0.0, 0.2, {1.0, 0.0, 0.0}}, 0.25 / 60);
  expect_slide_and_roll(scene, 0.2, 60);
}

// ---- impact -----------------------------------------------------------------------------------------------------

TEST(affine_benchmarks, equal_bodies_exchange_their_velocities) {
  DifferentiableSolver options{.integrator = Integrator::newmark};
  options.implicit.newton.tolerance = 1e-12;
  expect_exchange(stiff(1e9, 1000.0), options, {200, 500});
}

TEST(affine_benchmarks, a_body_bounces) { expect_bounce(stiff(4e9, 1000.0)); }

}  // namespace
}  // namespace diffsim::affine_benchmarks_test
