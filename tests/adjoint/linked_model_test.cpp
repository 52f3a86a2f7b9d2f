// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/linked_model.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adjoint/adjoint_sweep.hpp"
#include "adjoint/curved_derivatives.hpp"
#include "adjoint/directional.hpp"
#include "diffsim/adjoint/sweep.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::linked_model_test {
namespace {

using namespace testing_adjoint;

constexpr int num_steps = 40;  // more than AdjointSweep::steps_of_block

std::vector<double> values_in(const ParameterSet& set, const std::string& name, std::size_t size) {
  const Parameter* const found = set.find(name);
  return found ? found->field.to_host() : std::vector<double>(size, 0.0);
}

/// Link u_i = 0.05 n - gain x_i² - rate x_i for the control `push`. The step of CurvedPoints also depends on the rate.
class Spring final : public Link {
 public:
  std::vector<std::string> controls() const override { return {"push"}; }
  void evaluate(int n, const State& state, const ParameterSet& parameters, ParameterSet& controls) override {
    EXPECT_EQ(parameters.at("push").field.to_host(), std::vector<double>(4, 0.0));
    const std::vector<double> x = state["positions"].to_host();
    const double gain = parameters.at("gain").field.to_host()[0], rate = parameters.at("rate").field.to_host()[0];
    std::vector<double> u(4);
    for (std::size_t i = 0; i < 4; ++i) u[i] = 0.05 * n - gain * x[i] * x[i] - rate * x[i];
    controls.at("push").field.from_host(u);
  }
  void tangent(int, const State& state, const ParameterSet& parameters, const State& tangent,
               const ParameterSet& direction, ParameterSet& control_tangents) override {
    const std::vector<double> x = state["positions"].to_host(), dx = tangent["positions"].to_host();
    const double gain = parameters.at("gain").field.to_host()[0], rate = parameters.at("rate").field.to_host()[0],
                 d_gain = values_in(direction, "gain", 1)[0], d_rate = values_in(direction, "rate", 1)[0];
    std::vector<double> du(4);
    for (std::size_t i = 0; i < 4; ++i)
      du[i] = -(2.0 * gain * x[i] + rate) * dx[i] - d_gain * x[i] * x[i] - d_rate * x[i];
    control_tangents.at("push").field.from_host(du);
  }
  void add_adjoint(int, const State& state, const ParameterSet& parameters, const ParameterSet& control_adjoints,
                   State& adjoint, ParameterSet& gradient) override {
    const std::vector<double> x = state["positions"].to_host(), w = control_adjoints.at("push").field.to_host();
    const double gain = parameters.at("gain").field.to_host()[0], rate = parameters.at("rate").field.to_host()[0];
    std::vector<double> by_x(4);
    double by_gain = 0.0, by_rate = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      by_x[i] = -(2.0 * gain * x[i] + rate) * w[i];
      by_gain -= x[i] * x[i] * w[i];
      by_rate -= x[i] * w[i];
    }
    add(by_x, by_gain, by_rate, adjoint, gradient);
    // A contribution to the control itself, which the model must drop.
    add_to(gradient.at("push").field, {7.0, 7.0, 7.0, 7.0});
  }
  void add_adjoint_tangent(int, const State& state, const ParameterSet& parameters, const State& tangent,
                           const ParameterSet& direction, const ParameterSet& control_adjoints,
                           const ParameterSet& control_adjoint_tangents, State& adjoint_tangent,
                           ParameterSet& gradient_tangent) override {
    const std::vector<double> x = state["positions"].to_host(), dx = tangent["positions"].to_host(),
                              w = control_adjoints.at("push").field.to_host(),
                              dw = control_adjoint_tangents.at("push").field.to_host();
    const double gain = parameters.at("gain").field.to_host()[0], rate = parameters.at("rate").field.to_host()[0],
                 d_gain = values_in(direction, "gain", 1)[0], d_rate = values_in(direction, "rate", 1)[0];
    std::vector<double> by_x(4);
    double by_gain = 0.0, by_rate = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      by_x[i] = -(2.0 * gain * x[i] + rate) * dw[i] - (2.0 * (d_gain * x[i] + gain * dx[i]) + d_rate) * w[i];
      by_gain -= x[i] * x[i] * dw[i] + 2.0 * x[i] * dx[i] * w[i];
      by_rate -= x[i] * dw[i] + dx[i] * w[i];
    }
    add(by_x, by_gain, by_rate, adjoint_tangent, gradient_tangent);
  }

 private:
  static void add(const std::vector<double>& by_x, double by_gain, double by_rate, State& adjoint,
                  ParameterSet& gradient) {
    add_to(adjoint["positions"], by_x);
    if (Parameter* const sum = gradient.find("gain")) add_to(sum->field, {by_gain});
    if (Parameter* const sum = gradient.find("rate")) add_to(sum->field, {by_rate});
  }
};

/// CurvedPoints whose push is computed by the link Spring.
struct Linked {
  Linked(double gain, double rate) : model(points) {
    points.parameters().at("push").spec.by_step = true;
    points.parameters().add("gain", Entities::one_for_all(points.comm())).field.fill(gain);
    points.parameters().at("rate").field.fill(rate);
    model.add(std::make_shared<Spring>());
  }
  State start(double shift = 0.0) {
    State state = model.make_state();
    std::vector<double> x = curved_start();
    for (std::size_t i = 0; i < 4; ++i) x[i] += shift * (1.0 + 0.3 * static_cast<double>(i));
    state["positions"].from_host(x);
    return state;
  }

  CurvedPoints points;
  LinkedModel model;
};

constexpr double gain_0 = 0.4, rate_0 = 0.8, d_gain = 0.3, d_rate = -0.2;

double loss_at(double gain, double rate, double shift) {
  Linked linked(gain, rate);
  CurvedLoss loss(num_steps);
  State state = linked.start(shift);
  return rollout(linked.model, state, num_steps, &loss);
}

/// Gradient by gain, rate and shift of the start.
std::array<double, 3> gradient_at(double gain, double rate, Schedule& schedule) {
  Linked linked(gain, rate);
  CurvedLoss loss(num_steps);
  ParameterSet gradient = linked.model.parameters().zero_like({"rate", "gain"});
  MemoryStore store;
  AdjointSweep sweep(linked.model, loss, schedule, store);
  State state = linked.start(), adjoint = state.zero_like();
  sweep.forward(state, gradient);
  sweep.backward(adjoint);
  const std::vector<double> a = adjoint["positions"].to_host();
  double by_shift = 0.0;
  for (std::size_t i = 0; i < 4; ++i) by_shift += a[i] * (1.0 + 0.3 * static_cast<double>(i));
  return {gradient.at("gain").field.to_host()[0], gradient.at("rate").field.to_host()[0],
          sum_over_ranks(by_shift, linked.model.comm())};
}

/// Sixth-order difference of f at 0.
double difference(const std::function<double(double)>& f) {
  constexpr double h = 0.01;
  return (45.0 * (f(h) - f(-h)) - 9.0 * (f(2 * h) - f(-2 * h)) + f(3 * h) - f(-3 * h)) / (60.0 * h);
}

TEST(linked_model, has_the_gradient_that_differences_have) {
  AllSchedule all(num_steps);
  const auto found = gradient_at(gain_0, rate_0, all);
  const double by_gain = difference([](double e) { return loss_at(gain_0 + e, rate_0, 0.0); }),
               by_rate = difference([](double e) { return loss_at(gain_0, rate_0 + e, 0.0); }),
               by_shift = difference([](double e) { return loss_at(gain_0, rate_0, e); });
  EXPECT_NEAR(found[0], by_gain, 1e-8 * std::abs(by_gain));
  EXPECT_NEAR(found[1], by_rate, 1e-8 * std::abs(by_rate));
  EXPECT_NEAR(found[2], by_shift, 1e-8 * std::abs(by_shift));
}

TEST(linked_model, does_not_depend_on_the_schedule) {
  AllSchedule all(num_steps);
  UniformSchedule uniform(num_steps, 6);
  EXPECT_EQ(gradient_at(gain_0, rate_0, all), gradient_at(gain_0, rate_0, uniform));
}

TEST(linked_model, has_the_tangent_of_the_gradient) {
  Linked linked(gain_0, rate_0);
  CurvedLoss loss(num_steps);
  ParameterSet direction = linked.model.parameters().zero_like({"gain", "rate"});
  direction.at("gain").field.fill(d_gain);
  direction.at("rate").field.fill(d_rate);
  State state = linked.start(), tangent = state.zero_like();
  const double found = rollout_tangent(linked.model, state, tangent, direction, num_steps, &loss);
  AllSchedule all(num_steps);
  const auto gradient = gradient_at(gain_0, rate_0, all);
  const double expected = d_gain * gradient[0] + d_rate * gradient[1];
  EXPECT_NEAR(found, expected, 1e-12 * std::abs(expected));
}

TEST(linked_model, has_the_hessian_product_that_differences_have) {
  Linked linked(gain_0, rate_0);
  CurvedLoss curved(num_steps);
  ParameterSet direction = linked.model.parameters().zero_like({"gain", "rate"}),
               product = direction.zero_like({"gain", "rate"});
  direction.at("gain").field.fill(d_gain);
  direction.at("rate").field.fill(d_rate);
  DirectionalModel model(linked.model, direction);
  DirectionalLoss loss(curved, model);
  MemoryStore store;
  UniformSchedule schedule(num_steps, 7);
  AdjointSweep sweep(model, loss, schedule, store);
  State state = model.make_state(), adjoint = state.zero_like();
  state["positions"].from_host(curved_start());
  sweep.forward(state, product);
  sweep.backward(adjoint);
  const auto change = [&](std::size_t k) {
    return difference([&](double e) {
      AllSchedule all(num_steps);
      return gradient_at(gain_0 + e * d_gain, rate_0 + e * d_rate, all)[k];
    });
  };
  EXPECT_NEAR(product.at("gain").field.to_host()[0], change(0), 1e-8 * std::abs(change(0)));
  EXPECT_NEAR(product.at("rate").field.to_host()[0], change(1), 1e-8 * std::abs(change(1)));
}

TEST(linked_model, does_not_change_the_revision_of_the_parameters) {
  Linked linked(gain_0, rate_0);
  State state = linked.start();
  linked.model.prepare();
  const auto before = linked.model.parameters().revision();
  linked.model.step(0, state, nullptr);
  EXPECT_EQ(linked.model.parameters().revision(), before);
  EXPECT_EQ(linked.model.parameters().at("push").field.to_host(), std::vector<double>(4, 0.0));
}

TEST(linked_model, refuses_controls_that_are_not_possible) {
  Linked linked(gain_0, rate_0);
  EXPECT_THROW(linked.model.add(std::make_shared<Spring>()), Error);  // `push` already is a control
  CurvedPoints points;                                                // here, `push` has no values for single steps
  LinkedModel model(points);
  EXPECT_THROW(model.add(std::make_shared<Spring>()), Error);
  const ParameterSet gradient = linked.model.parameters().zero_like({"push"});
  EXPECT_THROW(linked.model.begin_adjoint(gradient), Error);
  const auto text_of = [](const auto& act) {
    try {
      act();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(text_of([&] { linked.model.prepare_tangent(gradient); }).find("no derivative with respect to 'push'"),
            std::string::npos);
  class Twice final : public Link {
   public:
    std::vector<std::string> controls() const override { return {"push", "push"}; }
    void evaluate(int, const State&, const ParameterSet&, ParameterSet&) override {}
    void tangent(int, const State&, const ParameterSet&, const State&, const ParameterSet&, ParameterSet&) override {}
    void add_adjoint(int, const State&, const ParameterSet&, const ParameterSet&, State&, ParameterSet&) override {}
  };
  points.parameters().at("push").spec.by_step = true;
  EXPECT_NE(text_of([&] { model.add(std::make_shared<Twice>()); }).find("occurs twice"), std::string::npos);
}

}  // namespace
}  // namespace diffsim::linked_model_test
