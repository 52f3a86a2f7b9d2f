// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Derivatives with respect to the contact laws of pairs of bodies and obstacles, both parameters of single pairs and
// shared ones: whole rollouts compared with eighth-order differences for each parameter separately, dot products, and
// products with the Hessian.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "inverse/hessian_check.hpp"
#include "simulation/contact_bodies.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::contact_pairs_gradient_test {
namespace {

using namespace testing_contact;

/// Scene `tower` with pairs that have all parameters of a law of their own, some, or none. Slip velocities stay below
/// ε_v, so the results depend on ε_v.
Scene laws(const std::string& integrator, bool friction = true) {
  Scene scene = tower({0.014, 3e3, friction ? 0.3 : 0.0, 0.9}, integrator);
  scene.contact.pairs = {{{"floor", "low"}, 0.016, 5e3, 0.5, 0.7},
                         {{"low", "middle"}, 0.013, 4e3, 0.2, 0.8},
                         {{"high", "middle"}, 0.015, {}, 0.4, {}},
                         {{"high", "roof"}, {}, 2e3, {}, 0.6}};
  if (!friction)
    for (ContactPair& pair : scene.contact.pairs) pair.friction = pair.friction_velocity = std::nullopt;
  return scene;
}

std::vector<std::string> names_of_law(bool friction = true) {
  std::vector<std::string> names{"barrier_distance",
                                 "barrier_stiffness",
                                 "barrier_distance:floor|low",
                                 "barrier_stiffness:floor|low",
                                 "barrier_distance:low|middle",
                                 "barrier_stiffness:low|middle",
                                 "barrier_distance:high|middle",
                                 "barrier_stiffness:high|roof"};
  if (friction)
    names.insert(names.end(), {"friction", "friction_velocity", "friction:floor|low", "friction_velocity:floor|low",
                               "friction:low|middle", "friction_velocity:low|middle", "friction:high|middle",
                               "friction_velocity:high|roof"});
  return names;
}

class EveryContactLaw : public testing::TestWithParam<std::tuple<const char*, bool>> {};

TEST_P(EveryContactLaw, has_the_slopes_that_differences_have) {
  const auto& [integrator, friction] = GetParam();
  std::vector<std::string> names = names_of_law(friction);
  names.insert(names.end(), {"obstacle_position:floor", "obstacle_velocity:floor", "obstacle_position:roof",
                             "obstacle_velocity:roof", "rest_positions", "initial_velocities"});
  const Scene scene = laws(integrator, friction);
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_solver(scene, comm); }, 2, names);
}

INSTANTIATE_TEST_SUITE_P(contact_pairs, EveryContactLaw,
                         testing::Combine(testing::Values("symplectic_euler", "runge_kutta_4", "implicit_euler",
                                                          "newmark"),
                                          testing::Bool()),
                         [](const auto& which) {
                           return std::string(std::get<0>(which.param)) + (std::get<1>(which.param) ? "_friction" : "");
                         });

/// Inverse problem with the mean positions of two regions after some steps as the loss, and the parameters of the laws
/// as unknowns.
class Problem {
 public:
  Problem(const Scene& scene, int steps) : solver_(make_solver(scene)) {
    solver_.mesh()->define_region("top", BoxShape{{-1.0, 0.1, -1.0}, {1.0, 1.0, 1.0}});
    for (const char* region : {"all", "top"})
      loss_.add(std::make_unique<TargetPositionLoss>(*solver_.mesh(), solver_.mesh()->region(region),
                                                     std::array<double, 3>{0.2, 0.3, -0.1}, steps));
    std::vector<std::string> names = names_of_law();
    names.insert(names.end(), {"initial_velocities"});
    problem_ = std::make_unique<InverseProblem>(
        solver_.model(), solver_.initial_state(), steps, loss_,
        testing_simulation::unknowns_of(names, {"barrier_stiffness", "barrier_stiffness:low|middle"}),
        [](int n) { return std::make_unique<UniformSchedule>(n, 3); }, store_);
  }
  InverseProblem& operator*() { return *problem_; }

 private:
  DifferentiableScene solver_;
  SumLoss loss_;
  MemoryStore store_;
  std::unique_ptr<InverseProblem> problem_;
};

TEST(contact_pairs, dot_products_and_slopes_of_longer_rollouts) {
  for (const char* integrator : {"symplectic_euler", "bdf2"}) {
    SCOPED_TRACE(integrator);
    Problem problem(laws(integrator), is_explicit(integrator_named(integrator)) ? 12 : 3);
    testing_simulation::expect_checked(*problem);
  }
}

TEST(contact_pairs, hessian_is_symmetric_and_expands_to_third_order) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    SCOPED_TRACE(integrator);
    Problem problem(laws(integrator), is_explicit(integrator_named(integrator)) ? 8 : 3);
    HessianCheckOptions options;
    if (ranks() > 1) options.differences = false;
    const HessianCheck result = check_hessian(*problem, (*problem).start(), options);
    EXPECT_LE(result.symmetry, 1e-10);
    EXPECT_TRUE(ranks() > 1 || result.passed) << testing::PrintToString(result.taylor_orders);
    EXPECT_FALSE(result.quadratic);
  }
}

}  // namespace
}  // namespace diffsim::contact_pairs_gradient_test
