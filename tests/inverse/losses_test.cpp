// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Losses compared with their formulas. The losses are quadratic, so central differences are exact.

#include "diffsim/inverse/losses.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "core/file_order.hpp"

namespace diffsim::losses_test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double over_ranks(double share) {
  MPI_Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return share;
}

/// A body, its state, a direction, and observations at steps 2 and 5 in which every seventh value is missing.
struct Case {
  Case() : mesh(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {4, 2, 1})) {
    const std::vector<double>& X = mesh->rest_positions();
    const auto& numbers = mesh->vertex_order().file_index();
    std::vector<double> x = X, dx(X.size());
    for (std::size_t i = 0; i < X.size(); ++i) {
      const double place = 3.0 * static_cast<double>(numbers[i / 3]) + static_cast<double>(i % 3);
      x[i] += 0.1 * std::sin(place);
      dx[i] = std::cos(1.7 * place);
      for (const int step : {2, 5})
        if (i < 3 * static_cast<std::size_t>(mesh->num_owned_vertices()))
          observed[step].push_back(std::fmod(place + step, 7.0) < 1.0 ? nan : X[i] + 0.05 * step * std::cos(place));
    }
    state = make_state(x);
    direction = make_state(dx);
  }
  State make_state(const std::vector<double>& positions) const {
    State result;
    Field field("positions", mesh->vertex_entities(), 3);
    field.from_host(positions);
    result.add(std::move(field));
    return result;
  }
  /// Returns the state plus `part` times the direction.
  State along(double part) const {
    State result = state.clone();
    axpy(part, direction, result);
    return result;
  }

  std::shared_ptr<TetrahedralMesh> mesh;
  std::map<int, std::vector<double>> observed;
  State state, direction;
  ParameterSet none;
};

void expect_slopes(const Case& at, Loss& loss, int step) {
  const double difference =
      0.5 * over_ranks(loss.value(step, at.along(1.0), at.none) - loss.value(step, at.along(-1.0), at.none));
  EXPECT_NE(difference, 0.0);
  EXPECT_NEAR(over_ranks(loss.tangent(step, at.state, at.none, at.direction, at.none)), difference,
              1e-12 * std::abs(difference));
  State adjoint = at.state.zero_like();
  ParameterSet gradient;
  loss.add_gradient(step, at.state, at.none, adjoint, gradient);
  EXPECT_NEAR(over_ranks(local_dot(adjoint, at.direction)), difference, 1e-12 * std::abs(difference));
}

TEST(losses, track_is_half_the_mean_square_of_what_is_observed) {
  const Case at;
  TrackLoss loss(*at.mesh, at.observed, at.mesh->region("all"));
  double square = 0.0, count = 0.0;
  const std::vector<double> x = at.state["positions"].to_host();
  for (const auto& [step, positions] : at.observed)
    for (std::size_t v = 0; v < positions.size(); v += 3) {
      bool any = false;
      for (std::size_t i = v; i < v + 3; ++i) {
        if (std::isnan(positions[i])) continue;
        any = true;
        if (step == 2) square += (x[i] - positions[i]) * (x[i] - positions[i]);
      }
      count += any ? 1.0 : 0.0;
    }
  const double expected = 0.5 * over_ranks(square) / over_ranks(count);
  EXPECT_NEAR(over_ranks(loss.value(2, at.state, at.none)), expected, 1e-13 * expected);
  EXPECT_TRUE(loss.observes(5));
  EXPECT_FALSE(loss.observes(3));
  for (const int step : {2, 5}) expect_slopes(at, loss, step);
}

TEST(losses, target_is_half_the_square_of_the_means_miss) {
  const Case at;
  const Region& region = at.mesh->region("x_max");
  TargetPositionLoss loss(*at.mesh, region, {0.9, 0.2, 0.1}, 4);
  std::array<double, 4> sums{};
  const std::vector<double> x = at.state["positions"].to_host();
  for (const int v : region.vertices)
    if (v < at.mesh->num_owned_vertices()) {
      for (std::size_t c = 0; c < 3; ++c) sums[c] += x[3 * static_cast<std::size_t>(v) + c];
      sums[3] += 1.0;
    }
  for (double& sum : sums) sum = over_ranks(sum);
  const double miss[3] = {sums[0] / sums[3] - 0.9, sums[1] / sums[3] - 0.2, sums[2] / sums[3] - 0.1};
  const double expected = 0.5 * (miss[0] * miss[0] + miss[1] * miss[1] + miss[2] * miss[2]);
  EXPECT_NEAR(over_ranks(loss.value(4, at.state, at.none)), expected, 1e-13 * expected);
  expect_slopes(at, loss, 4);
}

TEST(losses, a_sum_weighs_its_losses) {
  const Case at;
  const Region& region = at.mesh->region("x_max");
  TargetPositionLoss one(*at.mesh, region, {0.9, 0.2, 0.1}, 2);
  TrackLoss other(*at.mesh, at.observed, region);
  SumLoss sum;
  sum.add(std::make_unique<TargetPositionLoss>(*at.mesh, region, std::array<double, 3>{0.9, 0.2, 0.1}, 2));
  sum.add(std::make_unique<TrackLoss>(*at.mesh, at.observed, region), 0.7);
  const double expected =
      over_ranks(one.value(2, at.state, at.none)) + 0.7 * over_ranks(other.value(2, at.state, at.none));
  EXPECT_NEAR(over_ranks(sum.value(2, at.state, at.none)), expected, 1e-13 * expected);
  expect_slopes(at, sum, 2);
}

TEST(losses, a_sum_has_the_unit_of_its_losses) {
  const Case at;
  SumLoss sum;
  EXPECT_EQ(sum.unit(), "1");
  sum.add(std::make_unique<TrackLoss>(*at.mesh, at.observed, at.mesh->region("x_max")), 0.7);
  EXPECT_EQ(sum.unit(), "m²");
  sum.add(std::make_unique<TerminalLoss>(at.state, 2));
  EXPECT_EQ(sum.unit(), "1");
}

TEST(losses, an_effort_has_the_unit_of_its_parameter) {
  const auto unit = [](const std::string& of) { return EffortLoss(MPI_COMM_WORLD, "torque", 0.1, 2, of).unit(); };
  EXPECT_EQ(unit("N"), "N² s");
  EXPECT_EQ(unit("N m"), "(N m)² s");
  EXPECT_EQ(unit("1"), "s");
}

}  // namespace
}  // namespace diffsim::losses_test
