// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Experiments on groups of processes: results are bitwise identical to those of experiments that run one after the
// other on one rank, and errors are thrown on all ranks.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::process_groups_test {
namespace {

using Numbers = std::vector<double>;

constexpr int num_experiments = 3, num_steps = 4;

/// Cantilever with the gravity of an experiment, and the loss of the position of its end.
struct Experiment {
  Experiment(MPI_Comm comm, int number) {
    const auto mesh = TetrahedralMesh::box(comm, {0.4, 0.1, 0.1}, {4, 1, 1});
    scene = std::make_unique<DifferentiableScene>(
        mesh,
        std::vector<DifferentiableMaterial>{
            {"neo_hookean", {{"youngs_modulus", 4e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"}},
        DifferentiableSolver{
            .dt = 0.01, .gravity = {1.0 * number, -9.8, 2.0}, .integrator = Integrator::implicit_euler});
    scene->fix("x_min");
    loss = std::make_unique<TargetPositionLoss>(*mesh, mesh->region("x_max"),
                                                std::array{0.4, 0.04, 0.05 + 0.01 * number}, num_steps);
    Unknown modulus{.parameter = "youngs_modulus"}, density{.parameter = "density"};
    for (Unknown* const unknown : {&modulus, &density}) {
      unknown->group.assign(static_cast<std::size_t>(mesh->num_cells()), 0);
      unknown->group_names = {""};
    }
    modulus.logarithmic = true;
    modulus.start = {2e4 * (1.0 + number)};
    density.lower = 100.0;
    problem = std::make_unique<InverseProblem>(scene->model(), scene->initial_state(), num_steps, *loss,
                                               std::vector<Unknown>{modulus, density});
  }
  std::unique_ptr<DifferentiableScene> scene;
  std::unique_ptr<Loss> loss;
  std::unique_ptr<InverseProblem> problem;
};

/// Experiments of one group, which are evaluated on `comm`.
struct Group {
  Group(MPI_Comm comm, std::vector<int> of) : numbers(std::move(of)) {
    for (const int number : numbers) experiments.push_back(std::make_unique<Experiment>(comm, number));
    for (std::size_t k = 1; k < experiments.size(); ++k) problem().add(*experiments[k]->problem);
    // A prior is part of the sum once.
    problem().add_prior(1,
                        make_normal_prior(comm, Numbers(problem().count(1), 900.0), Numbers(problem().count(1), 1e4)));
  }
  InverseProblem& problem() { return *experiments.front()->problem; }
  std::vector<int> numbers;
  std::vector<std::unique_ptr<Experiment>> experiments;
};

int ranks() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Experiments of this rank's group, if each rank is a group. The order of experiments differs from that of ranks.
std::vector<int> numbers_of_rank() {
  std::vector<int> numbers;
  for (int k = 0; k < num_experiments; ++k)
    if ((num_experiments - 1 - k) % ranks() == rank_of(MPI_COMM_WORLD)) numbers.push_back(k);
  return numbers;
}

TEST(process_groups, have_the_bits_of_one_group) {
  Group alone(MPI_COMM_SELF, {0, 1, 2}), group(MPI_COMM_SELF, numbers_of_rank());
  InverseProblem &one = alone.problem(), &shared = group.problem();
  shared.share_experiments(MPI_COMM_WORLD, group.numbers);
  const Numbers u = shared.start();
  ASSERT_EQ(u, one.start());
  Numbers g, expected;
  EXPECT_EQ(shared.value(u), one.value(u));
  EXPECT_EQ(shared.losses(), one.losses());
  EXPECT_EQ(shared.losses().size(), static_cast<std::size_t>(num_experiments));
  EXPECT_EQ(shared.gradient(u, g), one.gradient(u, expected));
  EXPECT_EQ(g, expected);
  EXPECT_NE(g[0], 0.0);
  const Numbers v{0.3, -20.0};
  Numbers by_product, expected_by_product;
  EXPECT_EQ(shared.hessian_product(u, v, &by_product), one.hessian_product(u, v, &expected_by_product));
  EXPECT_EQ(by_product, expected_by_product);
  EXPECT_EQ(shared.hessian_product(u, v), one.hessian_product(u, v));
  for (InverseProblem* const problem : {&one, &shared}) problem->use_gauss_newton(true);
  EXPECT_EQ(shared.hessian_product(u, v, &by_product), one.hessian_product(u, v, &expected_by_product));
  EXPECT_EQ(by_product, expected_by_product);
  for (InverseProblem* const problem : {&one, &shared}) problem->use_gauss_newton(false);
  const OptimiserOptions options{.max_iterations = 8};
  const OptimiserResult found = optimise(shared, options), found_alone = optimise(one, options);
  EXPECT_EQ(found.u, found_alone.u);
  EXPECT_EQ(found.evaluations, found_alone.evaluations);
  EXPECT_LT(found.loss, one.value(u));
}

// On three ranks, there is a group of two ranks and a group of one rank; on one or two ranks, there is one group.
TEST(process_groups, may_have_several_ranks) {
  const bool is_first = rank_of(MPI_COMM_WORLD) < 2, is_only = ranks() < 3;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_first ? 0 : 1, 0, &comm);
  {
    Group alone(MPI_COMM_SELF, {0, 1, 2}), group(comm, is_only    ? std::vector{0, 1, 2}
                                                       : is_first ? std::vector{2}
                                                                  : std::vector{0, 1});
    InverseProblem &one = alone.problem(), &shared = group.problem();
    shared.share_experiments(MPI_COMM_WORLD, group.numbers);
    Numbers g, expected;
    const double loss = one.gradient(one.start(), expected);
    EXPECT_NEAR(shared.gradient(shared.start(), g), loss, 1e-9 * loss);
    EXPECT_EQ(g.size(), rank_of(comm) == 0 ? 2u : 0u);
    for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], expected[i], 1e-7 * std::abs(expected[i]));
  }
  MPI_Comm_free(&comm);
}

TEST(process_groups, report_an_error_on_all_ranks) {
  const std::vector<int> numbers = numbers_of_rank();
  ASSERT_FALSE(numbers.empty());
  Group group(MPI_COMM_SELF, numbers);
  group.problem().share_experiments(MPI_COMM_WORLD, numbers);
  // The loss of the group with experiment 0 throws.
  const bool fails = std::find(numbers.begin(), numbers.end(), 0) != numbers.end();
  FunctionLoss thrower(
      [](int, const State&, State*) -> double { throw Error("this experiment fails", ErrorKind::run); });
  const Experiment other(MPI_COMM_SELF, 3);
  const std::unique_ptr<InverseProblem> failing = other.problem->with_loss(thrower);
  if (fails) group.problem().add(*failing);
  try {
    group.problem().value(group.problem().start());
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "this experiment fails");
  }
}

/// Prior of one value with a gradient that is not finite.
class BadPrior final : public Prior {
 public:
  explicit BadPrior(std::size_t size) : size_(size) {}
  std::size_t size() const override { return size_; }
  double value(const Numbers&) const override { return 0.0; }
  void add_gradient(const Numbers&, Numbers& gradient) const override {
    for (double& entry : gradient) entry += std::nan("");
  }
  void add_product(const Numbers&, const Numbers&, Numbers&) const override {}

 private:
  std::size_t size_;
};

TEST(process_groups, refuse_a_prior_whose_gradient_is_not_finite) {
  Group group(MPI_COMM_SELF, numbers_of_rank());
  group.problem().share_experiments(MPI_COMM_WORLD, group.numbers);
  group.problem().add_prior(0, std::make_unique<BadPrior>(group.problem().count(0)));
  Numbers g;
  try {
    group.problem().gradient(group.problem().start(), g);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the gradient of a prior is not finite");
    EXPECT_EQ(error.kind(), ErrorKind::run);
  }
}

TEST(process_groups, refuse_bad_input) {
  Group group(MPI_COMM_SELF, {0, 1});
  EXPECT_THROW(group.problem().share_experiments(MPI_COMM_SELF, {0}), Error);
  EXPECT_THROW(group.problem().share_experiments(MPI_COMM_SELF, {0, 0}), Error);
  EXPECT_THROW(group.problem().share_experiments(MPI_COMM_SELF, {1, 2}), Error);
  Experiment field(MPI_COMM_SELF, 0);
  InverseProblem of_cells(field.scene->model(), field.scene->initial_state(), num_steps, *field.loss,
                          {{.parameter = "youngs_modulus"}});
  EXPECT_THROW(of_cells.share_experiments(MPI_COMM_SELF, {0}), Error);
}

}  // namespace
}  // namespace diffsim::process_groups_test
