// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Observed positions of material points: against the loss of vertices, and derivatives against differences.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "core/file_order.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "diffsim/simulation/scene.hpp"
#include "error_text.hpp"

namespace diffsim::point_track_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

DifferentiableScene make_bar(int order) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.2, 0.1}, {4, 2, 1}, order);
  return {mesh, {{"neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"}}};
}

/// Curved motion x(X), the same on any number of ranks.
std::array<double, 3> motion(const double* X) {
  return {X[0] + 0.1 * X[0] * X[1], X[1] - 0.2 * X[0] * X[0], X[2] + 0.05 * std::sin(5.0 * X[0])};
}

State moved(const DifferentiableScene& scene) {
  State state = scene.initial_state();
  std::vector<double> x = state["positions"].to_host();
  for (std::size_t i = 0; i < x.size(); i += 3) {
    const std::array<double, 3> y = motion(&scene.mesh()->rest_positions()[i]);
    std::copy(y.begin(), y.end(), &x[i]);
  }
  state["positions"].from_host(x);
  return state;
}

double total(double share) { return sum_over_ranks(share, MPI_COMM_WORLD); }

/// Direction with a value for each local vertex that does not depend on the ranks.
State direction_of(const DifferentiableScene& scene) {
  State direction = scene.initial_state().zero_like();
  std::vector<double> values = direction["positions"].to_host();
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::cos(31.0 * scene.mesh()->rest_positions()[i] + static_cast<double>(i % 3));
  direction["positions"].from_host(values);
  return direction;
}

TEST(point_track, of_points_at_vertices_is_the_loss_of_vertices) {
  for (const int order : {1, 2}) {
    DifferentiableScene scene = make_bar(order);
    const TetrahedralMesh& mesh = *scene.mesh();
    // Observed at all vertices in file order, with one component missing.
    const std::vector<double> file = mesh.file_positions();
    const FileOrder& rows = mesh.vertex_order();
    std::vector<double> X(3 * static_cast<std::size_t>(mesh.num_global_vertices()), 0.0);
    std::copy(file.begin(), file.end(), X.begin() + 3 * rows.block_begin());
    MPI_Allreduce(MPI_IN_PLACE, X.data(), static_cast<int>(X.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ObservedPoints observed;
    std::vector<double> positions;
    for (std::size_t i = 0; i < X.size(); i += 3) {
      observed.points.push_back({X[i], X[i + 1], X[i + 2]});
      positions.insert(positions.end(), {X[i] + 0.01, i == 9 ? nan : X[i + 1], X[i + 2] - 0.02});
    }
    observed.positions[2] = positions;
    std::vector<double> of_vertices;
    for (int v = 0; v < mesh.num_owned_vertices(); ++v)
      for (std::size_t c = 0; c < 3; ++c)
        of_vertices.push_back(
            positions[3 * static_cast<std::size_t>(rows.file_index()[static_cast<std::size_t>(v)]) + c]);
    const std::unique_ptr<Loss> loss = make_point_track_loss(mesh, {observed});
    TrackLoss expected(mesh, {{2, of_vertices}}, mesh.region("all"));
    EXPECT_EQ(loss->num_observations(), expected.num_observations());
    EXPECT_TRUE(loss->observes(2));
    EXPECT_FALSE(loss->observes(1));
    const State state = moved(scene);
    const double value = total(expected.value(2, state, scene.parameters()));
    EXPECT_NEAR(total(loss->value(2, state, scene.parameters())), value, 1e-12 * value);
    State gradient = state.zero_like(), other = state.zero_like();
    ParameterSet none;
    loss->add_gradient(2, state, scene.parameters(), gradient, none);
    expected.add_gradient(2, state, scene.parameters(), other, none);
    const std::vector<double> g = gradient["positions"].to_host(), h = other["positions"].to_host();
    for (std::size_t i = 0; i < static_cast<std::size_t>(3 * mesh.num_owned_vertices()); ++i)
      EXPECT_NEAR(g[i], h[i], 1e-12);
  }
}

TEST(point_track, of_points_inside_has_the_derivatives_of_its_value) {
  for (const int order : {1, 2}) {
    DifferentiableScene scene = make_bar(order);
    ObservedPoints observed;
    for (int i = 0; i < 20; ++i)
      observed.points.push_back(
          {0.4 * std::fmod(0.37 * i, 1.0), 0.2 * std::fmod(0.61 * i, 1.0), 0.1 * std::fmod(0.23 * i, 1.0)});
    for (const int step : {1, 3}) observed.positions[step].assign(60, 0.1 * step);
    observed.positions[3][4] = nan;
    const std::unique_ptr<Loss> loss = make_point_track_loss(*scene.mesh(), {observed});
    EXPECT_EQ(loss->num_observations(), 40.0);
    const State state = moved(scene), direction = direction_of(scene);
    const ParameterSet& parameters = scene.parameters();
    ParameterSet none;
    const auto value = [&](double h) {
      State at = state.clone();
      axpy(h, direction, at);
      return total(loss->value(3, at, parameters));
    };
    State gradient = state.zero_like(), product = state.zero_like(), gauss_newton = state.zero_like();
    loss->add_gradient(3, state, parameters, gradient, none);
    loss->add_gradient_tangent(3, state, parameters, direction, none, product, none);
    loss->add_gauss_newton(3, state, parameters, direction, none, gauss_newton, none);
    const double slope = total(local_dot(gradient, direction)), curvature = total(local_dot(product, direction));
    // The loss is quadratic.
    EXPECT_NEAR(slope, 0.5 * (value(1.0) - value(-1.0)), 1e-11 * std::abs(slope));
    EXPECT_NEAR(curvature, value(1.0) - 2.0 * value(0.0) + value(-1.0), 1e-10 * curvature);
    EXPECT_NEAR(total(local_dot(gauss_newton, direction)), curvature, 1e-12 * curvature);
    EXPECT_NEAR(total(loss->tangent(3, state, parameters, direction, none)), slope, 1e-12 * std::abs(slope));
  }
}

TEST(point_track, of_points_that_do_not_exist_is_refused) {
  DifferentiableScene scene = make_bar(1);
  const auto error = [&](const ObservedPoints& observed) {
    return error_of([&] { make_point_track_loss(*scene.mesh(), {observed}); });
  };
  EXPECT_EQ(error({"", {{0.1, 0.1, 0.05}, {0.41, 0.1, 0.05}}, {{1, std::vector<double>(6, 0.0)}}}),
            "observed point 1 at (0.41, 0.1, 0.05) is outside the body; give the rest position of a point "
            "inside the body");
  EXPECT_EQ(error({"", {{0.1, 0.1, 0.05}}, {{1, {0.0, 0.0}}}}), "2 coordinates are observed at step 1 for 1 points");
  EXPECT_EQ(error({"", {{0.1, 0.1, 0.05}}, {{1, {nan, nan, nan}}}}), "no position of a point is observed");
}

}  // namespace
}  // namespace diffsim::point_track_test
