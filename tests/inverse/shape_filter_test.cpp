// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Filter of shapes: constants, fixed vertices, decay, adjoint; derivatives of a filtered rest shape; relative volume
// and distortion of the rest shape.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/inverse/unknown.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "diffsim/simulation/scene.hpp"
#include "inverse/hessian_check.hpp"

namespace diffsim::shape_filter_test {
namespace {

using Numbers = std::vector<double>;

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < b.size(); ++i) sum += a[i] * b[i];
  return sum_over_ranks(sum, MPI_COMM_WORLD);
}

/// Returns [owned vertices, 3] values of a function of the rest position and the component.
template <class Function>
Numbers on_vertices(const TetrahedralMesh& mesh, const Function& function) {
  Numbers values;
  for (int v = 0; v < mesh.num_owned_vertices(); ++v)
    for (int c = 0; c < 3; ++c) values.push_back(function(&mesh.rest_positions()[3 * static_cast<std::size_t>(v)], c));
  return values;
}

TEST(shape_filter, keeps_constants_and_has_an_adjoint) {
  for (const int order : {1, 2}) {
    const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.2, 0.3}, {4, 2, 3}, order);
    const ShapeFilter filter(*mesh, 0.25);
    ASSERT_EQ(filter.size(), 3 * static_cast<std::size_t>(mesh->num_owned_vertices()));
    const Numbers constant = on_vertices(*mesh, [](const double*, int c) { return 0.3 * c - 0.1; });
    const Numbers filtered = filter.times(constant);
    for (std::size_t i = 0; i < filtered.size(); ++i) EXPECT_NEAR(filtered[i], constant[i], 1e-9);
    const ShapeFilter held(*mesh, 0.25, {"x_min", "y_max"}, {true, false, true});
    const Numbers s = on_vertices(*mesh, [](const double* X, int c) { return std::sin(17.0 * X[0] + 5.0 * X[1] + c); });
    const Numbers w = on_vertices(*mesh, [](const double* X, int c) { return std::cos(9.0 * X[2] - 4.0 * X[0] * c); });
    EXPECT_NEAR(dot(held.times(s), w), dot(s, held.transpose_times(w)), 1e-8);
    const Numbers moved = held.times(s);
    std::int64_t movable = 0;
    const Numbers is_fixed = on_vertices(
        *mesh, [](const double* X, int c) { return X[0] < 1e-9 || X[1] > 0.2 - 1e-9 || c == 1 ? 1.0 : 0.0; });
    for (std::size_t i = 0; i < moved.size(); ++i) {
      if (is_fixed[i] == 1.0)
        EXPECT_EQ(moved[i], 0.0);
      else
        movable += std::abs(moved[i]) > 1e-6 ? 1 : 0;
    }
    EXPECT_GT(sum_over_ranks(movable, MPI_COMM_WORLD), 20);
  }
}

// In a long bar whose end is fixed, a constant change c becomes c (1 - exp(-x/r)) with r = R/(2 √3).
TEST(shape_filter, grows_from_a_fixed_end_over_its_radius) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.05, 0.05}, {80, 2, 2});
  constexpr double r = 0.14433756729740643;
  const ShapeFilter filter(*mesh, 0.5, {"x_min"});
  const Numbers filtered = filter.times(on_vertices(*mesh, [](const double*, int) { return 1.0; }));
  const Numbers expected =
      on_vertices(*mesh, [](const double* X, int) { return 1.0 - std::cosh((1.0 - X[0]) / r) / std::cosh(1.0 / r); });
  for (std::size_t i = 0; i < filtered.size(); ++i) EXPECT_NEAR(filtered[i], expected[i], 2e-3) << i;
}

TEST(shape_filter, refuses_bad_input) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.1, 0.1, 0.1}, {2, 2, 2});
  EXPECT_THROW(ShapeFilter(*mesh, 0.0), Error);
  EXPECT_THROW(ShapeFilter(*mesh, std::nan("")), Error);
  EXPECT_THROW(ShapeFilter(*mesh, 0.1, {"nowhere"}), Error);
  EXPECT_THROW(ShapeFilter(*mesh, 0.1, {}, {false, false, false}), Error);
}

/// Bar that is fixed at one end and loaded at the other, in static equilibrium.
struct Bar {
  explicit Bar(int order) : scene(make_scene(order)) {
    scene.fix("x_min");
    scene.add_traction("x_max", {0.0, -40.0, 5.0});
    stress = std::make_unique<SensorValueLoss>(scene.sensor({.quantity = SensorQuantity::von_mises, .power = 6.0}),
                                               Numbers{1.0}, std::vector<int>{1});
  }
  static DifferentiableScene make_scene(int order) {
    const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.1, 0.1}, {4, 1, 1}, order);
    DifferentiableSolver options{.dt = 1.0, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::quasi_static};
    options.implicit.newton.tolerance = 1e-13;
    return {mesh,
            {{"neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"}},
            options};
  }
  InverseProblem problem(std::shared_ptr<const ShapeFilter> filter) {
    Unknown unknown{.parameter = "rest_positions"};
    unknown.carries = "positions";
    unknown.shape_filter = std::move(filter);
    return {scene.model(), scene.initial_state(), 1, *stress, {unknown}};
  }
  const TetrahedralMesh& mesh() const { return *scene.mesh(); }

  DifferentiableScene scene;
  std::unique_ptr<Loss> stress;
};

/// Sixth-order difference of f along `direction` at u.
template <class Function>
double slope_of(const Function& f, const Numbers& u, const Numbers& direction, double h) {
  const auto at = [&](double factor) {
    Numbers moved = u;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += factor * h * direction[i];
    return f(moved);
  };
  return (45.0 * (at(1) - at(-1)) - 9.0 * (at(2) - at(-2)) + at(3) - at(-3)) / (60.0 * h);
}

TEST(filtered_shape, has_the_derivatives_that_differences_have) {
  for (const int order : {1, 2}) {
    Bar bar(order);
    InverseProblem problem =
        bar.problem(std::make_shared<ShapeFilter>(bar.mesh(), 0.15, std::vector<std::string>{"x_min"}));
    EXPECT_EQ(problem.start(), Numbers(problem.size(), 0.0));
    const Numbers u = on_vertices(bar.mesh(), [](const double* X, int c) { return 0.01 * std::sin(20.0 * X[0] + c); });
    const Numbers v = on_vertices(bar.mesh(), [](const double* X, int c) { return std::cos(11.0 * X[1] + X[0] * c); });
    Numbers g;
    problem.gradient(u, g);
    const double slope = slope_of([&](const Numbers& at) { return problem.value(at); }, u, v, 5e-4);
    EXPECT_NEAR(dot(g, v), slope, 1e-8 * std::abs(slope)) << order;
  }
}

// The initial positions of a motion, whose loss has second derivatives.
TEST(filtered_shape, of_initial_positions_has_second_derivatives) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.1, 0.1}, {4, 1, 1});
  DifferentiableScene scene(
      mesh, {{"neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"}},
      {.dt = 0.002, .substeps = 2});
  scene.fix("x_min");
  TargetPositionLoss loss(*mesh, mesh->region("x_max"), {0.42, 0.03, 0.06}, 4);
  Unknown unknown{.parameter = "initial_positions"};
  unknown.shape_filter = std::make_shared<ShapeFilter>(*mesh, 0.2, std::vector<std::string>{"x_min"});
  InverseProblem problem(scene.model(), scene.initial_state(), 4, loss, {unknown});
  const Numbers u = on_vertices(*mesh, [](const double* X, int c) { return 0.005 * std::sin(20.0 * X[0] + c); });
  const Numbers v = on_vertices(*mesh, [](const double* X, int c) { return std::cos(11.0 * X[1] + X[0] * c); });
  Numbers g;
  problem.gradient(u, g);
  const double slope = slope_of([&](const Numbers& at) { return problem.value(at); }, u, v, 1e-4);
  EXPECT_NEAR(dot(g, v), slope, 1e-8 * std::abs(slope));
  const HessianCheck check = check_hessian(problem, u);
  EXPECT_TRUE(check.passed) << check.symmetry << " " << check.product << " " << check.difference;
}

TEST(filtered_shape, refuses_bad_input) {
  Bar bar(1);
  const auto other = TetrahedralMesh::box(MPI_COMM_WORLD, {0.1, 0.1, 0.1}, {2, 2, 2});
  EXPECT_THROW(bar.problem(std::make_shared<ShapeFilter>(*other, 0.1)), Error);
  Unknown unknown{.parameter = "youngs_modulus"};
  unknown.shape_filter = std::make_shared<ShapeFilter>(bar.mesh(), 0.1);
  EXPECT_THROW(InverseProblem(bar.scene.model(), bar.scene.initial_state(), 1, *bar.stress, {unknown}), Error);
}

TEST(shape_constraints, are_those_of_a_homogeneous_change) {
  Bar bar(2);
  InverseProblem problem = bar.problem(nullptr);
  const std::array<double, 3> stretch{1.2, 0.9, 1.1};
  const Numbers u =
      on_vertices(bar.mesh(), [&](const double* X, int c) { return stretch[static_cast<std::size_t>(c)] * X[c]; });
  const double volume = stretch[0] * stretch[1] * stretch[2];
  const double squares = stretch[0] * stretch[0] + stretch[1] * stretch[1] + stretch[2] * stretch[2];
  Numbers g;
  EXPECT_NEAR(make_relative_volume_function(problem, 0, bar.scene.mesh())->gradient(u, g), volume, 1e-13);
  for (const double power : {1.0, 16.0})
    EXPECT_NEAR(make_distortion_function(problem, 0, bar.scene.mesh(), power)->gradient(u, g),
                squares / (3.0 * std::pow(volume, 2.0 / 3.0)), 1e-13);
  const Numbers same = on_vertices(bar.mesh(), [](const double* X, int c) { return X[c]; });
  EXPECT_NEAR(make_distortion_function(problem, 0, bar.scene.mesh())->gradient(same, g), 1.0, 1e-13);
  EXPECT_NEAR(dot(g, g), 0.0, 1e-20);
}

TEST(shape_constraints, have_the_derivatives_that_differences_have) {
  for (const int order : {1, 2}) {
    Bar bar(order);
    for (const bool filtered : {false, true}) {
      InverseProblem problem = bar.problem(filtered ? std::make_shared<ShapeFilter>(bar.mesh(), 0.1) : nullptr);
      Numbers u = problem.start();
      const Numbers change =
          on_vertices(bar.mesh(), [](const double* X, int c) { return 0.01 * std::sin(20.0 * X[0] + 7.0 * X[1] + c); });
      for (std::size_t i = 0; i < u.size(); ++i) u[i] += change[i];
      const Numbers v =
          on_vertices(bar.mesh(), [](const double* X, int c) { return std::cos(11.0 * X[1] + X[0] * c); });
      for (const auto& function : {make_relative_volume_function(problem, 0, bar.scene.mesh()),
                                   make_distortion_function(problem, 0, bar.scene.mesh(), 5.0)}) {
        Numbers g, unused;
        function->gradient(u, g);
        const double slope = slope_of([&](const Numbers& at) { return function->gradient(at, unused); }, u, v, 2e-4);
        EXPECT_NEAR(dot(g, v), slope, 1e-8 * std::abs(slope)) << function->name();
      }
    }
  }
}

TEST(shape_constraints, refuse_bad_input_and_inverted_tetrahedra) {
  Bar bar(1);
  InverseProblem problem = bar.problem(nullptr);
  const auto mesh = bar.scene.mesh();
  EXPECT_THROW(make_distortion_function(problem, 0, mesh, 0.5), Error);
  EXPECT_THROW(make_distortion_function(problem, 1, mesh), Error);
  EXPECT_THROW(
      make_relative_volume_function(problem, 0, TetrahedralMesh::box(MPI_COMM_WORLD, {0.1, 0.1, 0.1}, {3, 3, 3})),
      Error);
  Numbers u = problem.start(), g;
  for (double& x : u) x = -x;
  try {
    make_distortion_function(problem, 0, mesh)->gradient(u, g);
    FAIL() << "inverted tetrahedra were accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::run);
  }
}

}  // namespace
}  // namespace diffsim::shape_filter_test
