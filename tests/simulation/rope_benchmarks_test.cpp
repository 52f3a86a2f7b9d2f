// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Ropes compared with solutions of the elastica and of small vibrations, on three meshes each: values and convergence
// orders.

#include <gtest/gtest.h>

#include <cmath>

#include "core/file_order.hpp"
#include "simulation/convergence_testing.hpp"
#include "simulation/rope_bodies.hpp"

namespace diffsim::rope_benchmarks_test {
namespace {

using namespace testing_rope;

constexpr double pi = 3.14159265358979323846;

// ---- statics of a clamped rope, L = 1, EI = 1 ----

struct Tip {
  double shortening, drop;
};

/// Displacement of the tip of a horizontal cantilever under its weight and a downward force at its tip.
Tip tip_of_cantilever(int n, double weight, double force) {
  Clamped rope(n, {.density = weight > 0.0 ? weight : 1.0});
  rope.gravity = weight > 0.0 ? 1.0 : 0.0;
  rope.tip_force = {0.0, 0.0, -force};
  const std::vector<double> x = rope.equilibrium(20);
  return {1.0 - x[x.size() - 3], -x[x.size() - 1]};
}

struct DeadLoad {
  double force, shortening, drop;
};
class Elastica : public ::testing::TestWithParam<DeadLoad> {};
INSTANTIATE_TEST_SUITE_P(loads, Elastica,
                         ::testing::Values(DeadLoad{1.0, 0.056433, 0.301721}, DeadLoad{10.0, 0.554996, 0.810609}));
TEST_P(Elastica, under_a_dead_load_at_its_tip) {
  const DeadLoad load = GetParam();
  std::vector<double> shortening, drop;
  for (const int n : {16, 32, 64}) {
    const Tip tip = tip_of_cantilever(n, 0.0, load.force);
    shortening.push_back(tip.shortening);
    drop.push_back(tip.drop);
  }
  expect_convergence("elastica, shortening", shortening, load.shortening, 1e-3);
  expect_convergence("elastica, drop", drop, load.drop, 1e-3);
}

struct OwnWeight {
  double weight, drop, place;
};
class HeavyCantilever : public ::testing::TestWithParam<OwnWeight> {};
INSTANTIATE_TEST_SUITE_P(weights, HeavyCantilever,
                         ::testing::Values(OwnWeight{10.0, 0.700200, 0.656354}, OwnWeight{100.0, 0.937524, 0.159223}));
TEST_P(HeavyCantilever, hangs_from_its_clamp) {
  const OwnWeight of = GetParam();
  std::vector<double> place, drop;
  for (const int n : {16, 32, 64}) {
    const Tip tip = tip_of_cantilever(n, of.weight, 0.0);
    place.push_back(1.0 - tip.shortening);
    drop.push_back(tip.drop);
  }
  expect_convergence("heavy cantilever, x", place, of.place, 5e-3);
  expect_convergence("heavy cantilever, drop", drop, of.drop, 5e-3);
}

// ---- buckling ----

TEST(Column, buckles_under_its_weight) {
  // Load at which the smallest transverse stiffness vanishes: q L³/EI = 7.83735.
  std::vector<double> loads;
  for (const int n : {16, 32, 64}) {
    double low = 7.0, high = 9.0;
    while (high - low > 1e-7) {
      const double q = 0.5 * (low + high);
      Clamped column(n, {.density = q}, {0.0, 0.0, 1.0});
      column.gravity = 1.0;
      (eigenvalues(column.stiffness_across(column.equilibrium(1, {true, true, false}))).front() > 0.0 ? low : high) = q;
    }
    loads.push_back(low);
  }
  expect_convergence("column, q L³/EI", loads, 7.83735, 1e-2);
}

/// Deflection of the middle of a rope, L = 1, EI = 1, with hinged ends. The force P pushes one end towards the other.
double deflection_of_pinned(int n, double P) {
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<std::int64_t, 2>> ends;
  for (int i = 0; i <= n; ++i) points.push_back({static_cast<double>(i) / n, 0.0, 0.0});
  for (std::int64_t i = 0; i < n; ++i) ends.push_back({i, i + 1});
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_SELF, testing_spring::segments(MPI_COMM_SELF, points, ends));
  mesh->define_region("start", VertexList{{0}});
  mesh->define_region("end", VertexList{{n}});
  const DifferentiableMaterial rope{
      "rope", {{"rope_stiffness", 1e7}, {"rope_bending", 1.0}, {"rope_density", 1.0}}, "all"};
  DifferentiableScene solver(mesh, {rope},
                             {.dt = 1.0, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::quasi_static});
  solver.fix("start");
  solver.fix("end", {false, true, true});
  solver.fix("all", {false, true, false});
  std::vector<double> load(3 * points.size(), 0.0), start(3 * points.size(), 0.0);
  const auto& numbers = mesh->vertex_order().file_index();
  std::size_t middle = 0;
  for (std::size_t v = 0; v < points.size(); ++v) {
    if (numbers[v] == n) load[3 * v] = -P;
    if (2 * numbers[v] == n) middle = v;
    // The initial shape is bent to one side and has the rest length.
    const double s = static_cast<double>(numbers[v]) / n, amplitude = 0.1;
    start[3 * v + 2] = amplitude * std::sin(pi * s);
    start[3 * v] = -0.25 * amplitude * amplitude * pi * pi * (s + std::sin(2.0 * pi * s) / (2.0 * pi));
  }
  solver.add_nodal_load(load);
  solver.set_initial_displacement(start);
  return equilibrium(solver)[3 * middle + 2];
}

struct Slope {
  double load, deflection;  // P over the critical load; deflection of the middle over L
};
class PinnedElastica : public ::testing::TestWithParam<Slope> {};
INSTANTIATE_TEST_SUITE_P(slopes, PinnedElastica, ::testing::Values(Slope{1.01540, 0.109707}, Slope{1.51839, 0.395770}));
TEST_P(PinnedElastica, has_buckled) {
  std::vector<double> deflections;
  for (const int n : {32, 64, 128}) deflections.push_back(deflection_of_pinned(n, GetParam().load * pi * pi));
  expect_convergence("pinned elastica, w/L", deflections, GetParam().deflection, 3e-3);
}

// ---- small vibrations ----

TEST(HangingChain, has_its_frequencies) {
  // J₀(2 ω √(L/g)) = 0.
  const double exact[] = {1.20241, 2.76004, 4.32686};
  std::vector<double> omega[3];
  for (const int n : {32, 64, 128}) {
    Clamped chain(n, {.bending = 0.0, .density = 1.0}, {0.0, 0.0, -1.0}, false);
    chain.gravity = 1.0;
    const std::vector<double> squares = chain.squared_frequencies(chain.equilibrium(1, {true, true, false}));
    for (std::size_t k = 0; k < 3; ++k) omega[k].push_back(std::sqrt(squares[k]));
  }
  for (std::size_t k = 0; k < 3; ++k) expect_convergence("hanging chain, ω", omega[k], exact[k], 5e-3);
}

TEST(Cantilever, has_its_frequencies) {
  const double exact[] = {1.875104, 4.694091, 7.854757};
  std::vector<double> beta[3];
  for (const int n : {32, 64, 128}) {
    Clamped beam(n, {.density = 1.0});
    const std::vector<double> squares = beam.squared_frequencies(beam.rest());
    for (std::size_t k = 0; k < 3; ++k) beta[k].push_back(std::pow(squares[k], 0.25));
  }
  for (std::size_t k = 0; k < 3; ++k) expect_convergence("cantilever, β L", beta[k], exact[k], 5e-3);
}

}  // namespace
}  // namespace diffsim::rope_benchmarks_test
