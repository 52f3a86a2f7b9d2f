// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Reactions of fixed and moved regions: balances of forces and of momentum. Derivatives are tested in
// tests/simulation/whole_gradient_test.cpp.

#include "sensor/reaction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "diffsim/simulation/scene.hpp"
#include "dynamics/system_model.hpp"

namespace diffsim::reaction_test {
namespace {

constexpr double density = 1100.0;
const std::array<double, 3> size{0.4, 0.2, 0.1};

DifferentiableScene make_bar(const std::string& integrator) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, size, {4, 2, 1});
  DifferentiableMaterial rubber{
      "stable_neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.4}, {"density", density}}, "all"};
  DifferentiableSolver options{.dt = 0.01, .gravity = {0.5, -9.8, 1.5}, .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-13;
  DifferentiableScene scene(mesh, {rubber}, options);
  scene.fix("x_min");
  return scene;
}

std::shared_ptr<Sensor> make_reaction(DifferentiableScene& scene, const std::string& region) {
  return scene.sensor({.quantity = SensorQuantity::reaction, .place = {.region = region}});
}

double volume() { return size[0] * size[1] * size[2]; }

std::array<double, 3> momentum(const System& system, const State& state) {
  const std::vector<double> m = system.mass().to_host(), v = state["velocities"].to_host();
  std::array<double, 3> sum{};
  for (std::size_t i = 0; i < v.size(); ++i) sum[i % 3] += m[i / 3] * v[i];
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

TEST(reaction, balances_weight_and_loads_of_each_step) {
  DifferentiableScene scene = make_bar("quasi_static");
  scene.add_traction("x_max", {100.0, -50.0, 20.0, 300.0, 40.0, -70.0});  // Pa, for two steps
  const auto reaction = make_reaction(scene, "x_min");
  State state = scene.initial_state();
  scene.model().prepare();
  const std::array<std::array<double, 3>, 2> traction{{{100.0, -50.0, 20.0}, {300.0, 40.0, -70.0}}};
  const std::array<double, 3> g{0.5, -9.8, 1.5};
  for (int n = 1; n <= 2; ++n) {
    scene.step(n - 1, state);
    const std::vector<double> R = reaction->value(n, state);
    for (std::size_t c = 0; c < 3; ++c) {
      const double load = density * volume() * g[c] + size[1] * size[2] * traction[static_cast<std::size_t>(n) - 1][c];
      EXPECT_NEAR(R[c], -load, 1e-9 * std::abs(load)) << n << " " << c;
    }
  }
}

TEST(reaction, is_the_rate_of_momentum_less_the_weight) {
  DifferentiableScene scene = make_bar("implicit_euler");
  const auto reaction = make_reaction(scene, "x_min");
  State state = scene.initial_state();
  scene.model().prepare();
  const std::array<double, 3> g{0.5, -9.8, 1.5};
  std::array<double, 3> before = momentum(scene.system(), state);
  for (int n = 1; n <= 5; ++n) {
    scene.step(n - 1, state);
    const std::array<double, 3> now = momentum(scene.system(), state);
    const std::vector<double> R = reaction->value(n, state);
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(R[c], (now[c] - before[c]) / scene.dt() - density * volume() * g[c], 1e-8) << n << " " << c;
    before = now;
  }
}

TEST(reaction, counts_the_components_that_are_fixed) {
  DifferentiableScene scene = make_bar("quasi_static");
  scene.fix("x_max", {false, true, false});
  const auto reaction = make_reaction(scene, "x_max"), foot = make_reaction(scene, "x_min");
  State state = scene.initial_state();
  scene.model().prepare();
  scene.step(0, state);
  const std::vector<double> R = reaction->value(1, state), other = foot->value(1, state);
  EXPECT_EQ(R[0], 0.0);
  EXPECT_GT(R[1], 1.0);
  EXPECT_EQ(R[2], 0.0);
  EXPECT_NEAR(R[1] + other[1], density * volume() * 9.8, 1e-8);
}

TEST(reaction, is_refused_for_a_region_without_fixed_components) {
  DifferentiableScene scene = make_bar("quasi_static");
  try {
    make_reaction(scene, "x_max");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "region 'x_max' has no reaction, because none of its vertices is fixed or moved");
    EXPECT_EQ(error.kind(), ErrorKind::input);
  }
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(SensorLoss(make_reaction(scene, "x_min"), {{3, {nan, nan, nan}}}), Error);
}

TEST(reaction, loss_is_half_the_mean_square_of_what_is_observed) {
  DifferentiableScene scene = make_bar("quasi_static");
  const auto reaction = make_reaction(scene, "x_min");
  State state = scene.initial_state();
  scene.model().prepare();
  scene.step(0, state);
  const std::vector<double> R = reaction->value(1, state);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  SensorLoss loss(reaction, {{1, {1.0, nan, -2.0}}, {2, {nan, nan, nan}}, {4, {nan, 1.0, nan}}});
  EXPECT_TRUE(loss.observes(1));
  EXPECT_FALSE(loss.observes(2));
  double value = loss.value(1, state, scene.parameters());
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double expected = ((R[0] - 1.0) * (R[0] - 1.0) + (R[2] + 2.0) * (R[2] + 2.0)) / (2.0 * 2.0);
  EXPECT_NEAR(value, expected, 1e-12 * expected);
}

}  // namespace
}  // namespace diffsim::reaction_test
