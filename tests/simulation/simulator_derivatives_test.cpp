// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives of rollouts in forward mode, and products with the Hessian of a loss, of a DifferentiableSimulator.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim::simulator_derivatives_test {
namespace {

using Arrays = std::vector<std::vector<double>>;

constexpr int num_steps = 8;
constexpr double youngs_modulus = 1e5;  // Pa
const std::vector<double> gravity{0.5, -9.8, 1.0};

/// Change of the parameters and of the initial state.
struct Direction {
  ParameterSet parameters;
  State initial;
};

/// Returns some value in [-1, 1] for index i.
double some(std::size_t i, double phase) { return std::sin(0.7 * static_cast<double>(i) + phase); }

std::vector<double> some_values(std::size_t size, double scale, double phase) {
  std::vector<double> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = scale * some(i, phase);
  return values;
}

/// Loss Σₙ wₙᵀ x[n] with constant weights wₙ of the positions and velocities in steps 3 and `num_steps`. The loss has
/// no curvature, so its Hessian is that of the rollout, contracted with the weights.
class LinearLoss final : public Loss {
 public:
  static State weights(int n, const State& state) {
    State result = state.zero_like();
    for (const char* name : {"positions", "velocities"}) {
      Field& field = result[name];
      std::vector<double> w = some_values(field.owned_size(), name[0] == 'p' ? 1.0 : 0.01, 1.0 + n);
      w.resize(field.size(), 0.0);
      field.from_host(w);
    }
    return result;
  }
  bool observes(int n) const override { return n == 3 || n == num_steps; }
  double value(int n, const State& state, const ParameterSet&) override { return local_dot(weights(n, state), state); }
  double tangent(int n, const State& state, const ParameterSet&, const State& tangent, const ParameterSet&) override {
    return local_dot(weights(n, state), tangent);
  }
  void add_gradient(int n, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) override {
    axpy(1.0, weights(n, state), adjoint);
  }
  void add_gradient_tangent(int, const State&, const ParameterSet&, const State&, const ParameterSet&, State&,
                            ParameterSet&) override {}
};

std::unique_ptr<DifferentiableSimulator> make(const std::string& integrator) {
  DifferentiableSolver solver{
      .dt = 0.002, .substeps = 4, .gravity = {0.5, -9.8, 1.0}, .integrator = integrator_named(integrator)};
  solver.implicit.newton.tolerance = 1e-13;
  auto simulator =
      std::make_unique<DifferentiableSimulator>(TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.2, 0.2}, {5, 2, 2}),
                                                DifferentiableMaterial(youngs_modulus, 0.4), solver);
  simulator->set_fixed_vertices("x_min");
  simulator->require_gradient({"youngs_modulus", "gravity"});
  return simulator;
}

Direction direction_of(DifferentiableSimulator& simulator) {
  Direction direction{simulator.parameters().zero_like({"youngs_modulus", "gravity"}),
                      simulator.scene().initial_state().zero_like()};
  Field& stiffness = direction.parameters.at("youngs_modulus").field;
  stiffness.from_host(some_values(stiffness.size(), 0.1 * youngs_modulus, 0.3));
  direction.parameters.at("gravity").field.from_host({1.0, 2.0, -1.0});
  for (const char* name : {"positions", "velocities"}) {
    Field& field = direction.initial[name];
    std::vector<double> values = some_values(field.owned_size(), name[0] == 'p' ? 0.01 : 0.5, 0.9);
    values.resize(field.size(), 0.0);
    field.from_host(values);
  }
  return direction;
}

/// Sets the parameters and the initial state to their values plus `a` times the direction.
void move_along(DifferentiableSimulator& simulator, const Direction& direction, double a) {
  std::vector<double> stiffness = direction.parameters.at("youngs_modulus").field.to_host();
  for (double& value : stiffness) value = youngs_modulus + a * value;
  simulator.parameters().at("youngs_modulus").field.from_host(stiffness);
  std::vector<double> g = direction.parameters.at("gravity").field.to_host();
  for (std::size_t i = 0; i < g.size(); ++i) g[i] = gravity[i] + a * g[i];
  simulator.parameters().at("gravity").field.from_host(g);
  std::vector<double> u = direction.initial["positions"].to_host(), v = direction.initial["velocities"].to_host();
  u.resize(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    u[i] = 0.004 * some(i, 2.0) + a * u[i];
    v[i] = 0.3 * some(i, 2.5) + a * v[i];
  }
  simulator.scene().set_initial_displacement(u);
  simulator.scene().set_initial_velocity(v);
}

/// Returns the positions and the velocities of owned vertices.
Arrays owned_values(const State& state) {
  Arrays result;
  for (const char* name : {"positions", "velocities"}) {
    result.push_back(state[name].to_host());
    result.back().resize(state[name].owned_size());
  }
  return result;
}

Arrays values_of(const ParameterSet& parameters, const State& initial) {
  Arrays result = owned_values(initial);
  for (const char* name : {"youngs_modulus", "gravity"}) result.push_back(parameters.at(name).field.to_host());
  return result;
}

/// Returns the states after 3 and `num_steps` steps.
Arrays states_of(DifferentiableSimulator& simulator) {
  Arrays result;
  simulator.rollout(num_steps, 3, [&](int n, const State& state) {
    if (n != 3 && n != num_steps) return;
    for (std::vector<double>& values : owned_values(state)) result.push_back(std::move(values));
  });
  return result;
}

Arrays gradient_of(DifferentiableSimulator& simulator) {
  LinearLoss loss;
  simulator.rollout(num_steps, 3, loss);
  simulator.backward();
  return values_of(simulator.gradient(), simulator.initial_gradient());
}

/// Derivative, by fourth-order central differences, of `function` of the simulator along the direction.
Arrays differences(DifferentiableSimulator& simulator, const Direction& direction,
                   const std::function<Arrays(DifferentiableSimulator&)>& function) {
  const double h = 0.01;
  const auto at = [&](double a) {
    move_along(simulator, direction, a);
    return function(simulator);
  };
  const Arrays ahead = at(h), behind = at(-h), far_ahead = at(2.0 * h), far_behind = at(-2.0 * h);
  Arrays result = ahead;
  for (std::size_t k = 0; k < result.size(); ++k)
    for (std::size_t i = 0; i < result[k].size(); ++i)
      result[k][i] = (8.0 * (ahead[k][i] - behind[k][i]) - (far_ahead[k][i] - far_behind[k][i])) / (12.0 * h);
  move_along(simulator, direction, 0.0);
  return result;
}

double largest(const std::vector<double>& values) {
  double result = 0.0;
  for (const double value : values) result = std::max(result, std::abs(value));
  MPI_Allreduce(MPI_IN_PLACE, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

/// Expects the entries of each array to agree to `tolerance` times the largest entry of the array.
void expect_near(const Arrays& found, const Arrays& expected, double tolerance, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].size(), expected[k].size());
    std::vector<double> error = found[k];
    for (std::size_t i = 0; i < error.size(); ++i) error[i] -= expected[k][i];
    const double scale = largest(expected[k]);
    EXPECT_GT(scale, 0.0) << what << ", array " << k;
    EXPECT_LE(largest(error), tolerance * scale) << what << ", array " << k;
  }
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

constexpr const char* integrators[] = {"symplectic_euler", "runge_kutta_4", "implicit_euler"};

/// The direction changes the strains by 0.2 % and the stiffness by 0.1 % per step of the differences, so the error of
/// fourth order is far below the tolerance.
TEST(simulator_derivatives, tangents_are_those_of_differences) {
  for (const char* integrator : integrators) {
    const auto simulator = make(integrator);
    const Direction direction = direction_of(*simulator);
    const Arrays expected = differences(*simulator, direction, states_of);
    Arrays found;
    int next = 0;
    simulator->rollout_tangent(num_steps, direction.parameters, direction.initial,
                               [&](int n, const State&, const State& tangent, const ParameterSet&) {
                                 EXPECT_EQ(n, next++);
                                 if (n != 3 && n != num_steps) return;
                                 for (std::vector<double>& values : owned_values(tangent))
                                   found.push_back(std::move(values));
                               });
    EXPECT_EQ(next, num_steps + 1);
    expect_near(found, expected, 1e-6, integrator);
  }
}

TEST(simulator_derivatives, tangent_and_gradient_are_adjoint) {
  for (const char* integrator : integrators) {
    const auto simulator = make(integrator);
    const Direction direction = direction_of(*simulator);
    move_along(*simulator, direction, 0.0);
    LinearLoss loss;
    double along = 0.0, scale = 0.0;
    simulator->rollout_tangent(num_steps, direction.parameters, direction.initial,
                               [&](int n, const State& state, const State& tangent, const ParameterSet& dp) {
                                 if (!loss.observes(n)) return;
                                 along += loss.tangent(n, state, simulator->parameters(), tangent, dp);
                                 const State w = LinearLoss::weights(n, state);
                                 scale += std::sqrt(local_dot(w, w) * local_dot(tangent, tangent));
                               });
    simulator->rollout(num_steps, 3, loss);
    simulator->backward();
    const double by_gradient = local_dot(direction.parameters, simulator->gradient()) +
                               local_dot(direction.initial, simulator->initial_gradient());
    const double a = sum_over_ranks(along, MPI_COMM_WORLD), b = sum_over_ranks(by_gradient, MPI_COMM_WORLD);
    const double tolerance = is_explicit(integrator_named(integrator)) ? 1e-11 : 1e-8;
    EXPECT_NEAR(a, b, tolerance * sum_over_ranks(scale, MPI_COMM_WORLD)) << integrator;
  }
}

TEST(simulator_derivatives, hessian_products_are_differences_of_gradients) {
  for (const char* integrator : integrators) {
    const auto simulator = make(integrator);
    const Direction direction = direction_of(*simulator);
    const Arrays expected = differences(*simulator, direction, gradient_of);
    LinearLoss loss;
    const HessianProduct product =
        simulator->hessian_product(num_steps, 3, loss, direction.parameters, direction.initial);
    expect_near(values_of(product.parameters, product.initial_state), expected, 1e-6, integrator);
  }
}

TEST(simulator_derivatives, hessian_products_do_not_depend_on_checkpoints) {
  const auto simulator = make("symplectic_euler");
  const Direction direction = direction_of(*simulator);
  move_along(*simulator, direction, 0.0);
  LinearLoss loss;
  const HessianProduct one = simulator->hessian_product(num_steps, 1, loss, direction.parameters, direction.initial),
                       other = simulator->hessian_product(num_steps, 5, loss, direction.parameters, direction.initial);
  EXPECT_EQ(values_of(one.parameters, one.initial_state), values_of(other.parameters, other.initial_state));
}

/// A State without fields is no change of the initial state.
TEST(simulator_derivatives, the_initial_state_may_be_constant) {
  const auto simulator = make("symplectic_euler");
  const Direction direction = direction_of(*simulator);
  move_along(*simulator, direction, 0.0);
  LinearLoss loss;
  const State none = direction.initial.zero_like();
  const HessianProduct one = simulator->hessian_product(num_steps, 3, loss, direction.parameters, State()),
                       other = simulator->hessian_product(num_steps, 3, loss, direction.parameters, none);
  EXPECT_EQ(values_of(one.parameters, one.initial_state), values_of(other.parameters, other.initial_state));
}

TEST(simulator_derivatives, wrong_requests_are_refused) {
  const auto simulator = make("symplectic_euler");
  const Direction direction = direction_of(*simulator);
  LinearLoss loss;
  const ParameterSet none;
  const ParameterSet density = simulator->parameters().zero_like({"density"});
  EXPECT_NE(
      message_of([&] { simulator->hessian_product(2, 1, loss, density, State()); }).find("'density', which is not"),
      std::string::npos);
  EXPECT_NE(message_of([&] { simulator->hessian_product(-1, 1, loss, none, State()); }), "");
  EXPECT_NE(message_of([&] { simulator->hessian_product(2, 0, loss, none, State()); }), "");
  EXPECT_NE(message_of([&] { simulator->rollout_tangent(-1, none, State(), {}); }), "");
  FunctionLoss without_second_derivatives([](int, const State&, State*) { return 0.0; });
  EXPECT_NE(message_of([&] {
              simulator->hessian_product(2, 1, without_second_derivatives, direction.parameters, State());
            }).find("second derivatives"),
            std::string::npos);

  // Derivatives in forward mode overwrite data of the last rollout, which the reverse sweep would need.
  simulator->rollout(2, 1);
  simulator->rollout_tangent(2, direction.parameters, State(), {});
  EXPECT_NE(message_of([&] { simulator->backward(loss); }).find("rollout"), std::string::npos);
  simulator->rollout(2, 1);
  simulator->hessian_product(2, 1, loss, direction.parameters, State());
  EXPECT_NE(message_of([&] { simulator->backward(loss); }).find("rollout"), std::string::npos);
  simulator->rollout(2, 1);
  simulator->backward(loss);
}

/// An exception of the progress callback ends a reverse sweep or a product; later sweeps are not affected.
TEST(simulator_derivatives, a_callback_ends_reverse_sweeps_and_products) {
  const auto simulator = make("symplectic_euler");
  const Direction direction = direction_of(*simulator);
  LinearLoss loss;
  simulator->rollout(num_steps, 3);
  const double value = simulator->backward(loss);
  int calls = 0;
  simulator->watch([&](long, int reached, int reversed_from) {
    ++calls;
    EXPECT_EQ(reached, num_steps);
    if (reversed_from == 4) throw Error("stopped at step 4");
  });
  simulator->rollout(num_steps, 3);
  EXPECT_EQ(calls, 0);
  EXPECT_NE(message_of([&] { simulator->backward(loss); }).find("stopped at step 4"), std::string::npos);
  EXPECT_GE(calls, 4);
  simulator->reset();

  simulator->watch([](long, int reached, int) {
    if (reached == 2) throw Error("stopped at state 2");
  });
  EXPECT_NE(message_of([&] {
              simulator->hessian_product(num_steps, 3, loss, direction.parameters, State());
            }).find("state 2"),
            std::string::npos);
  simulator->watch({});
  simulator->rollout(num_steps, 3);
  EXPECT_EQ(simulator->backward(loss), value);
}

}  // namespace
}  // namespace diffsim::simulator_derivatives_test
