// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Density filter: constants, integrals, bounds, decay, adjoint, independence of the number of ranks; and the design of
// a bar in tension, whose stiffest distribution of material is known.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/inverse/unknown.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "diffsim/simulation/scene.hpp"
#include "inverse/hessian_check.hpp"

namespace diffsim::density_filter_test {
namespace {

using Numbers = std::vector<double>;

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum_over_ranks(sum, MPI_COMM_WORLD);
}

/// x coordinates of the centroids of this rank's tetrahedra.
Numbers centroids(const TetrahedralMesh& mesh) {
  Numbers x;
  for (int cell = 0; cell < mesh.num_cells(); ++cell) {
    double sum = 0.0;
    for (int a = 0; a < 4; ++a)
      sum += mesh.rest_positions()[3 * static_cast<std::size_t>(mesh.cells()[static_cast<std::size_t>(4 * cell + a)])];
    x.push_back(0.25 * sum);
  }
  return x;
}

TEST(density_filter, keeps_constants_integrals_and_bounds) {
  // The volumes of the tetrahedra increase along x.
  MeshData data = box_mesh({0.6, 0.2, 0.3}, {6, 2, 3}, rank_of(MPI_COMM_WORLD), num_ranks(MPI_COMM_WORLD));
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3) data.coordinates[i] *= 0.4 + data.coordinates[i];
  const auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, std::move(data));
  const DensityFilter filter(*mesh, 0.25);
  const Numbers volumes = ValueGradient::across_faces(*mesh).lumped(), x = centroids(*mesh);
  ASSERT_EQ(filter.size(), x.size());
  for (const double value : filter.times(Numbers(x.size(), 0.4))) EXPECT_NEAR(value, 0.4, 1e-9);
  Numbers rho, other;
  for (const double one : x) {
    rho.push_back(one < 0.25 ? 1.0 : 0.0);
    other.push_back(std::cos(17.0 * one));
  }
  const Numbers filtered = filter.times(rho);
  EXPECT_NEAR(dot(volumes, filtered), dot(volumes, rho), 1e-10);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_GT(filtered[i], -1e-9);
    EXPECT_LT(filtered[i], 1.0 + 1e-9);
  }
  EXPECT_NEAR(dot(filter.times(rho), other), dot(rho, filter.transpose_times(other)), 1e-8);
}

// In a long bar, the filtered densities of a step decay as exp(-|x|/r) with r = R/(2 √3).
TEST(density_filter, smooths_a_step_over_its_radius) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {2.0, 0.05, 0.05}, {80, 2, 2});
  constexpr double radius = 0.5, r = 0.14433756729740643;
  const DensityFilter filter(*mesh, radius);
  const Numbers x = centroids(*mesh);
  Numbers rho;
  for (const double one : x) rho.push_back(one < 1.0 ? 1.0 : 0.0);
  const Numbers filtered = filter.times(rho);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double away = std::abs(x[i] - 1.0), half = 0.5 * std::exp(-away / r);
    EXPECT_NEAR(filtered[i], x[i] < 1.0 ? 1.0 - half : half, 0.03) << x[i];
  }
}

TEST(density_filter, refuses_a_radius_that_is_not_positive) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.1, 0.1, 0.1}, {2, 2, 2});
  EXPECT_THROW(DensityFilter(*mesh, 0.0), Error);
  EXPECT_THROW(DensityFilter(*mesh, std::nan("")), Error);
}

/// Quarter of a bar in tension, in static equilibrium.
struct Bar {
  Bar() : scene(make_scene()) {
    scene.fix("x_min", {true, false, false});
    scene.fix("y_min", {false, true, false});
    scene.fix("z_min", {false, false, true});
    scene.add_traction("x_max", {40.0, 0.0, 0.0});
    compliance = std::make_unique<SensorValueLoss>(scene.sensor({.quantity = SensorQuantity::work}), Numbers{1.0},
                                                   std::vector<int>{1});
  }
  static DifferentiableScene make_scene() {
    const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.1, 0.1}, {8, 2, 2});
    DifferentiableSolver options{.dt = 1.0, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::quasi_static};
    options.implicit.newton.tolerance = 1e-12;
    return {mesh,
            {{"neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.0}, {"density", 1000.0}}, "all"}},
            options};
  }
  InverseProblem problem(const MaterialDistribution& distribution, const Numbers& start = {}) {
    Unknown unknown{.parameter = "youngs_modulus"};
    unknown.distribution = distribution;
    unknown.start = start;
    return {scene.model(), scene.initial_state(), 1, *compliance, {unknown}};
  }
  Numbers volumes() const { return ValueGradient::across_faces(*scene.mesh()).lumped(); }

  DifferentiableScene scene;
  std::unique_ptr<Loss> compliance;
};

MaterialDistribution filtered(const Bar& bar, double penalty) {
  return {.penalty = penalty, .minimum = 1e-2, .filter = std::make_shared<DensityFilter>(*bar.scene.mesh(), 0.15)};
}

TEST(distribution, has_the_derivatives_that_differences_have) {
  Bar bar;
  for (const double penalty : {1.0, 3.0}) {
    InverseProblem problem = bar.problem(filtered(bar, penalty));
    Numbers u, direction, g, unused;
    for (const double x : centroids(*bar.scene.mesh())) {
      u.push_back(0.5 + 0.3 * std::sin(20.0 * x));
      direction.push_back(std::cos(31.0 * x));
    }
    problem.gradient(u, g);
    const auto at = [&](double h) {
      Numbers moved = u;
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += h * direction[i];
      return problem.value(moved);
    };
    constexpr double h = 2e-3;
    const double slope =
        (45.0 * (at(h) - at(-h)) - 9.0 * (at(2 * h) - at(-2 * h)) + at(3 * h) - at(-3 * h)) / (60.0 * h);
    EXPECT_NEAR(dot(g, direction), slope, 1e-8 * std::abs(slope));
    const HessianCheck check = check_hessian(problem, u);
    EXPECT_TRUE(check.passed) << check.symmetry << " " << check.product << " " << check.difference;
  }
}

// With the penalty 1, the compliance is a convex function of the densities, and the load is the same in each section,
// so the stiffest bar of a given volume is uniform.
TEST(distribution, of_the_stiffest_bar_is_uniform) {
  Bar bar;
  const Numbers x = centroids(*bar.scene.mesh()), volumes = bar.volumes();
  Numbers start;
  for (const double one : x) start.push_back(0.5 + 0.3 * std::sin(20.0 * one));
  for (const Optimiser method : {Optimiser::mma, Optimiser::almm}) {
    InverseProblem problem = bar.problem({.penalty = 1.0, .minimum = 1e-2}, start);
    OptimiserOptions options;
    options.method = method;
    options.max_iterations = 100;
    options.gradient_tolerance = 1e-3;
    options.constraints = {{make_mean_function(problem, 0, bar.volumes()), 0.0, 0.4}};
    const OptimiserResult found = optimise(problem, options);
    EXPECT_TRUE(method == Optimiser::mma || found.converged) << found.reason;
    EXPECT_NEAR(found.constraints[0], 0.4, 1e-6);
    const double least = problem.value(Numbers(problem.size(), 0.4));
    EXPECT_NEAR(found.loss, least, 2e-4 * least);
    // Differences between neighbouring tetrahedra have little effect on the compliance, so sections are compared.
    for (int section = 0; section < 8; ++section) {
      Numbers inside;
      for (const double one : x) inside.push_back(static_cast<int>(one / 0.05) == section ? 1.0 : 0.0);
      for (std::size_t i = 0; i < x.size(); ++i) inside[i] *= volumes[i];
      EXPECT_NEAR(dot(inside, found.u) / dot(inside, Numbers(x.size(), 1.0)), 0.4, 0.004) << section;
    }
  }
}

TEST(distribution, refuses_bad_input) {
  Bar bar;
  EXPECT_THROW(bar.problem({.penalty = 0.5}), Error);
  EXPECT_THROW(bar.problem({.minimum = 0.0}), Error);
  const auto other = TetrahedralMesh::box(MPI_COMM_WORLD, {0.1, 0.1, 0.1}, {2, 2, 2});
  EXPECT_THROW(bar.problem({.filter = std::make_shared<DensityFilter>(*other, 0.1)}), Error);
  InverseProblem problem = bar.problem({});
  EXPECT_THROW(problem.set_penalty(0, 0.0), Error);
  EXPECT_EQ(problem.unknowns()[0].lower, 0.0);
  EXPECT_EQ(problem.unknowns()[0].upper, 1.0);
  EXPECT_EQ(problem.start(), Numbers(problem.size(), 1.0));
}

TEST(distribution, changes_its_penalty) {
  Bar bar;
  InverseProblem problem = bar.problem({.penalty = 1.0});
  const Numbers u(problem.size(), 0.5);
  problem.set_penalty(0, 3.0);
  problem.set(u);
  for (const double E : bar.scene.parameters().at("youngs_modulus").field.to_host())
    EXPECT_NEAR(E, 1e5 * (1e-3 + (1.0 - 1e-3) / 8.0), 1e-9);
}

}  // namespace
}  // namespace diffsim::density_filter_test
