// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Gradients of whole rollouts with respect to every parameter separately, with every integrator, in every state of
// contact. On one rank the gradients are compared with eighth-order differences, on several ranks with the gradient on
// one rank.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "diffsim/inverse/losses.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::whole_gradient_test {
namespace {

using namespace testing_contact;
using namespace testing_gradient;

constexpr int num_steps = 3;

enum class Touch { nothing, plane, surfaces };

struct Case {
  std::string integrator;
  Touch touch;
  double friction;
};

/// Scene of two blocks with a gap smaller than d̂. The foot of the lower block is fixed; the upper block hangs from a
/// lid that moves and rotates. At their side is an obstacle, a plane or a sheet of two triangles, that moves and
/// rotates.
DifferentiableScene make_solver(const Case& which, MPI_Comm comm) {
  const auto mesh = make_mesh(
      {{{0.1, 0.05, 0.1}, {2, 1, 1}, {0.0, 0.0, 0.0}}, {{0.1, 0.05, 0.1}, {1, 1, 1}, {0.013, 0.06, 0.017}, 0.4}}, comm);
  mesh->define_region("foot", BoxShape{{-1.0, -1.0, -1.0}, {1.0, 0.001, 1.0}});
  mesh->define_region("shelf", BoxShape{{-1.0, 0.049, -1.0}, {1.0, 0.051, 1.0}});
  mesh->define_region("side", BoxShape{{0.099, -1.0, -1.0}, {0.101, 1.0, 1.0}});
  mesh->define_region("lid", BoxShape{{-1.0, 0.109, -1.0}, {1.0, 1.0, 1.0}});
  const DifferentiableSolver options = tight_options(which.integrator, 3e-3, 8e-3, 3);
  DifferentiableMaterial rubber{"stable_neo_hookean",
                                {{"youngs_modulus", 5e4},
                                 {"poisson_ratio", 0.3},
                                 {"density", 1000.0},
                                 {"viscosity", 60.0},
                                 {"bulk_viscosity", 150.0},
                                 {"rayleigh_damping", 15.0},
                                 {"drag", 2e4}},
                                "all"};
  DifferentiableScene solver(mesh, {rubber}, options);
  solver.fix("foot");
  solver.move("lid", {0.2, 1.0, 0.1}, {0.06, 0.1, 0.07}, {1.5}, {0.1, -0.2, 0.05});
  solver.add_traction("shelf", {400.0, -200.0, 300.0});
  std::vector<double> load, velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
    const double* X = &mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
    load.insert(load.end(), {0.02 * X[1], 0.05, -0.01});
    velocity.insert(velocity.end(), {0.2 * X[1], X[1] > 0.055 ? -0.2 : 0.1, 0.1 * X[0]});
  }
  solver.add_nodal_load(load);
  solver.set_initial_velocity(velocity);
  if (which.touch == Touch::nothing) return solver;

  ContactOptions contact = soft(which.touch == Touch::surfaces);
  contact.barrier_stiffness = 4e3;
  contact.friction_velocity = 0.5;  // larger than all sliding velocities, so the results depend on ε_v
  contact.friction = which.friction;
  const Rotation rotation{{0.2, 0.9, 0.3}, {-0.02, 0.05, 0.03}, 1.0};
  if (which.touch == Touch::plane)
    contact.planes.push_back({.point = {-0.005, 0.0, 0.0},
                              .normal = {1.0, 0.05, 0.03},
                              .velocity = {0.05, 0.0, 0.02},
                              .rotation = rotation});
  if (which.touch == Touch::surfaces) {
    MeshObstacle sheet;
    sheet.mesh.vertices = {{-0.008, -0.1, -0.2}, {-0.009, 0.3, -0.2}, {-0.007, 0.1, 0.3}, {-0.5, 0.1, 0.1}};
    sheet.mesh.triangles = {{0, 1, 2}, {0, 3, 1}};
    sheet.velocity = {0.05, 0.0, 0.02};
    sheet.rotation = rotation;
    contact.meshes.push_back(sheet);
  }
  solver.add_contact(contact);
  return solver;
}

std::vector<std::string> names_for(const Case& which) {
  std::vector<std::string> names{"youngs_modulus", "poisson_ratio",     "density",
                                 "viscosity",      "bulk_viscosity",    "rayleigh_damping",
                                 "drag",           "gravity",           "nodal_load",
                                 "traction:shelf", "velocity:lid",      "angular_velocity:lid",
                                 "rest_positions", "initial_positions", "initial_velocities"};
  if (which.integrator == "quasi_static") std::erase(names, "initial_velocities");
  for (const char* damped : {"symplectic_euler", "explicit_euler"})
    if (which.integrator == damped) names.emplace_back("damping");
  if (which.touch != Touch::nothing)
    names.insert(names.end(), {"barrier_distance", "barrier_stiffness", "obstacle_position:0", "obstacle_velocity:0",
                               "obstacle_angular_velocity:0"});
  if (which.friction > 0.0) names.insert(names.end(), {"friction", "friction_velocity"});
  return names;
}

class EveryParameter : public testing::TestWithParam<Case> {};

TEST_P(EveryParameter, has_the_slope_that_differences_have) {
  const Case& which = GetParam();
  const auto make = [&](MPI_Comm comm) { return make_solver(which, comm); };
  if (which.touch != Touch::nothing) {
    DifferentiableScene solver = make(MPI_COMM_WORLD);
    EXPECT_GT(most_active_pairs(solver, num_steps), 2);
  }
  expect_slopes(make, num_steps, names_for(which));
}

class EveryReaction : public testing::TestWithParam<Case> {};

/// Loss of the reactions of the fixed foot and of the lid, whose motion is prescribed.
std::unique_ptr<Loss> make_reactions(DifferentiableScene& solver) {
  auto sum = std::make_unique<SumLoss>();
  for (const auto& [region, weight] : {std::pair{"foot", 1.0}, {"lid", 0.3}})
    sum->add(std::make_unique<SensorLoss>(
                 solver.sensor({.quantity = SensorQuantity::reaction, .place = {.region = region}}),
                 std::map<int, std::vector<double>>{{1, {0.3, -0.5, 0.2}}, {num_steps, {0.1, 0.7, -0.4}}}),
             weight);
  return sum;
}

TEST_P(EveryReaction, has_the_slope_that_differences_have) {
  const Case& which = GetParam();
  expect_slopes([&](MPI_Comm comm) { return make_solver(which, comm); }, num_steps, names_for(which), make_reactions);
}

class EveryFlow : public testing::TestWithParam<const char*> {};

// Pressure on the shelf, whose direction follows the surface, and wind at a side of the blocks.
TEST_P(EveryFlow, has_the_slope_that_differences_have) {
  const auto make = [](MPI_Comm comm) {
    DifferentiableScene solver = make_solver({GetParam(), Touch::nothing, 0.0}, comm);
    solver.add_pressure("shelf", {900.0, -700.0, 1100.0});
    solver.add_wind("side", {3.0, -2.0, 5.0}, 40.0);
    return solver;
  };
  std::vector<std::string> names{"pressure:shelf", "wind:side",      "wind_drag:side",   "youngs_modulus",
                                 "density",        "rest_positions", "initial_positions"};
  expect_slopes(make, num_steps, names);
}

std::vector<Case> cases_of_reactions() {
  std::vector<Case> all;
  for (const char* integrator : {"symplectic_euler", "quasi_static", "implicit_euler"})
    for (const Touch touch : {Touch::nothing, Touch::plane, Touch::surfaces})
      all.push_back({integrator, touch, touch == Touch::nothing ? 0.0 : 0.3});
  return all;
}

const char* const integrators[] = {"symplectic_euler", "quasi_static",      "implicit_euler", "bdf2",
                                   "newmark",          "generalised_alpha", "explicit_euler", "velocity_verlet",
                                   "runge_kutta_2",    "runge_kutta_4"};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* integrator : integrators)
    for (const Touch touch : {Touch::nothing, Touch::plane, Touch::surfaces})
      for (const double friction : {0.0, 0.3})
        if (touch != Touch::nothing || friction == 0.0) all.push_back({integrator, touch, friction});
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const char* const touch[] = {"no_contact", "plane", "surfaces"};
  return info.param.integrator + "_" + touch[static_cast<int>(info.param.touch)] +
         (info.param.friction > 0.0 ? "_friction" : "");
}

INSTANTIATE_TEST_SUITE_P(simulation, EveryParameter, testing::ValuesIn(cases()), name_of);
INSTANTIATE_TEST_SUITE_P(simulation, EveryFlow, testing::ValuesIn(integrators),
                         [](const auto& instance) { return std::string(instance.param); });
INSTANTIATE_TEST_SUITE_P(simulation, EveryReaction, testing::ValuesIn(cases_of_reactions()), name_of);

}  // namespace
}  // namespace diffsim::whole_gradient_test
