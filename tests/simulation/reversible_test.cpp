// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Steps that are undone return to bitwise identical states, so a sweep that stores no state gives the gradient of a
// sweep that stores all states.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "diffsim/core/error.hpp"
#include "diffsim/mesh/construction.hpp"
#include "simulation/sweep_testing.hpp"

namespace diffsim::reversible_test {
namespace {

using namespace testing_simulation;

constexpr int num_steps = 75;
const std::vector<std::string> asked = {"youngs_modulus", "poisson_ratio", "density",
                                        "gravity",        "damping",       "traction:x_max"};

DifferentiableScene make_solver(int order = 1,
                                DifferentiableSolver options = {.dt = 0.003, .substeps = 3, .damping = 1.0},
                                std::map<std::string, CellValues> more = {}) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {order == 1 ? 6 : 3, 2, 1}, order);
  DifferentiableMaterial material{
      "neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  material.values.merge(more);
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("x_min");
  std::vector<double> pull;
  for (int n = 0; n < num_steps; ++n) pull.insert(pull.end(), {20.0 * std::cos(0.1 * n), -10.0, 5.0});
  solver.add_traction("x_max", pull);
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) velocity.insert(velocity.end(), {0.1, 0.3 / (1.0 + v), -0.2});
  solver.set_initial_velocity(velocity);
  return solver;
}

SumLoss make_loss(const TetrahedralMesh& mesh) {
  SumLoss loss;
  for (const int step : {0, 30, num_steps})
    loss.add(
        std::make_unique<TargetPositionLoss>(mesh, mesh.region("x_max"), std::array<double, 3>{0.9, 0.2, 0.1}, step));
  return loss;
}

bool same_bits(const State& a, const State& b) {
  int same = 1;
  for (const Field& field : a.fields()) {
    const std::vector<double> one = field.to_host(), other = b[field.name()].to_host();
    same = same && std::memcmp(one.data(), other.data(), field.bytes()) == 0;
  }
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return same == 1;
}

class Reversible : public testing::TestWithParam<int> {};

TEST_P(Reversible, StepsReturnToTheSameBits) {
  DifferentiableScene solver = make_solver(GetParam());
  Model& model = solver.model();
  model.set_reversible(true);
  model.prepare();
  State state = solver.initial_state();
  const State beginning = state.clone();
  const std::unique_ptr<Record> forward = model.make_record(), back = model.make_record();
  std::vector<State> states;
  for (int n = 0; n < num_steps; ++n) {
    model.step(n, state, forward.get());
    states.push_back(forward->initial().clone());  // rounded to the grid
  }
  EXPECT_FALSE(same_bits(state, states.front()));
  for (int n = num_steps - 1; n >= 0; --n) {
    model.step_back(n, state, *back);
    ASSERT_TRUE(same_bits(state, states[static_cast<std::size_t>(n)])) << n;
    ASSERT_TRUE(same_bits(back->initial(), state)) << n;
  }
  // Step 0 rounds the state to the grid, by at most half of its spacing. The spacing is 2⁻⁴⁸ times 2, the power of two
  // above the extent.
  const std::vector<double> given = beginning["positions"].to_host(), found = state["positions"].to_host();
  for (std::size_t i = 0; i < given.size(); ++i) EXPECT_NEAR(found[i], given[i], std::ldexp(1.0, -48)) << i;
}

TEST_P(Reversible, GradientHasTheBitsOfStoredStates) {
  DifferentiableScene solver = make_solver(GetParam());
  SumLoss loss = make_loss(*solver.mesh());
  CheckpointOptions all, reversible;
  reversible.schedule = CheckpointSchedule::reversible;
  const std::vector<double> free = loss_and_gradients(solver, loss, num_steps, asked, all);
  solver.model().set_reversible(true);
  const std::vector<double> stored = loss_and_gradients(solver, loss, num_steps, asked, all);
  EXPECT_EQ(loss_and_gradients(solver, loss, num_steps, asked, reversible), stored);
  reversible.last = 40;
  all.last = 40;
  EXPECT_EQ(loss_and_gradients(solver, loss, num_steps, asked, reversible),
            loss_and_gradients(solver, loss, num_steps, asked, all));
  // Effect of rounding to the grid, compared with rounding to doubles.
  const double difference = relative_difference(stored, free);
  EXPECT_GT(difference, 0.0);
  EXPECT_LT(difference, 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Orders, Reversible, testing::Values(1, 2));

std::string refusal(DifferentiableScene& solver) {
  SumLoss loss = make_loss(*solver.mesh());
  CheckpointOptions options;
  options.schedule = CheckpointSchedule::reversible;
  try {
    (void)loss_and_gradients(solver, loss, 3, {"youngs_modulus"}, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "";
}

TEST(Reversible, WhatCannotBeUndoneIsRefusedByName) {
  const auto expect = [](DifferentiableScene solver, const std::string& name) {
    const std::string message = refusal(solver);
    EXPECT_NE(message.find(name), std::string::npos) << message;
    EXPECT_NE(message.find("reversible"), std::string::npos) << message;
  };
  const DifferentiableSolver free{.dt = 0.003, .substeps = 3, .damping = 1.0};
  expect(make_solver(1, {.dt = 0.003, .substeps = 3, .damping = 0.99}), "damping (0.99; 1 means no damping)");
  expect(make_solver(1, free, {{"viscosity", 1.0}, {"bulk_viscosity", 1.0}}), "depend on velocities ('visc");
  expect(make_solver(1, free, {{"drag", 1.0}}), "depend on velocities ('nodal_damping')");
  for (const char* integrator : {"implicit_euler", "bdf2", "quasi_static"})
    expect(make_solver(1, {.dt = 0.003, .integrator = integrator_named(integrator)}),
           std::string("integrator: ") + integrator);
  DifferentiableScene touching = make_solver(1, free);
  ContactOptions contact;
  contact.planes.push_back({{0.0, -1.0, 0.0}, {0.0, 1.0, 0.0}});
  touching.add_contact(contact);
  expect(std::move(touching), "contact ('");
  DifferentiableScene moved = make_solver(1, free);
  moved.move("x_max", {1.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.1}, {0.0, 0.0, 0.0});
  expect(std::move(moved), "prescribed motions");
  // A damping value that is set later is detected when the model is prepared.
  DifferentiableScene later = make_solver(1, free);
  later.model().set_reversible(true);
  later.parameters().at("damping").field.fill(0.5);
  EXPECT_THROW(later.model().prepare(), Error);
  later.model().set_reversible(false);
  later.model().prepare();
  State state = later.initial_state();
  const std::unique_ptr<Record> record = later.model().make_record();
  EXPECT_THROW(later.model().step_back(0, state, *record), Error);
}

TEST(Reversible, BeyondTheGridIsAnError) {
  DifferentiableScene solver = make_solver();
  std::vector<double> velocity(3 * static_cast<std::size_t>(solver.mesh()->num_owned_vertices()), 0.0);
  for (std::size_t i = 0; i < velocity.size(); i += 3) velocity[i] = 400.0;
  DifferentiableMaterial material{
      "neo_hookean", {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}}, "all"};
  DifferentiableScene flying(solver.mesh(), {material}, {.dt = 0.003, .substeps = 3, .damping = 1.0});
  flying.set_initial_velocity(velocity);
  flying.model().set_reversible(true);
  flying.model().prepare();
  State state = flying.initial_state();
  std::string message;
  try {
    for (int n = 0; n < 40; ++n) flying.step(n, state);  // up to 48 m
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::run);
    message = error.what();
  }
  EXPECT_NE(message.find("outside the range of reversible steps, 32 m"), std::string::npos) << message;
}

/// Loss whose `add_gradient` changes gravity, so that steps are not reproducible.
class Unsteady : public Loss {
 public:
  explicit Unsteady(DifferentiableScene& solver) : solver_(solver) {}
  bool observes(int n) const override { return n == 10; }
  double value(int, const State&, const ParameterSet&) override { return 0.0; }
  double tangent(int, const State&, const ParameterSet&, const State&, const ParameterSet&) override { return 0.0; }
  void add_gradient(int, const State&, const ParameterSet&, State&, ParameterSet&) override {
    solver_.parameters().at("gravity").field.from_host({0.0, -9.7, 0.0});  // different from gravity in the forward run
  }

 private:
  DifferentiableScene& solver_;
};

TEST(Reversible, WhatDoesNotReturnIsFound) {
  DifferentiableScene solver = make_solver();
  Unsteady loss(solver);
  CheckpointOptions options;
  options.schedule = CheckpointSchedule::reversible;
  try {
    (void)loss_and_gradients(solver, loss, 10, {"youngs_modulus"}, options);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::system);
    EXPECT_NE(std::string(error.what()).find("state 1 that is not bitwise identical"), std::string::npos);
  }
}

}  // namespace
}  // namespace diffsim::reversible_test
