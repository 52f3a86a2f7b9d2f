// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives with respect to the contact laws of regions of surfaces: whole rollouts compared with eighth-order
// differences for each parameter separately, dot products, and products with the Hessian. Also identifies three
// coefficients of friction of one sole from its motion.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "inverse/hessian_check.hpp"
#include "simulation/contact_regions.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::contact_regions_gradient_test {
namespace {

using namespace testing_contact;

/// Scene with regions whose pairs have all parameters of a law of their own, some, or none. Slip velocities stay below
/// ε_v, so the results depend on ε_v.
Scene laws(const std::string& integrator) {
  Scene scene = tower_with_regions({0.014, 3e3, 0.3, 0.9}, integrator);
  scene.contact.pairs = {{{"floor", "low/under"}, 0.016, 5e3, 0.5, 0.7},
                         {{"low/left", "middle"}, 0.0135, 4e3, 0.2, 0.8},
                         {{"middle/under", "low/right"}, 0.015, {}, 0.4, {}},
                         {{"high", "middle"}, {}, {}, 0.35, {}},
                         {{"roof", "high/over"}, {}, 2e3, {}, 0.6}};
  return scene;
}

const std::vector<std::string> names_of_law{"barrier_distance:floor|low/under",
                                            "barrier_stiffness:floor|low/under",
                                            "friction:floor|low/under",
                                            "friction_velocity:floor|low/under",
                                            "barrier_distance:low/left|middle",
                                            "barrier_stiffness:low/left|middle",
                                            "friction:low/left|middle",
                                            "friction_velocity:low/left|middle",
                                            "barrier_distance:middle/under|low/right",
                                            "friction:middle/under|low/right",
                                            "friction:high|middle",
                                            "barrier_stiffness:roof|high/over",
                                            "friction_velocity:roof|high/over"};

class EveryLawOfRegions : public testing::TestWithParam<const char*> {};

TEST_P(EveryLawOfRegions, has_the_slopes_that_differences_have) {
  std::vector<std::string> names = names_of_law;
  names.insert(names.end(), {"barrier_stiffness", "rest_positions", "initial_velocities"});
  const Scene scene = laws(GetParam());
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_solver(scene, comm); }, 2, names);
}

INSTANTIATE_TEST_SUITE_P(contact_regions, EveryLawOfRegions, testing::Values("symplectic_euler", "newmark"),
                         [](const auto& which) { return std::string(which.param); });

/// Inverse problem with the mean positions of two regions after some steps as the loss, and the parameters of the laws
/// as unknowns.
class Problem {
 public:
  Problem(const Scene& scene, int steps) : solver_(make_solver(scene)) {
    solver_.mesh()->define_region("top", BoxShape{{-1.0, 0.1, -1.0}, {1.0, 1.0, 1.0}});
    for (const char* region : {"all", "top"})
      loss_.add(std::make_unique<TargetPositionLoss>(*solver_.mesh(), solver_.mesh()->region(region),
                                                     std::array<double, 3>{0.2, 0.3, -0.1}, steps));
    problem_ = std::make_unique<InverseProblem>(
        solver_.model(), solver_.initial_state(), steps, loss_,
        testing_simulation::unknowns_of(names_of_law, {"barrier_stiffness:low/left|middle"}),
        [](int n) { return std::make_unique<UniformSchedule>(n, 3); }, store_);
  }
  InverseProblem& operator*() { return *problem_; }

 private:
  DifferentiableScene solver_;
  SumLoss loss_;
  MemoryStore store_;
  std::unique_ptr<InverseProblem> problem_;
};

TEST(contact_regions, dot_products_slopes_and_products_with_the_hessian) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    SCOPED_TRACE(integrator);
    Problem problem(laws(integrator), is_explicit(integrator_named(integrator)) ? 8 : 2);
    testing_simulation::expect_checked(*problem);
    HessianCheckOptions options;
    if (ranks() > 1) options.differences = false;
    const HessianCheck result = check_hessian(*problem, (*problem).start(), options);
    EXPECT_LE(result.symmetry, 1e-10);
    EXPECT_TRUE(ranks() > 1 || result.passed) << testing::PrintToString(result.taylor_orders);
    EXPECT_FALSE(result.quadratic);
  }
}

constexpr int num_steps = 60;
const std::vector<std::string> soles{"left", "middle", "right"};
const std::vector<double> true_friction{0.15, 0.3, 0.45};

/// Scene of a block thrown along a floor. The lower side of the block has three regions.
DifferentiableScene make_slider() {
  Scene scene;
  scene.dt = 2.5e-4;
  scene.gravity = {0.0, -9.8, 0.0};
  scene.blocks = {{{0.18, 0.03, 0.04}, {6, 1, 1}, {0.0, 0.0045, 0.0}, 0.0, {0.45, 0.0, 0.05}}};
  for (std::size_t k = 0; k < soles.size(); ++k) {
    const double begin = 0.06 * static_cast<double>(k);
    scene.regions.push_back({soles[k], {{begin - 0.001, 0.004, -1.0}, {begin + 0.061, 0.005, 1.0}}});
    scene.contact.pairs.push_back({{soles[k], "floor"}, {}, {}, true_friction[k]});
  }
  scene.contact.barrier_distance = 5e-3;
  scene.contact.barrier_stiffness = 2e3;
  scene.contact.friction_velocity = 0.02;
  scene.contact.planes.push_back({.label = "floor"});
  return make_solver(scene);
}

TEST(contact_regions, three_coefficients_of_one_sole_are_found_from_its_motion) {
  DifferentiableScene solver = make_slider();
  solver.model().prepare();
  State state = solver.initial_state();
  std::map<int, std::vector<double>> observed;
  for (int n = 1; n <= num_steps; ++n) {
    solver.step(n - 1, state);
    if (n % 10 != 0) continue;
    observed[n] = state["positions"].to_host();
    observed[n].resize(3 * static_cast<std::size_t>(solver.mesh()->num_owned_vertices()));
  }
  TrackLoss loss(*solver.mesh(), observed, solver.mesh()->region("all"));
  std::vector<Unknown> unknowns;
  for (const std::string& sole : soles) {
    Unknown& unknown = unknowns.emplace_back();
    unknown.parameter = "friction:" + sole + "|floor";
    unknown.lower = 0.0;
    unknown.start = {0.25};
  }
  MemoryStore store;
  InverseProblem problem(
      solver.model(), solver.initial_state(), num_steps, loss, unknowns,
      [](int n) { return std::make_unique<UniformSchedule>(n, 16); }, store);
  OptimiserOptions options;
  options.max_iterations = 40;
  options.gradient_tolerance = 1e-7;
  const OptimiserResult result = optimise(problem, options);
  for (std::size_t k = 0; k < soles.size(); ++k) {
    const std::vector<double> found = problem.physical(k, result.u);
    if (found.empty()) continue;
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%s: off %.1e of %.2f\n", soles[k].c_str(), found[0] - true_friction[k], true_friction[k]);
    EXPECT_NEAR(found[0], true_friction[k], 1e-4 * true_friction[k]) << soles[k];
  }
}

}  // namespace
}  // namespace diffsim::contact_regions_gradient_test
