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
  explicit Bar(double gravity = 0.0) : scene(make_scene(gravity)) {
    scene.fix("x_min", {true, false, false});
    scene.fix("y_min", {false, true, false});
    scene.fix("z_min", {false, false, true});
    scene.add_traction("x_max", {40.0, 0.0, 0.0});
    compliance = std::make_unique<SensorValueLoss>(scene.sensor({.quantity = SensorQuantity::work}), Numbers{1.0},
                                                   std::vector<int>{1});
  }
  static DifferentiableScene make_scene(double gravity) {
    const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.1, 0.1}, {8, 2, 2});
    DifferentiableSolver options{.dt = 1.0, .gravity = {gravity, 0.0, 0.0}, .integrator = Integrator::quasi_static};
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

/// Compares the gradient at u with a difference of sixth order, along a direction that depends on x coordinates of
/// centroids, and checks products with the Hessian.
void expect_derivatives(InverseProblem& problem, const Numbers& u, const Numbers& x, double tolerance) {
  Numbers direction, g;
  for (const double one : x) direction.push_back(std::cos(31.0 * one));
  problem.gradient(u, g);
  const auto at = [&](double h) {
    Numbers moved = u;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += h * direction[i];
    return problem.value(moved);
  };
  constexpr double h = 2e-3;
  const double slope = (45.0 * (at(h) - at(-h)) - 9.0 * (at(2 * h) - at(-2 * h)) + at(3 * h) - at(-3 * h)) / (60.0 * h);
  EXPECT_NEAR(dot(g, direction), slope, tolerance * std::abs(slope));
  const HessianCheck check = check_hessian(problem, u);
  EXPECT_TRUE(check.passed) << check.symmetry << " " << check.product << " " << check.difference;
}

TEST(distribution, has_the_derivatives_that_differences_have) {
  Bar bar;
  const Numbers x = centroids(*bar.scene.mesh());
  for (const double penalty : {1.0, 3.0}) {
    InverseProblem problem = bar.problem(filtered(bar, penalty));
    Numbers u;
    for (const double one : x) u.push_back(0.5 + 0.3 * std::sin(20.0 * one));
    expect_derivatives(problem, u, x, 1e-8);
  }
}

/// Distribution with the density 1 in the first eighth of the bar, and the density 0 in another eighth.
MaterialDistribution prescribed(Bar& bar, double penalty) {
  if (!bar.scene.mesh()->has_region("grip")) {
    bar.scene.mesh()->define_region("grip", BoxShape{{-1.0, -1.0, -1.0}, {0.0501, 1.0, 1.0}});
    bar.scene.mesh()->define_region("hole", BoxShape{{0.1499, -1.0, 0.0499}, {0.2501, 1.0, 1.0}});
  }
  MaterialDistribution made = filtered(bar, penalty);
  made.prescribed = prescribed_densities(*bar.scene.mesh(), {"grip"}, {"hole"});
  return made;
}

TEST(distribution, keeps_prescribed_densities) {
  Bar bar;
  const MaterialDistribution made = prescribed(bar, 3.0);
  const Numbers& given = made.prescribed;
  InverseProblem problem = bar.problem(made, {0.3});
  const Numbers u = problem.start(), low = problem.lower_bounds(), high = problem.upper_bounds();
  ASSERT_EQ(given.size(), u.size());
  Numbers any;  // unknowns that ignore the bounds
  for (std::size_t i = 0; i < u.size(); ++i) {
    const bool is_free = std::isnan(given[i]);
    EXPECT_EQ(u[i], is_free ? 0.3 : given[i]);
    EXPECT_EQ(low[i], is_free ? 0.0 : given[i]);
    EXPECT_EQ(high[i], is_free ? 1.0 : given[i]);
    any.push_back(is_free ? 0.3 : 0.6);
  }
  // The volume includes the prescribed densities.
  Numbers g;
  EXPECT_NEAR(make_mean_function(problem, 0, bar.volumes())->gradient(u, g), 0.125 + 0.75 * 0.3, 1e-12);

  problem.set(any);
  const Numbers modulus = bar.scene.parameters().at("youngs_modulus").field.to_host();
  for (std::size_t i = 0; i < u.size(); ++i) {
    if (std::isnan(given[i])) {
      EXPECT_GT(modulus[i], 1e3);
      EXPECT_LT(modulus[i], 1e5);
    } else {
      EXPECT_NEAR(modulus[i], given[i] == 1.0 ? 1e5 : 1e3, 1e-9);
    }
  }
  EXPECT_NEAR(problem.value(any), problem.value(u), 1e-9 * problem.value(u));
  problem.gradient(any, g);
  for (std::size_t i = 0; i < u.size(); ++i)
    if (!std::isnan(given[i])) {
      EXPECT_EQ(g[i], 0.0);
    }
}

TEST(distribution, with_prescribed_densities_has_the_derivatives_that_differences_have) {
  Bar bar;
  const Numbers x = centroids(*bar.scene.mesh());
  InverseProblem problem = bar.problem(prescribed(bar, 3.0));
  Numbers u;
  for (const double one : x) u.push_back(0.7 + 0.2 * std::sin(20.0 * one));
  expect_derivatives(problem, u, x, 1e-7);
}

// The densities determine Young's modulus and the mass density, with different exponents.
TEST(distribution, of_two_parameters_has_the_derivatives_that_differences_have) {
  Bar bar(1.0);
  const Numbers x = centroids(*bar.scene.mesh());
  MaterialDistribution made = prescribed(bar, 3.0);
  made.also = {{"density", 1.5, 0.02}};
  InverseProblem problem = bar.problem(made);
  EXPECT_EQ(problem.unknowns()[0].parameters(), (std::vector<std::string>{"youngs_modulus", "density"}));
  Numbers u;
  for (const double one : x) u.push_back(0.7 + 0.2 * std::sin(20.0 * one));
  problem.set(u);
  const Numbers modulus = bar.scene.parameters().at("youngs_modulus").field.to_host(),
                density = bar.scene.parameters().at("density").field.to_host();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double rho = std::cbrt((modulus[i] / 1e5 - 0.01) / 0.99);
    EXPECT_NEAR(density[i], 1000.0 * (0.02 + 0.98 * std::pow(std::max(rho, 0.0), 1.5)), 1e-4);
  }
  expect_derivatives(problem, u, x, 1e-7);
  // The weight matters.
  Bar other_bar(1.0);  // with the modulus and the density of the material as p0
  InverseProblem without = other_bar.problem(prescribed(other_bar, 3.0));
  Numbers g, other;
  problem.gradient(u, g);
  without.gradient(u, other);
  double change = 0.0, largest = 0.0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    change = std::max(change, std::abs(g[i] - other[i]));
    largest = std::max(largest, std::abs(g[i]));
  }
  EXPECT_GT(sum_over_ranks(change, MPI_COMM_WORLD), 1e-6 * sum_over_ranks(largest, MPI_COMM_WORLD));
}

TEST(distribution, with_prescribed_densities_is_improved_by_mma) {
  Bar bar;
  const MaterialDistribution made = prescribed(bar, 1.0);
  InverseProblem problem = bar.problem(made, {0.3});
  const double first = problem.value(problem.start());
  OptimiserOptions options;
  options.method = Optimiser::mma;
  options.max_iterations = 5;
  options.constraints = {{make_mean_function(problem, 0, bar.volumes()), 0.0, 0.4}};
  const OptimiserResult found = optimise(problem, options);
  EXPECT_LT(found.loss, first);
  EXPECT_LE(found.constraints[0], 0.4 + 1e-4);
  for (std::size_t i = 0; i < found.u.size(); ++i)
    if (!std::isnan(made.prescribed[i])) {
      EXPECT_EQ(found.u[i], made.prescribed[i]);
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
  for (const DistributedParameter& also :
       {DistributedParameter{"youngs_modulus"}, {"nothing"}, {"density", 0.5}, {"density", 1.0, 1.0}}) {
    MaterialDistribution made;
    made.also = {also};
    EXPECT_THROW(bar.problem(made), Error) << also.parameter;
  }
  const auto two_unknowns = [&](const std::vector<DistributedParameter>& also) {
    Unknown design{.parameter = "youngs_modulus"};
    design.distribution = MaterialDistribution{};
    design.distribution->also = also;
    return InverseProblem(bar.scene.model(), bar.scene.initial_state(), 1, *bar.compliance,
                          {design, {.parameter = "density"}});
  };
  EXPECT_NO_THROW(two_unknowns({}));
  EXPECT_THROW(two_unknowns({{"density"}}), Error);
  const std::size_t size = bar.volumes().size();
  InverseProblem free = bar.problem({}), solid = bar.problem({.prescribed = Numbers(size, 1.0)});
  EXPECT_THROW(free.add(solid), Error);
  EXPECT_THROW(bar.problem({.prescribed = Numbers(size + 1, 1.0)}), Error);
  EXPECT_THROW(bar.problem({.prescribed = Numbers(size, 1.5)}), Error);
  prescribed(bar, 3.0);  // defines the regions
  EXPECT_THROW(prescribed_densities(*bar.scene.mesh(), {"x_min"}, {}), Error);
  EXPECT_THROW(prescribed_densities(*bar.scene.mesh(), {"grip"}, {"all"}), Error);
  EXPECT_THROW(prescribed_densities(*bar.scene.mesh(), {"grap"}, {}), Error);
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
