// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Optimisation with constraints by mma and almm: the minima are known, both methods find them, and contradictory or
// unsupported input is refused.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "adjoint/moving_points.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/optimise.hpp"

namespace diffsim::constraints_test {
namespace {

using namespace testing_adjoint;

constexpr int num_steps = 6;

/// Search for the pushes of points and for the rate, with the loss of positions at the end.
struct Search {
  explicit Search(std::vector<double> target = {1.0, 1.5, 2.0, 2.5}) : model(Motion{}), initial(model.make_state()) {
    initial["positions"].from_host({0.2, 0.5, 0.9, 1.4});
    loss = std::make_unique<EndLoss>(num_steps, target);
    Unknown& push = unknowns.emplace_back();
    push.parameter = "push";
    push.lower = -1.0;
    push.upper = 2.0;
    push.start = {0.3};
  }
  InverseProblem problem() { return problem(*loss); }
  InverseProblem problem(Loss& of) {
    return {model, initial, num_steps, of, unknowns, [](int n) { return std::make_unique<AllSchedule>(n); }, store};
  }

  MovingPoints model;
  State initial;
  std::unique_ptr<EndLoss> loss;
  std::vector<Unknown> unknowns;
  MemoryStore store;
};

OptimiserOptions options_of(Optimiser method, std::vector<Constraint> constraints) {
  OptimiserOptions options;
  options.method = method;
  options.max_iterations = 200;
  options.gradient_tolerance = 1e-6;
  options.constraints = std::move(constraints);
  return options;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/// Norm of the gradient g without the component along the gradient c of an active constraint, relative to the norm of
/// g. The ratio is 0 at a minimum in the interior of the bounds.
double tangential(const std::vector<double>& g, const std::vector<double>& c) {
  const double along = dot(g, c) / dot(c, c);
  std::vector<double> rest = g;
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= along * c[i];
  return std::sqrt(dot(rest, rest) / dot(g, g));
}

std::vector<double> weights_of(const InverseProblem& problem) {
  std::vector<double> weights(problem.count(0));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 1.0 + static_cast<double>(i);
  return weights;
}

/// Message of the Error (input) that `call` throws; empty if it throws none.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return {};
}

class constraints : public testing::TestWithParam<Optimiser> {};

TEST_P(constraints, bound_of_a_mean_is_active_at_the_minimum) {
  Search search;
  InverseProblem problem = search.problem();
  const auto mean = make_mean_function(problem, 0, weights_of(problem));
  std::vector<double> c;
  std::vector<double> g;
  const OptimiserResult free = optimise(problem, {.method = Optimiser::lbfgs, .gradient_tolerance = 1e-9});
  const double at_free = mean->gradient(free.u, c), bound = at_free - 0.05;
  const OptimiserResult found = optimise(problem, options_of(GetParam(), {{mean, -1.0, bound}}));
  EXPECT_TRUE(found.converged) << found.reason;
  ASSERT_EQ(found.constraints.size(), 1u);
  EXPECT_NEAR(found.constraints[0], bound, 1e-6 * std::abs(bound));
  EXPECT_LE(found.violation, 1e-6);
  EXPECT_GT(found.loss, free.loss);
  EXPECT_NEAR(problem.gradient(found.u, g), found.loss, 1e-12 * found.loss);
  EXPECT_LT(tangential(g, c), 1e-4);
  EXPECT_LT(dot(g, c), 0.0);  // a larger mean would reduce the loss
}

TEST_P(constraints, inactive_bounds_do_not_change_the_minimum) {
  Search search;
  InverseProblem problem = search.problem();
  const auto mean = make_mean_function(problem, 0, weights_of(problem));
  const OptimiserResult free = optimise(problem, {.method = Optimiser::lbfgs, .gradient_tolerance = 1e-10});
  const OptimiserResult found = optimise(problem, options_of(GetParam(), {{mean, -5.0, 5.0}}));
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_EQ(found.violation, 0.0);
  for (std::size_t i = 0; i < found.u.size(); ++i) EXPECT_NEAR(found.u[i], free.u[i], 1e-4);
}

// The constraint is another rollout: the squared distance to other positions has an upper bound.
TEST_P(constraints, loss_of_another_problem_is_bounded) {
  Search search;
  InverseProblem problem = search.problem();
  EndLoss other(num_steps, {1.2, 1.2, 1.8, 2.8});
  InverseProblem distance = search.problem(other);
  const auto function = make_loss_function(distance, "distance");
  EXPECT_EQ(function->name(), "distance");
  std::vector<double> c, g;
  const OptimiserResult free = optimise(problem, {.method = Optimiser::lbfgs, .gradient_tolerance = 1e-9});
  const double bound = 0.3 * function->gradient(free.u, c);
  Constraint constraint{function};
  constraint.upper = bound;
  const OptimiserResult found = optimise(problem, options_of(GetParam(), {constraint}));
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_NEAR(found.constraints[0], bound, 1e-6 * bound);
  problem.gradient(found.u, g);
  function->gradient(found.u, c);
  EXPECT_LT(tangential(g, c), 1e-4);
}

TEST_P(constraints, first_iterate_reports_the_violation) {
  Search search;
  InverseProblem problem = search.problem();
  const auto mean = make_mean_function(problem, 0, weights_of(problem));
  std::vector<Iterate> iterates;
  const OptimiserResult found = optimise(problem, options_of(GetParam(), {{mean, -1.0, 0.2}}),
                                         [&](const Iterate& at) { iterates.push_back(at); });
  ASSERT_GE(iterates.size(), 2u);
  EXPECT_NEAR(iterates.front().violation, 0.1 / 1.0, 1e-12);  // the start is 0.3, and the larger bound is 1
  EXPECT_LE(found.violation, 1e-6);
  EXPECT_EQ(found.evaluations, iterates.back().evaluations);
}

// All unknowns begin at bounds from which the loss decreases only outwards.
TEST_P(constraints, start_at_bounds) {
  Search search;
  search.unknowns[0].start = {2.0};
  search.unknowns[0].upper = 2.0;
  EndLoss far(num_steps, {9.0, 9.0, 9.0, 9.0});
  InverseProblem problem = search.problem(far);
  const auto mean = make_mean_function(problem, 0, weights_of(problem));
  const OptimiserResult found = optimise(problem, options_of(GetParam(), {{mean, -1.0, 1.5}}));
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_NEAR(found.constraints[0], 1.5, 2e-6);
  const double norm = found.gradient_norm;
  std::vector<double> g;
  problem.gradient(problem.start(), g);
  EXPECT_LE(norm, 1e-6 * std::sqrt(dot(g, g)));
}

// The loss has no slope at the start, so its scale is large there.
TEST_P(constraints, start_at_the_minimum_without_constraints) {
  Search search;
  InverseProblem problem = search.problem();
  const auto mean = make_mean_function(problem, 0, weights_of(problem));
  std::vector<double> unused;
  OptimiserOptions options = options_of(GetParam(), {});
  options.start = optimise(problem, {.method = Optimiser::lbfgs, .gradient_tolerance = 1e-9}).u;
  const double bound = mean->gradient(*options.start, unused) - 0.1;
  options.constraints = {{mean, -1.0, bound}};
  options.gradient_tolerance = 1e-2;
  const OptimiserResult found = optimise(problem, options);
  EXPECT_NEAR(found.constraints[0], bound, 2e-6);
}

/// Function that fails outside of a ball around the start.
class Failing final : public ConstraintFunction {
 public:
  explicit Failing(std::shared_ptr<ConstraintFunction> of, double limit) : of_(std::move(of)), limit_(limit) {}
  std::string name() const override { return "failing"; }
  double gradient(const std::vector<double>& u, std::vector<double>& gradient) override {
    const double value = of_->gradient(u, gradient);
    if (value > limit_) {
      ++failures;
      throw Error("the rollout fails", ErrorKind::run);
    }
    return value;
  }
  int failures = 0;

 private:
  std::shared_ptr<ConstraintFunction> of_;
  double limit_;
};

TEST_P(constraints, that_fail_at_a_trial_point_shorten_the_step) {
  Search search;
  InverseProblem problem = search.problem();
  const auto mean = make_mean_function(problem, 0, weights_of(problem));
  const double limit = 0.31;  // the start is 0.3
  const auto failing = std::make_shared<Failing>(mean, limit);
  OptimiserOptions options = options_of(GetParam(), {{failing, -1.0, 0.5}});
  options.max_iterations = 5;
  const OptimiserResult found = optimise(problem, options);
  EXPECT_GT(failing->failures, 0);
  EXPECT_LE(found.constraints.at(0), limit);
}

INSTANTIATE_TEST_SUITE_P(by, constraints, testing::Values(Optimiser::mma, Optimiser::almm), [](const auto& method) {
  return std::string(optimisers[static_cast<std::size_t>(method.param)]);
});

TEST(constraint, equation_is_satisfied) {
  Search search;
  InverseProblem problem = search.problem();
  const auto mean = make_mean_function(problem, 0, weights_of(problem));
  const OptimiserResult found = optimise(problem, options_of(Optimiser::almm, {{mean, 0.1, 0.1}}));
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_NEAR(found.constraints[0], 0.1, 1e-7);
  std::vector<double> c, g;
  problem.gradient(found.u, g);
  mean->gradient(found.u, c);
  EXPECT_LT(tangential(g, c), 1e-4);
}

// c = L^(1/root).
TEST(constraint, root_of_a_loss_has_the_right_slope) {
  Search search;
  InverseProblem problem = search.problem();
  const auto root = make_loss_function(problem, "root", 3.0);
  std::vector<double> u = problem.start(), c, g, unused;
  const double value = root->gradient(u, c), loss = problem.gradient(u, g);
  EXPECT_NEAR(value, std::cbrt(loss), 1e-14);
  for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(c[i], g[i] / (3.0 * value * value), 1e-13);
  EXPECT_NE(refusal([&] { make_loss_function(problem, "root", 0.5); }), "");
}

TEST(constraint, start_outside_of_bounds_is_moved_to_the_bounds) {
  Search search;
  InverseProblem problem = search.problem();
  OptimiserOptions options = options_of(Optimiser::mma, {});
  options.start = std::vector<double>(problem.size(), 5.0);
  options.max_iterations = 100;
  options.gradient_tolerance = 1e-3;
  const OptimiserResult found = optimise(problem, options, [](const Iterate& at) {
    for (const double value : *at.u) EXPECT_LE(value, 2.0);
  });
  EXPECT_LT(found.loss, 1e-3);
}

TEST(constraint, mean_of_a_logarithmic_unknown_has_the_right_slope) {
  Search search;
  search.unknowns[0].logarithmic = true;
  search.unknowns[0].lower = 0.1;
  InverseProblem problem = search.problem();
  const auto mean = make_mean_function(problem, 0, weights_of(problem));
  std::vector<double> u = problem.start(), c, unused;
  for (std::size_t i = 0; i < u.size(); ++i) u[i] += 0.1 * static_cast<double>(i);
  const double value = mean->gradient(u, c);
  std::vector<double> weighted = problem.physical(0, u), weights = weights_of(problem);
  EXPECT_NEAR(value, dot(weights, weighted) / dot(weights, std::vector<double>(weights.size(), 1.0)), 1e-14);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int rank = 0; rank < ranks; ++rank)
    for (std::size_t i = 0; i < u.size(); ++i) {
      constexpr double h = 1e-3;
      const bool own = rank == rank_of(MPI_COMM_WORLD);
      const auto at = [&](double shift) {
        std::vector<double> moved = u;
        if (own) moved[i] += shift;
        return mean->gradient(moved, unused);
      };
      const double slope = (8.0 * (at(h) - at(-h)) - at(2.0 * h) + at(-2.0 * h)) / (12.0 * h);
      EXPECT_NEAR(own ? c[i] : slope, slope, 1e-10);
    }
}

TEST(constraint, refuses_what_cannot_be_satisfied_or_is_not_supported) {
  Search search;
  InverseProblem problem = search.problem();
  const auto mean = make_mean_function(problem, 0, weights_of(problem));
  const double infinity = std::numeric_limits<double>::infinity();
  const auto refused = [&](Optimiser method, const std::vector<Constraint>& given, const std::string& part) {
    const std::string message = refusal([&] { optimise(problem, options_of(method, given)); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refused(Optimiser::mma, {{mean, 0.2, 0.1}}, "cannot be satisfied, because its lower bound");
  refused(Optimiser::almm, {{mean, -infinity, infinity}}, "constraint of mean of push has no bound");
  refused(Optimiser::almm, {{mean, std::nan(""), 1.0}}, "has no bound");
  refused(Optimiser::mma, {{mean, 0.1, 0.1}}, "no equations; use the method almm");
  refused(Optimiser::lbfgs, {{mean, 0.0, 0.1}}, "the method lbfgs does not support constraints");
  refused(Optimiser::almm, {}, "needs constraints");
  search.unknowns[0].upper = infinity;
  InverseProblem unbounded = search.problem();
  EXPECT_NE(refusal([&] { optimise(unbounded, options_of(Optimiser::mma, {})); }), "");
  EXPECT_NE(refusal([&] { make_mean_function(problem, 0, {1.0}); }), "");
  EXPECT_NE(refusal([&] { make_mean_function(problem, 0, std::vector<double>(problem.count(0), -1.0)); }), "");
}

}  // namespace
}  // namespace diffsim::constraints_test
