// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Terms defined by a force or an energy at a point, and all their derivatives.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/point_term_testing.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::point_term_test {
namespace {

using namespace testing_points;

Numbers combination(const Numbers& a, double h, const Numbers& b) {
  Numbers result = a;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += h * b[i];
  return result;
}

double inner(const Numbers& a, const Numbers& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Returns the derivative of a function of all inputs along d, by central differences of order eight, which are exact
/// for polynomials of degree eight.
Numbers difference(const std::function<Numbers(const Numbers&)>& function, const Numbers& at, const Numbers& d) {
  constexpr double h = 0.05, factors[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  Numbers sum;
  for (int k = 0; k < 4; ++k)
    for (const double sign : {1.0, -1.0}) {
      const Numbers value = function(combination(at, sign * (k + 1) * h, d));
      sum.resize(value.size(), 0.0);
      sum = combination(sum, sign * factors[k] / h, value);
    }
  return sum;
}

void expect_near(const Numbers& a, const Numbers& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  double size = 1.0;
  for (const double value : b) size = std::max(size, std::abs(value));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance * size) << i;
}

template <class F>
class EveryForce : public testing::Test {
 protected:
  Rig<F> rig;
  Numbers here = rig.random(1), way = rig.random(2);
  Numbers w = random_vector(3), dw = random_vector(4);

  static Numbers random_vector(unsigned seed) {
    Numbers result = Rig<F>().random(seed);
    result.resize(24);
    return result;
  }
};
using Forces = testing::Types<Spring, Gust, Load, Drag>;
TYPED_TEST_SUITE(EveryForce, Forces);

template <class F>
class ForceWithEnergy : public EveryForce<F> {};
using ForcesWithEnergy = testing::Types<Spring, Load>;
TYPED_TEST_SUITE(ForceWithEnergy, ForcesWithEnergy);

TYPED_TEST(ForceWithEnergy, is_the_slope_of_the_energy) {
  EXPECT_TRUE(this->rig.term().has_energy());
  const Numbers along_x = this->rig.only(this->rig.parts()[0], this->way);
  const auto energy = [&](const Numbers& at) { return Numbers{this->rig.energy(at)}; };
  const Numbers dx(along_x.begin(), along_x.begin() + 24);
  const double slope = difference(energy, this->here, along_x)[0];
  EXPECT_NEAR(-inner(this->rig.force(this->here), dx), slope, 1e-11 * std::abs(slope));
}

TYPED_TEST(EveryForce, tangent_by_each_input_is_the_difference_of_forces) {
  for (const auto& part : this->rig.parts()) {
    SCOPED_TRACE(part.name);
    const Numbers d = this->rig.only(part, this->way);
    expect_near(this->rig.tangent(this->here, d),
                difference([&](const Numbers& at) { return this->rig.force(at); }, this->here, d), 1e-11);
  }
}

TYPED_TEST(EveryForce, adjoint_by_each_input_is_the_transpose) {
  const Numbers gradient = this->rig.adjoint(this->here, this->w);
  for (const auto& part : this->rig.parts()) {
    if (part.name == "time") continue;
    SCOPED_TRACE(part.name);
    const Numbers d = this->rig.only(part, this->way);
    const double product = inner(this->rig.tangent(this->here, d), this->w);
    EXPECT_NEAR(inner(d, gradient), product, 1e-13 * std::max(1.0, std::abs(product)));
  }
}

TYPED_TEST(EveryForce, adjoint_tangent_by_each_input_is_the_difference_of_adjoints) {
  for (const auto& part : this->rig.parts()) {
    SCOPED_TRACE(part.name);
    const Numbers d = this->rig.only(part, this->way);
    const auto adjoint = [&](const Numbers& at) { return this->rig.adjoint(at, this->w); };
    expect_near(this->rig.adjoint_tangent(this->here, d, &this->w, nullptr), difference(adjoint, this->here, d), 1e-11);
  }
  // The adjoint is linear in w.
  const Numbers none(this->way.size(), 0.0);
  expect_near(this->rig.adjoint_tangent(this->here, none, nullptr, &this->dw), this->rig.adjoint(this->here, this->dw),
              1e-14);
  expect_near(this->rig.adjoint_tangent(this->here, this->way, &this->w, &this->dw),
              combination(this->rig.adjoint_tangent(this->here, this->way, &this->w, nullptr), 1.0,
                          this->rig.adjoint(this->here, this->dw)),
              1e-13);
}

TYPED_TEST(EveryForce, jacobian_blocks_are_the_tangent) {
  const JacobianWeights weights{-0.3, -0.6};
  Numbers d(this->way.size(), 0.0);
  for (std::size_t i = 0; i < 24; ++i) {
    d[i] = weights.position * this->w[i];
    d[24 + i] = weights.velocity * this->w[i];
  }
  expect_near(this->rig.jacobian_product(this->here, weights, this->w), this->rig.tangent(this->here, d), 1e-13);
}

TYPED_TEST(EveryForce, projected_blocks_are_semidefinite) {
  for (const double sign : {-1.0, 1.0}) {
    const JacobianWeights weights{sign, 0.5 * sign, true};
    for (unsigned seed = 10; seed < 30; ++seed) {
      const Numbers u = this->random_vector(seed);
      EXPECT_GE(inner(u, this->rig.jacobian_product(this->here, weights, u)), -1e-14);
    }
  }
}

TEST(PointTerm, springs_blocks_that_are_semidefinite_stay_as_they_are) {
  Rig<Spring> rig;
  Numbers at = rig.random(1), u(24, 0.5);
  for (double& value : at) value = std::abs(value);
  expect_near(rig.jacobian_product(at, {-1.0, 0.0, true}, u), rig.jacobian_product(at, {-1.0, 0.0, false}, u), 1e-13);
}

TEST(PointTerm, inactive_points_get_and_give_nothing) {
  Rig<Gust> rig;
  const Numbers at = rig.random(1), f = rig.force(at), gradient = rig.adjoint(at, Numbers(24, 1.0));
  int active = 0;
  for (const std::size_t vertex : {6, 1, 3, 2, 7}) {
    const bool is_above = at[3 * vertex + 1] > 0.0;
    active += is_above;
    EXPECT_EQ(f[3 * vertex] != 0.0, is_above) << vertex;
    EXPECT_EQ(gradient[24 + 3 * vertex] != 0.0, is_above) << vertex;
  }
  EXPECT_GT(active, 0);
  EXPECT_LT(active, 5);
  for (const std::size_t vertex : {0, 4, 5}) EXPECT_EQ(f[3 * vertex], 0.0) << vertex;
}

TEST(PointTerm, dead_loads_of_one_step_have_a_factor) {
  Rig<Load> rig;
  const Numbers f = rig.force(rig.random(1));
  const double load = rig.parameters().at("local_load").field.to_host()[3 * 6];
  EXPECT_EQ(f[3 * 6], 0.7 * load);
}

TEST(PointTerm, first_vertices_need_no_list) {
  const auto vertices = std::make_shared<const Entities>("vertices", MPI_COMM_SELF, 4);
  Field x("x", vertices, 3), v("v", vertices, 3), f("f", vertices, 3);
  v.fill(2.0);
  PointTerm<Drag> drag("drag", {}, {}, 3);
  drag.add_force({x, 0, nullptr, &v}, {}, f);
  expect_near(f.to_host(), {-2, -2, -2, -2, -2, -2, -2, -2, -2, 0, 0, 0}, 0.0);
}

TEST(PointTerm, refuses_parameters_that_its_force_does_not_take) {
  EXPECT_THROW(PointTerm<Spring>("spring", {}, {{"place", 3}}, 0), Error);
  struct Given {
    const char* entities;
    int components;
  };
  for (const auto& [entities, components] : {Given{"vertices", 1}, {"cells", 1}, {"vertices", 2}, {"", 1}}) {
    ParameterSet parameters;
    parameters.add("place", Entities::one_for_all(MPI_COMM_SELF), 3);
    parameters.add("stiffness", Entities::one_for_all(MPI_COMM_SELF));
    if (*entities)
      parameters.add("local_stiffening", std::make_shared<const Entities>(entities, MPI_COMM_SELF, 4), components);
    PointTerm<Spring> spring("spring", {}, Spring::parameters(), 0);
    if (entities == std::string("vertices") && components == 1)
      EXPECT_NO_THROW(spring.prepare(parameters));
    else
      EXPECT_THROW(spring.prepare(parameters), Error) << entities << components;
  }
  std::vector<PointParameter> takes = Spring::parameters();
  for (PointParameter& parameter : takes) parameter.is_optional = true;
  EXPECT_NO_THROW(PointTerm<Spring>("spring", {}, takes, 0).prepare({}));
}

}  // namespace
}  // namespace diffsim::point_term_test
