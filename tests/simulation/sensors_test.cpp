// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Sensors of rollouts. Values against values from the state; derivatives with respect to every parameter against
// eighth-order differences (on several ranks: against one rank); products with the Hessian against differences.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/inverse/problem.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "inverse/hessian_check.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::sensors_test {
namespace {

using namespace testing_gradient;

constexpr int num_steps = 3;

/// Sensor, and the case's scene.
struct Case {
  std::string name;
  SensorSpec sensor;
  std::string integrator;
  int order;
};

/// Bar of two materials whose left end is fixed, at the upper edge in the directions y and z only, and whose right end
/// moves.
DifferentiableScene make_solver(const Case& which, MPI_Comm comm) {
  const auto mesh = TetrahedralMesh::box(comm, {0.2, 0.08, 0.1}, {2, 1, 1}, which.order);
  mesh->define_region("left", BoxShape{{-1.0, -1.0, -1.0}, {0.101, 1.0, 1.0}});
  mesh->define_region("right", BoxShape{{0.099, -1.0, -1.0}, {1.0, 1.0, 1.0}});
  mesh->define_region("foot", BoxShape{{-1.0, -1.0, -1.0}, {0.001, 0.001, 1.0}});
  mesh->define_region("edge", BoxShape{{-1.0, 0.079, -1.0}, {0.001, 1.0, 1.0}});
  DifferentiableMaterial rubber{
      "stable_neo_hookean", {{"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "left"};
  DifferentiableMaterial soft{
      "neo_hookean", {{"youngs_modulus", 3e4}, {"poisson_ratio", 0.2}, {"density", 1400.0}}, "right"};
  DifferentiableScene solver(mesh, {rubber, soft}, tight_options(which.integrator, 3e-3, 8e-3, 6));
  solver.fix("foot");
  solver.fix("edge", {false, true, true});
  solver.move("x_max", {0.2, 1.0, 0.1}, {0.2, 0.03, 0.07}, {1.5}, {0.4, -0.5, 0.3});
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
    const double* X = &mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
    velocity.insert(velocity.end(), {2.0 * X[0], 1.0 - 5.0 * X[1], 3.0 * X[0] - X[2]});
  }
  solver.set_initial_velocity(velocity);
  return solver;
}

std::vector<std::string> names_for(const Case& which) {
  std::vector<std::string> names{"youngs_modulus", "poisson_ratio",  "density",           "gravity",
                                 "velocity:x_max", "rest_positions", "initial_positions", "initial_velocities"};
  if (which.integrator == "quasi_static") std::erase(names, "initial_velocities");
  return names;
}

/// Observed values that differ from y by the scale of y.
std::vector<double> far_from(const std::vector<double>& y, int step) {
  std::vector<double> observed = y;
  double size = 0.0;
  for (const double value : y) size = std::max(size, std::abs(value));
  for (std::size_t c = 0; c < y.size(); ++c)
    observed[c] += size * std::cos(1.3 * static_cast<double>(c) + static_cast<double>(step));
  return observed;
}

/// Loss of the case's sensor at the steps 1 and `num_steps`. The observed values are the same on any number of ranks up
/// to rounding errors.
std::unique_ptr<Loss> make_loss(const Case& which, DifferentiableScene& solver, SensorLossOptions options = {}) {
  const std::shared_ptr<Sensor> sensor = solver.sensor(which.sensor);
  std::map<int, std::vector<double>> observed;
  State state = solver.initial_state();
  solver.model().prepare();
  for (int n = 1; n <= num_steps; ++n) {
    solver.model().step(n - 1, state, nullptr);
    if (n == 1 || n == num_steps) observed[n] = far_from(sensor->value(n, state), n);
  }
  return std::make_unique<SensorLoss>(sensor, observed, std::move(options));
}

class EverySensor : public testing::TestWithParam<Case> {};

TEST_P(EverySensor, has_the_slope_that_differences_have) {
  const Case& which = GetParam();
  expect_slopes([&](MPI_Comm comm) { return make_solver(which, comm); }, num_steps, names_for(which),
                [&](DifferentiableScene& solver) { return make_loss(which, solver); });
}

TEST_P(EverySensor, has_the_hessian_products_that_differences_have) {
  const Case& which = GetParam();
  DifferentiableScene solver = make_solver(which, MPI_COMM_WORLD);
  const std::unique_ptr<Loss> loss = make_loss(which, solver);
  std::vector<Unknown> unknowns;
  for (const char* name : {"youngs_modulus", "poisson_ratio", "density", "gravity", "initial_positions"})
    unknowns.push_back({.parameter = name});
  InverseProblem problem(solver.model(), solver.initial_state(), num_steps, *loss, unknowns);
  const HessianCheck check = check_hessian(problem, problem.start());
  EXPECT_TRUE(check.passed) << check.symmetry << " " << check.product << " " << check.difference;
}

const SensorPlace end{.region = "x_max"}, left{.region = "left"}, right{.region = "right"}, all{.region = "all"};
const SensorPlace point{.point = std::array<double, 3>{0.13, 0.03, 0.06}};
const SensorPlace other_point{.point = std::array<double, 3>{0.02, 0.01, 0.05}};
constexpr std::array<double, 3> about{0.05, 0.02, -0.03};

std::vector<Case> cases() {
  const std::vector<std::pair<std::string, SensorSpec>> sensors{
      {"position_of_region", {.quantity = SensorQuantity::position, .place = left}},
      {"position_of_point", {.quantity = SensorQuantity::position, .place = point}},
      {"displacement", {.quantity = SensorQuantity::displacement, .place = point}},
      {"velocity", {.quantity = SensorQuantity::velocity, .place = point}},
      {"distance", {.quantity = SensorQuantity::distance, .place = other_point, .other = end}},
      {"center_of_mass", {.quantity = SensorQuantity::center_of_mass, .place = right}},
      {"momentum", {.quantity = SensorQuantity::momentum, .place = all}},
      {"angular_momentum", {.quantity = SensorQuantity::angular_momentum, .place = right, .about = about}},
      {"kinetic_energy", {.quantity = SensorQuantity::kinetic_energy, .place = left}},
      {"volume", {.quantity = SensorQuantity::volume, .place = right}},
      {"strain", {.quantity = SensorQuantity::strain, .place = right}},
      {"stress", {.quantity = SensorQuantity::stress, .place = all}},
      {"von_mises", {.quantity = SensorQuantity::von_mises, .place = all, .power = 5.0}},
      {"von_mises_of_power_2", {.quantity = SensorQuantity::von_mises, .place = right, .power = 2.0}},
      {"work", {.quantity = SensorQuantity::work, .place = right}},
      {"reaction", {.quantity = SensorQuantity::reaction, .place = {.region = "x_min"}}},
      {"moment", {.quantity = SensorQuantity::moment, .place = {.region = "x_min"}, .about = about}},
      {"moment_of_moved_region", {.quantity = SensorQuantity::moment, .place = end, .about = about}}};
  std::vector<Case> made;
  for (const auto& [name, sensor] : sensors) {
    made.push_back({name + "_explicit", sensor, "velocity_verlet", 1});
    made.push_back({name + "_implicit_tet10", sensor, "implicit_euler", 2});
  }
  return made;
}

std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(simulation, EverySensor, testing::ValuesIn(cases()), name_of);

/// Expects the derivatives of a loss of strains to agree with differences.
void expect_loss_derivatives(const MakeLoss& make) {
  const Case which{"", {.quantity = SensorQuantity::strain, .place = right}, "implicit_euler", 1};
  expect_slopes([&](MPI_Comm comm) { return make_solver(which, comm); }, num_steps, {"youngs_modulus", "gravity"},
                make);
  DifferentiableScene solver = make_solver(which, MPI_COMM_WORLD);
  const std::unique_ptr<Loss> loss = make(solver);
  InverseProblem problem(solver.model(), solver.initial_state(), num_steps, *loss,
                         {{.parameter = "youngs_modulus"}, {.parameter = "gravity"}});
  EXPECT_TRUE(check_hessian(problem, problem.start()).passed);
}
void expect_loss_derivatives(const SensorLossOptions& options) {
  const Case which{"", {.quantity = SensorQuantity::strain, .place = right}, "implicit_euler", 1};
  expect_loss_derivatives([&](DifferentiableScene& solver) { return make_loss(which, solver, options); });
}

TEST(sensor_loss, with_a_covariance_has_the_derivatives_that_differences_have) {
  std::vector<double> covariance(36, 0.0);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) covariance[6 * i + j] = i == j ? 2.0 + static_cast<double>(i) : 0.4;
  expect_loss_derivatives({.covariance = covariance});
}

TEST(sensor_loss, of_huber_has_the_derivatives_that_differences_have) { expect_loss_derivatives({.huber = 0.02}); }

class SensorValue : public testing::TestWithParam<std::optional<double>> {};

TEST_P(SensorValue, has_the_derivatives_that_differences_have) {
  const std::optional<double> power = GetParam();
  expect_loss_derivatives([&](DifferentiableScene& solver) {
    return std::make_unique<SensorValueLoss>(solver.sensor({.quantity = SensorQuantity::strain, .place = right}),
                                             std::vector<double>{1.0, -0.5, 0.3, 2.0, 0.0, 1.0},
                                             std::vector<int>{1, num_steps}, power);
  });
}

INSTANTIATE_TEST_SUITE_P(simulation, SensorValue, testing::Values(std::nullopt, 2.0, 3.5));

}  // namespace
}  // namespace diffsim::sensors_test
