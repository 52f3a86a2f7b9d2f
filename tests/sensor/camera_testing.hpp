// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "core/file_order.hpp"
#include "diffsim/core/loss.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/sensor/sensor.hpp"

/// Cameras, states and checks of derivatives for tests of losses that compare images.
namespace diffsim::testing_camera {

using Numbers = std::vector<double>;
using Mesh = std::shared_ptr<TetrahedralMesh>;
using Point = std::array<double, 3>;

inline Mesh make_box(int order = 1, MPI_Comm comm = MPI_COMM_WORLD) {
  return TetrahedralMesh::box(comm, {0.4, 0.2, 0.1}, {4, 2, 1}, order);
}

/// Orthographic camera that looks along -z at the middle of the box; the image is 0.6 m wide and 0.4 m high.
inline Camera above() {
  return {.position = {0.2, 0.1, 2.0}, .target = {0.2, 0.1, 0.0}, .view_height = 0.4, .width = 36, .height = 24};
}

/// Pinhole camera in a general direction.
inline Camera oblique() {
  return {.position = {0.7, 0.6, 0.9},
          .target = {0.21, 0.09, 0.04},
          .up = {0.1, 1.0, -0.2},
          .field_of_view = 0.5,
          .width = 30,
          .height = 22};
}

/// State with the positions move(X) of the rest positions X.
inline State state_of(const TetrahedralMesh& mesh, const std::function<Point(const Point&)>& move) {
  State state;
  Field& x = state.add(Field("positions", mesh.vertex_entities(), 3));
  Numbers values = mesh.rest_positions();
  for (std::size_t i = 0; i < values.size(); i += 3) {
    const Point y = move({values[i], values[i + 1], values[i + 2]});
    for (std::size_t c = 0; c < 3; ++c) values[i + c] = y[c];
  }
  x.from_host(values);
  return state;
}
inline State at_rest(const TetrahedralMesh& mesh) {
  return state_of(mesh, [](const Point& X) { return X; });
}
/// A curved motion in which no vertex lies on the border of a pixel, and no side of the box contains a line of sight.
inline State bent(const TetrahedralMesh& mesh) {
  return state_of(mesh, [](const Point& X) {
    return Point{1.03 * X[0] + 0.0137 + 0.11 * X[1] * X[0] + 0.05 * X[2],
                 0.97 * X[1] - 0.0083 + 0.23 * X[0] * X[0] - 0.07 * X[2], 1.01 * X[2] + 0.0071 + 0.09 * X[0]};
  });
}

/// Sum of a loss over all ranks.
inline double value_of(Loss& loss, const State& state) {
  return sum_over_ranks(loss.value(2, state, {}), MPI_COMM_WORLD);
}

/// Direction or weight of the positions, which does not depend on the number of ranks.
inline State noise(const TetrahedralMesh& mesh, double amplitude, double phase) {
  State state;
  Field& field = state.add(Field("positions", mesh.vertex_entities(), 3));
  Numbers values(field.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = amplitude * std::sin(phase + (5.7 + 0.9 * static_cast<double>(i % 3)) *
                                                 static_cast<double>(mesh.vertex_order().file_index()[i / 3]));
  field.from_host(values);
  return state;
}

/// Amplitude of the directions, step of the differences, and tolerances relative to the loss.
struct Accuracy {
  double amplitude, step, slope, transpose, second;
};

/// Returns the derivative at 0 by central differences of order eight with the step h.
inline double difference(const std::function<double(double)>& function, double h) {
  constexpr double factors[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  double sum = 0.0;
  for (int k = 0; k < 4; ++k) sum += factors[k] / h * (function((k + 1) * h) - function(-(k + 1) * h));
  return sum;
}

/// Expects the first and second derivatives of a loss of state 2 at `bent` to agree with differences, and the gradient
/// with the tangent.
inline void expect_derivatives(Loss& loss, const TetrahedralMesh& mesh, const Accuracy& accuracy) {
  const State state = bent(mesh), along = noise(mesh, accuracy.amplitude, 0.4),
              other = noise(mesh, accuracy.amplitude, 2.2);
  ParameterSet none;
  const auto moved = [&](double h) {
    State result = state.clone();
    axpy(h, along, result);
    return result;
  };
  const auto product = [&](const State& adjoint) { return sum_over_ranks(local_dot(adjoint, other), MPI_COMM_WORLD); };
  const double scale = value_of(loss, state);
  ASSERT_GT(scale, 1e-5);
  const double slope = sum_over_ranks(loss.tangent(2, state, none, along, none), MPI_COMM_WORLD);
  EXPECT_NEAR(slope, difference([&](double h) { return value_of(loss, moved(h)); }, accuracy.step),
              accuracy.slope * scale);
  EXPECT_GT(std::abs(slope), 1e-4 * scale);
  const auto gradient = [&](double h) {
    State bar = state.zero_like();
    loss.add_gradient(2, moved(h), none, bar, none);
    return product(bar);
  };
  const double of_other = sum_over_ranks(loss.tangent(2, state, none, other, none), MPI_COMM_WORLD);
  EXPECT_NEAR(gradient(0.0), of_other, accuracy.transpose * scale);
  State bar = state.zero_like();
  loss.add_gradient_tangent(2, state, none, along, none, bar, none);
  const double second = product(bar);
  EXPECT_NEAR(second, difference(gradient, accuracy.step), accuracy.second * scale);
  EXPECT_GT(std::abs(second), 1e-6 * scale);
}

/// Expects the Hessian of a loss of state 2, whose residuals are zero at `bent`, to be the Gauss–Newton matrix there.
inline void expect_gauss_newton(Loss& loss, const TetrahedralMesh& mesh) {
  const State state = bent(mesh), along = noise(mesh, 1e-3, 0.4);
  ParameterSet none;
  State newton = state.zero_like(), gauss = state.zero_like();
  loss.add_gradient_tangent(2, state, none, along, none, newton, none);
  loss.add_gauss_newton(2, state, none, along, none, gauss, none);
  const double scale = sum_over_ranks(local_dot(gauss, along), MPI_COMM_WORLD);
  EXPECT_GT(scale, 0.0);
  axpy(-1.0, gauss, newton);
  EXPECT_NEAR(sum_over_ranks(local_dot(newton, along), MPI_COMM_WORLD), 0.0, 1e-9 * scale);
}

}  // namespace diffsim::testing_camera
