// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Whole optimisations with Adam: the steps are those of the published algorithm, the sought values are found, bounds
// are respected, and an optimisation that resumes from its log gives bitwise identical results.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <vector>

#include "adjoint/moving_points.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "inverse/evaluation_log.hpp"

namespace diffsim::adam_test {
namespace {

using namespace testing_adjoint;

constexpr int num_steps = 12;
constexpr double true_rate = 1.1;

/// Search for the rate and the pushes with which points reach the positions that they reach with the true values.
struct Search {
  explicit Search(std::vector<std::string> names = {"rate", "push"}) : model(Motion{}), initial(model.make_state()) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    initial["positions"].from_host({0.2 + 0.1 * rank, 0.5, 0.9, 1.4});
    const std::vector<double> pushes{0.1, 0.2 + 0.05 * rank, 0.4, 0.5};
    model.parameters().at("rate").field.fill(true_rate);
    if (names.size() > 1) model.parameters().at("push").field.from_host(pushes);
    State state = initial.clone();
    for (int n = 0; n < num_steps; ++n) model.step(n, state, nullptr);
    loss = std::make_unique<EndLoss>(num_steps, state["positions"].to_host());
    for (const std::string& name : names) {
      Unknown& unknown = unknowns.emplace_back();
      unknown.parameter = name;
      unknown.logarithmic = name == "rate";
      unknown.start = {name == "rate" ? 0.7 : 0.3};
    }
  }
  InverseProblem problem() {
    return {model, initial, num_steps, *loss, unknowns, [](int n) { return std::make_unique<AllSchedule>(n); }, store};
  }

  MovingPoints model;
  State initial;
  std::unique_ptr<EndLoss> loss;
  std::vector<Unknown> unknowns;
  MemoryStore store;
};

OptimiserOptions adam(int iterations, double learning_rate = 0.05) {
  OptimiserOptions options;
  options.method = Optimiser::adam;
  options.max_iterations = iterations;
  options.gradient_tolerance = 1e-6;
  options.learning_rate = learning_rate;
  return options;
}

TEST(adam, finds_a_rate) {
  Search search({"rate"});
  InverseProblem problem = search.problem();
  const double first = problem.value(problem.start());
  const OptimiserResult found = optimise(problem, adam(400));
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_NEAR(problem.physical(0, found.u).at(0), true_rate, 1e-6);
  EXPECT_LE(found.loss, 1e-10 * first);
  EXPECT_EQ(found.evaluations, found.iterations + 1);
}

TEST(adam, takes_the_steps_of_the_published_algorithm) {
  // Independent implementation of Kingma & Ba 2015, algorithm 1.
  constexpr int iterations = 60;
  constexpr double rate = 0.03, beta1 = 0.9, beta2 = 0.999;
  Search search;
  InverseProblem problem = search.problem();
  std::vector<std::vector<double>> path;
  const OptimiserResult found =
      optimise(problem, adam(iterations, rate), [&](const Iterate& iterate) { path.push_back(*iterate.u); });
  ASSERT_EQ(path.size(), static_cast<std::size_t>(iterations) + 1);
  std::vector<double> u = problem.start(), g, m(u.size(), 0.0), v(u.size(), 0.0);
  for (int t = 1; t <= iterations; ++t) {
    problem.gradient(u, g);
    for (std::size_t i = 0; i < u.size(); ++i) {
      m[i] = beta1 * m[i] + (1.0 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1.0 - beta2) * g[i] * g[i];
      u[i] -= rate * (m[i] / (1.0 - std::pow(beta1, t))) / std::sqrt(v[i] / (1.0 - std::pow(beta2, t)));
      EXPECT_NEAR(path[static_cast<std::size_t>(t)][i], u[i], 1e-9) << "iteration " << t;
    }
  }
  EXPECT_EQ(found.u, path.back());
  EXPECT_LT(found.loss, 0.01 * problem.value(problem.start()));
}

TEST(adam, keeps_bounds) {
  Search search({"rate"});
  search.unknowns[0].upper = 0.9;
  InverseProblem problem = search.problem();
  const OptimiserResult found = optimise(problem, adam(200), [](const Iterate& iterate) {
    for (const double u : *iterate.u) EXPECT_LE(u, std::log(0.9));
  });
  EXPECT_NEAR(problem.physical(0, found.u).at(0), 0.9, 1e-12);
  EXPECT_TRUE(found.converged) << found.reason;  // the projected gradient is zero at the bound
}

/// Exception that interrupts an optimisation.
struct Stopped {};
/// Returns the iterates and the result of an optimisation whose evaluations are logged. The optimisation is interrupted
/// at iteration `last`.
std::vector<std::vector<double>> logged(const std::string& path, bool resume, int last, long& replayed) {
  Search search;
  InverseProblem problem = search.problem();
  CheckpointDirectory::Options options;
  options.keep = true;
  options.resume = resume;
  auto directory = std::make_shared<CheckpointDirectory>(MPI_COMM_WORLD, path, options);
  EvaluationLog log(directory, RowOrder(MPI_COMM_WORLD));
  problem.set_log(&log);
  std::vector<std::vector<double>> iterates;
  try {
    const OptimiserResult found = optimise(problem, adam(40), [&](const Iterate& iterate) {
      iterates.push_back(*iterate.u);
      if (iterate.iteration == last) throw Stopped();
    });
    iterates.push_back(found.u);
    iterates.push_back({found.loss, found.gradient_norm});
  } catch (const Stopped&) {
  }
  replayed = log.num_replayed();
  return iterates;
}

TEST(adam, goes_on_from_its_log_to_the_same_bits) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::string path = "adam_log.np" + std::to_string(ranks);
  long replayed = 0;
  const std::vector<std::vector<double>> whole = logged(path, false, -1, replayed);
  EXPECT_EQ(replayed, 0);
  ASSERT_EQ(whole.size(), 43u);
  for (const int stop : {1, 17, 39}) {
    const std::vector<std::vector<double>> part = logged(path, false, stop, replayed);
    EXPECT_EQ(replayed, 0);
    EXPECT_EQ(part, std::vector(whole.begin(), whole.begin() + stop + 1));
    EXPECT_EQ(logged(path, true, -1, replayed), whole) << stop;
    EXPECT_EQ(replayed, stop + 1);
  }
}

}  // namespace
}  // namespace diffsim::adam_test
