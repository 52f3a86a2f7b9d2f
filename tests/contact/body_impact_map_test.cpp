// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Impact of one body on a plane: laws of the impulses, and derivatives along one and along all directions.

#include "contact/body_impact_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace diffsim::body_impact_map_test {
namespace {

using namespace contact;

constexpr int inputs = StateOfImpact<double>::own_size + num_plane_values;  // with one plane
constexpr double friction = 0.3;
constexpr SubstepOfImpact substep{5e-4, 0.0};

/// Cube with sides of 2 cm whose surface has eight vertices, at a random place near the plane y = 0.
struct Sample {
  BodyOfImpact body;
  PlaneForce<true> plane{};
  StateOfImpact<double> state{};
  std::vector<const PlaneForce<true>*> planes() const { return {&plane}; }
};

Sample sample(std::mt19937& numbers, bool is_rigid, double height = 0.00999) {
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  Sample result;
  result.body.is_rigid = is_rigid;
  result.body.scale = 0;
  result.body.centre.fill(0.25);
  result.body.planes = {0};
  result.state.planes.resize(1);
  result.plane.normal = {{0.0, 1.0, 0.0}};
  // Corners of a regular tetrahedron inside the cube; a vertex of the cube is (±1, ±1, ±1).
  const double corners[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
  for (int i = 0; i < 8; ++i) {
    const double x[3] = {i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0};
    std::array<double, 4> weights{};
    for (std::size_t k = 0; k < 4; ++k)
      weights[k] = 0.25 * (1.0 + corners[k][0] * x[0] + corners[k][1] * x[1] + corners[k][2] * x[2]);
    result.body.weights.push_back(weights);
  }
  const double tilt[3] = {1e-3 * any(numbers), any(numbers), 1e-3 * any(numbers)};
  const double v[3] = {0.1 * any(numbers), -0.1, 0.1 * any(numbers)}, w[3] = {any(numbers), any(numbers), any(numbers)};
  const double c = std::cos(tilt[1]), s = std::sin(tilt[1]);
  for (std::size_t k = 0; k < 4; ++k) {
    const double* q = corners[k];
    const double turned[3] = {c * q[0] + s * q[2], q[1], c * q[2] - s * q[0]};
    const Vec3<double> r{{0.01 * (turned[0] - tilt[2] * turned[1]),
                          0.01 * (turned[1] + tilt[2] * turned[0] - tilt[0] * turned[2]),
                          0.01 * (turned[2] + tilt[0] * turned[1])}};
    const Vec3<double> omega{{w[0], w[1], w[2]}}, side = cross(omega, r);
    for (int i = 0; i < 3; ++i) {
      result.state.x[k][i] = r[i] + (i == 1 ? height : 0.0);
      result.state.v[k][i] = v[i] + side[i];
      result.state.a[k][i] = i == 1 ? -9.8 : 0.0;
    }
  }
  result.state.planes[0][PlaneForce<true>::mu] = friction;
  result.state.planes[0][PlaneForce<true>::damping] = 0.55;
  result.state.scale = 1.0;
  return result;
}

/// Mean change of the corners' velocities, which is the impulse per mass.
Vec3<double> impulse_of(const ChangeByImpact<double>& change) {
  Vec3<double> sum{{0.0, 0.0, 0.0}};
  for (const Vec3<double>& v : change.v) sum = sum + 0.25 * v;
  return sum;
}

TEST(body_impact_map, impulses_push_and_obey_the_law_of_friction) {
  std::mt19937 numbers(5);
  int acting = 0;
  for (int n = 0; n < 400; ++n) {
    Sample at = sample(numbers, n % 2 == 0);
    const auto planes = at.planes();
    const BodyImpact impact(planes, at.body, substep, at.state);
    if (!impact.acts()) continue;
    ++acting;
    const ChangeByImpact<double> change = impact.change(at.state);
    const Vec3<double> j = impulse_of(change);
    EXPECT_GT(j[1], 0.0) << n;
    EXPECT_LE(std::hypot(j[0], j[2]), friction * j[1] * (1.0 + 1e-12)) << n;
    // No vertex that was below the plane approaches the plane after the impact.
    for (const std::array<double, 4>& weights : at.body.weights) {
      double height = 0.0, rate = 0.0;
      for (std::size_t k = 0; k < 4; ++k) {
        height += weights[k] * at.state.x[k][1];
        rate += weights[k] * (at.state.v[k][1] + change.v[k][1]);
      }
      if (height < 0.0) {
        EXPECT_GE(rate, -1e-9) << n;
      }
    }
  }
  EXPECT_GT(acting, 300);
}

/// Without friction, an impact of a rigid body with e = 1 keeps its energy if only one vertex touches the plane.
TEST(body_impact_map, one_contact_without_loss_keeps_the_energy) {
  std::mt19937 numbers(7);
  int single = 0;
  for (int n = 0; n < 400; ++n) {
    Sample at = sample(numbers, true, 0.01001);
    at.state.planes[0][PlaneForce<true>::mu] = 0.0;
    at.state.planes[0][PlaneForce<true>::damping] = 1.0;
    for (Vec3<double>& a : at.state.a) a[1] = 0.0;
    int below = 0;
    for (const std::array<double, 4>& weights : at.body.weights) {
      double height = 0.0;
      for (std::size_t k = 0; k < 4; ++k) height += weights[k] * at.state.x[k][1];
      below += height < 0.0;
    }
    const auto planes = at.planes();
    const BodyImpact impact(planes, at.body, substep, at.state);
    if (below != 1 || !impact.acts()) continue;
    ++single;
    const ChangeByImpact<double> change = impact.change(at.state);
    double before = 0.0, after = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      const Vec3<double> v = at.state.v[k] + change.v[k];
      before += dot(at.state.v[k], at.state.v[k]);
      after += dot(v, v);
    }
    EXPECT_NEAR(after, before, 1e-12 * before) << n;
  }
  EXPECT_GT(single, 10);
}

TEST(body_impact_map, tangents_and_adjoints_agree) {
  using Along = Dual<double, 1>;
  using ByInputs = Dual<double, inputs>;
  std::mt19937 numbers(3);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  for (int n = 0; n < 100; ++n) {
    Sample at = sample(numbers, n % 2 == 0);
    const auto planes = at.planes();
    const BodyImpact impact(planes, at.body, substep, at.state);
    if (!impact.acts()) continue;
    StateOfImpact<Along> along;
    StateOfImpact<ByInputs> variables;
    along.planes.resize(1);
    variables.planes.resize(1);
    std::vector<double> direction;
    for (int j = 0; j < inputs; ++j) {
      direction.push_back(any(numbers) * std::max(1e-3, std::abs(at.state.at(j))));
      along.at(j) = Along(at.state.at(j));
      along.at(j).derivative[0] = direction.back();
      variables.at(j) = ByInputs::variable(at.state.at(j), j);
    }
    const auto tangent = impact.change(along);
    const auto jacobian = impact.change(variables);
    double forward = 0.0, reverse = 0.0, size = 0.0;
    for (int i = 0; i < 24; ++i) {
      const double weight = any(numbers);
      const auto k = static_cast<std::size_t>(i % 12 / 3);
      forward += weight * (i < 12 ? tangent.x : tangent.v)[k][i % 3].derivative[0];
      for (int j = 0; j < inputs; ++j) {
        const double term = weight * (i < 12 ? jacobian.x : jacobian.v)[k][i % 3].derivative[j] *
                            direction[static_cast<std::size_t>(j)];
        reverse += term;
        size += std::abs(term);
      }
    }
    EXPECT_NEAR(forward, reverse, 1e-12 * size) << n;
    EXPECT_GT(size, 0.0) << n;
  }
}

}  // namespace
}  // namespace diffsim::body_impact_map_test
