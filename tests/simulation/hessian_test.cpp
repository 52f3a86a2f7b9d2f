// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Products with the Hessian of a rollout's loss: symmetry, and convergence orders of the remainder of the second-order
// expansion.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/revolve_schedule.hpp"
#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint/truncated_schedule.hpp"
#include "diffsim/core/error.hpp"
#include "inverse/hessian_check.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::hessian_test {
namespace {

using namespace testing_simulation;

constexpr int num_steps = 2;

using Values = std::map<std::string, CellValues>;

const Values hookean{{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}};
const Values viscous{{"youngs_modulus", 2e4},  {"poisson_ratio", 0.35},   {"density", 900.0}, {"viscosity", 60.0},
                     {"bulk_viscosity", 30.0}, {"rayleigh_damping", 3.0}, {"drag", 500.0}};
const Values tissue{{"shear_modulus", 7e3}, {"bulk_modulus", 2e4}, {"k1", 1e4},      {"k2", 2.0},       {"kappa", 0.1},
                    {"fibre_x", 1.0},       {"fibre_y", 0.5},      {"fibre_z", 0.2}, {"density", 900.0}};
const Values muscle{{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"active_tension", 3e3}, {"activation", 0.6},
                    {"fibre_x", 1.0},        {"fibre_y", 0.5},        {"fibre_z", 0.2},        {"density", 900.0}};
const Values rubber{{"mu_1", 7e3}, {"alpha_1", 1.3}, {"bulk_modulus", 2e4}, {"density", 900.0}};
const Values rubber_of_two{{"mu_1", 7e3},     {"alpha_1", 1.7},      {"mu_2", -400.0},
                           {"alpha_2", -2.3}, {"bulk_modulus", 2e4}, {"density", 900.0}};
const Values mooney{{"c10", 3e3}, {"c01", 1e3}, {"bulk_modulus", 2e4}, {"density", 900.0}};

struct Case {
  std::string integrator;
  std::string law;
  int order;
  Values values;
  std::vector<std::string> names;        // parameters of the unknowns
  std::vector<std::string> logarithmic;  // names with logarithmic unknowns
  std::optional<int> quadrature_degree = {};
  bool turned = false;  // the end x_max is moved and rotated
};

DifferentiableScene make_solver(const Case& which, MPI_Comm comm = MPI_COMM_WORLD) {
  auto mesh = TetrahedralMesh::box(comm, {1.0, 0.3, 0.2}, {which.order == 1 ? 4 : 2, 1, 1}, which.order,
                                   which.quadrature_degree);
  const bool is_explicit = diffsim::is_explicit(integrator_named(which.integrator));
  DifferentiableSolver options{.dt = is_explicit ? 0.004 : 0.04,
                               .substeps = 4,
                               .damping = 0.995,
                               .gravity = {0.5, -9.8, 1.0},
                               .integrator = integrator_named(which.integrator)};
  options.implicit.newton.tolerance = 1e-13;
  options.implicit.ramp_steps = which.integrator == "quasi_static" ? num_steps : 0;
  DifferentiableScene solver(mesh, {{which.law, which.values, "all"}}, options);
  solver.fix("x_min");
  if (which.turned)
    solver.move("x_max", {1.0, 0.0, 0.0}, {1.0, 0.15, 0.1}, {3.0}, {0.3, 0.2, -0.1});
  else
    solver.fix("z_min", {false, false, true});
  std::vector<double> pull;
  for (int n = 0; n < num_steps; ++n) pull.insert(pull.end(), {30.0 * n, -40.0, 20.0 * std::sin(n)});
  solver.add_traction("x_max", pull);
  solver.add_nodal_load(std::vector<double>(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.02));
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v)
    velocity.insert(velocity.end(),
                    {0.3, (is_explicit ? 3.0 : 0.5) * mesh->rest_positions()[3 * static_cast<std::size_t>(v)], 0.0});
  solver.set_initial_velocity(velocity);
  return solver;
}

/// Loss of the differences from observed positions at some steps. These positions are far from those of the rollout, so
/// the loss depends on every parameter.
std::unique_ptr<Loss> make_track(const TetrahedralMesh& mesh) {
  std::map<int, std::vector<double>> observed;
  for (const int step : {1, num_steps}) {
    std::vector<double> x(mesh.rest_positions().begin(),
                          mesh.rest_positions().begin() + 3 * static_cast<std::ptrdiff_t>(mesh.num_owned_vertices()));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += 0.05 * std::sin(7.0 * x[i] + static_cast<double>(i % 3));
    observed[step] = x;
  }
  return std::make_unique<TrackLoss>(mesh, observed, mesh.region("all"));
}

HessianCheck check(const Case& which, std::vector<Unknown> unknowns, int every = 2) {
  DifferentiableScene solver = make_solver(which);
  SumLoss loss;
  loss.add(std::make_unique<TargetPositionLoss>(*solver.mesh(), solver.mesh()->region("x_max"),
                                                std::array<double, 3>{0.9, 0.2, 0.15}, num_steps));
  loss.add(make_track(*solver.mesh()), 0.7);
  MemoryStore store;
  InverseProblem problem(
      solver.model(), solver.initial_state(), num_steps, loss, std::move(unknowns),
      [every](int n) { return std::make_unique<UniformSchedule>(n, every); }, store);
  HessianCheckOptions options;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1) options.differences = false;  // independent of the ranks; the symmetry may depend on them
  const HessianCheck result = check_hessian(problem, problem.start(), options);
  if (std::getenv("DIFFSIM_VERBOSE"))
    std::printf("%-18s %-22s %d %-40s symmetry %.1e eps %g quadratic %d orders %s\n", which.integrator.c_str(),
                which.law.c_str(), which.order, testing::PrintToString(which.names).c_str(), result.symmetry,
                result.first_step, result.quadratic, testing::PrintToString(result.taylor_orders).c_str());
  EXPECT_LE(result.symmetry, 1e-10);
  EXPECT_TRUE(ranks > 1 || result.passed) << testing::PrintToString(result.taylor_orders);
  EXPECT_FALSE(result.quadratic);
  return result;
}

class Hessian : public testing::TestWithParam<Case> {};

TEST_P(Hessian, is_symmetric_and_expands_to_third_order) {
  const Case& which = GetParam();
  check(which, unknowns_of(which.names, which.logarithmic));
}

constexpr const char* integrators[] = {"symplectic_euler", "quasi_static",      "implicit_euler", "bdf2",
                                       "newmark",          "generalised_alpha", "explicit_euler", "velocity_verlet",
                                       "runge_kutta_2",    "runge_kutta_4"};

/// Laws of every kind with every integrator. The loss depends on the chosen moduli nonlinearly.
std::vector<Case> laws() {
  std::vector<Case> all;
  for (const char* integrator : integrators) {
    for (const char* law : {"neo_hookean", "stable_neo_hookean", "linear_elastic"})
      all.push_back({integrator, law, 1, hookean, {"youngs_modulus", "poisson_ratio"}, {"youngs_modulus"}});
    all.push_back({integrator, "holzapfel_gasser_ogden", 1, tissue, {"shear_modulus", "k2", "fibre_y"}, {"k2"}});
    all.push_back({integrator, "ogden_1", 1, rubber, {"mu_1", "alpha_1", "bulk_modulus"}, {"mu_1"}});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(laws, Hessian, testing::ValuesIn(laws()));

std::vector<Case> second_order_cells() {
  std::vector<Case> all;
  for (const char* integrator : integrators)
    all.push_back({integrator, "neo_hookean", 2, hookean, {"youngs_modulus"}, {"youngs_modulus"}});
  all.push_back({"implicit_euler", "stable_neo_hookean", 2, hookean, {"youngs_modulus"}, {}});
  all.push_back({"bdf2", "ogden_2", 2, rubber_of_two, {"mu_2", "alpha_2"}, {}});
  all.push_back({"newmark", "holzapfel_gasser_ogden", 2, tissue, {"k1", "bulk_modulus"}, {"k1"}});
  all.push_back({"newmark", "neo_hookean", 2, viscous, {"youngs_modulus", "viscosity", "density"}, {}, 5});
  return all;
}
INSTANTIATE_TEST_SUITE_P(tet10, Hessian, testing::ValuesIn(second_order_cells()));

/// All other parameters, separately and together.
std::vector<Case> other_parameters() {
  std::vector<Case> all;
  for (const char* integrator : integrators) {
    std::vector<std::string> names{"youngs_modulus", "density",        "gravity",
                                   "nodal_load",     "traction:x_max", "initial_positions"};
    if (std::string(integrator) != "quasi_static") names.emplace_back("initial_velocities");
    for (const char* damped : {"symplectic_euler", "explicit_euler"})
      if (std::string(integrator) == damped) names.emplace_back("damping");
    all.push_back({integrator, "stable_neo_hookean", 1, hookean, names, {"youngs_modulus", "density"}});
  }
  const std::vector<std::string> damping{"viscosity", "bulk_viscosity", "rayleigh_damping",
                                         "drag",      "density",        "youngs_modulus"};
  for (const char* integrator : {"symplectic_euler", "bdf2", "generalised_alpha", "velocity_verlet", "runge_kutta_4"})
    all.push_back({integrator, "neo_hookean", 1, viscous, damping, {"density"}});
  all.push_back({"newmark", "neo_hookean", 2, viscous, {"viscosity", "drag"}, {}});
  all.push_back({"symplectic_euler", "neo_hookean", 1, hookean, {"density"}, {}});
  all.push_back({"symplectic_euler", "neo_hookean", 1, hookean, {"damping"}, {}});
  all.push_back({"bdf2", "neo_hookean", 1, hookean, {"density"}, {}});
  all.push_back(
      {"newmark", "active_fibre", 1, muscle, {"activation_signal", "activation", "active_tension"}, {"activation"}});
  all.push_back({"implicit_euler", "mooney_rivlin", 1, mooney, {"c01", "bulk_modulus"}, {"c01"}});
  all.push_back({"newmark", "fixed_corotated", 1, hookean, {"youngs_modulus", "poisson_ratio"}, {}});
  all.push_back({"implicit_euler", "st_venant_kirchhoff", 1, hookean, {"poisson_ratio"}, {}});
  all.push_back({"implicit_euler", "neo_hookean_quadratic", 1, hookean, {"poisson_ratio"}, {}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(parameters, Hessian, testing::ValuesIn(other_parameters()));

/// Cases with rotated vertices, whose velocities depend on their positions and enter viscous forces.
std::vector<Case> turned() {
  std::vector<Case> all;
  for (const char* integrator : integrators)
    all.push_back({integrator,
                   "neo_hookean",
                   1,
                   viscous,
                   {"viscosity", "density", "initial_positions"},
                   {"density"},
                   std::nullopt,
                   true});
  return all;
}
INSTANTIATE_TEST_SUITE_P(turned, Hessian, testing::ValuesIn(turned()));

/// Product H v of a problem with four unknowns, which are the same on any number of ranks.
std::vector<double> shared_product(const std::function<std::unique_ptr<Schedule>(int)>& schedule,
                                   MPI_Comm comm = MPI_COMM_WORLD) {
  DifferentiableScene solver = make_solver({"newmark", "stable_neo_hookean", 1, hookean, {}, {}}, comm);
  const TetrahedralMesh& mesh = *solver.mesh();
  std::vector<Unknown> unknowns(2);
  unknowns[0].parameter = "youngs_modulus";
  unknowns[0].logarithmic = true;
  unknowns[0].map_numbers = 2;
  unknowns[1].parameter = "poisson_ratio";
  unknowns[1].group_names = {"left", "right"};
  for (int cell = 0; cell < mesh.num_cells(); ++cell) {
    double x = 0.0;
    for (int a = 0; a < 4; ++a)
      x += 0.25 *
           mesh.rest_positions()[3 * static_cast<std::size_t>(mesh.cells()[static_cast<std::size_t>(4 * cell + a)])];
    unknowns[0].map.insert(unknowns[0].map.end(), {1.0, std::sin(3.0 * x)});
    unknowns[1].group.push_back(x < 0.5 ? 0 : 1);
  }
  TargetPositionLoss loss(mesh, mesh.region("x_max"), {0.9, 0.2, 0.15}, num_steps);
  MemoryStore store;
  InverseProblem problem(solver.model(), solver.initial_state(), num_steps, loss, unknowns, schedule, store);
  std::vector<double> v(problem.size(), 0.0), product(4, 0.0);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.3 + 0.1 * static_cast<double>(i);
  const std::vector<double> share = problem.hessian_product(problem.start(), v);
  std::copy(share.begin(), share.end(), product.begin());
  MPI_Allreduce(MPI_IN_PLACE, product.data(), 4, MPI_DOUBLE, MPI_SUM, comm);
  return product;
}

TEST(HessianProduct, does_not_depend_on_the_schedule) {
  const std::vector<double> whole = shared_product([](int n) { return std::make_unique<AllSchedule>(n); });
  EXPECT_EQ(whole, shared_product([](int n) { return std::make_unique<UniformSchedule>(n, 2); }));
  EXPECT_EQ(whole, shared_product([](int n) { return std::make_unique<RevolveSchedule>(n, 2); }));
}

TEST(HessianProduct, does_not_depend_on_ranks) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == 1) GTEST_SKIP() << "one rank is what others are compared with";
  const std::vector<double> whole = shared_product([](int n) { return std::make_unique<AllSchedule>(n); });
  const std::vector<double> one = shared_product([](int n) { return std::make_unique<AllSchedule>(n); }, MPI_COMM_SELF);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(whole[i], one[i], 1e-9 * std::abs(one[i]));
}

TEST(HessianOfUnknowns, by_maps_and_groups) {
  const Case which{"implicit_euler", "stable_neo_hookean", 1, hookean, {"maps and groups"}, {}};
  const auto mesh = make_solver(which).mesh();
  std::vector<Unknown> unknowns(3);
  unknowns[0].parameter = "youngs_modulus";
  unknowns[0].logarithmic = true;
  unknowns[0].map_numbers = 2;
  unknowns[1].parameter = "poisson_ratio";
  unknowns[1].group_names = {"even", "odd"};
  unknowns[2].parameter = "density";
  unknowns[2].logarithmic = true;
  unknowns[2].group_names = {""};
  for (int cell = 0; cell < mesh->num_cells(); ++cell) {
    unknowns[0].map.insert(unknowns[0].map.end(), {1.0, 0.4 * (cell % 3)});
    unknowns[1].group.push_back(cell % 2);
    unknowns[2].group.push_back(0);
  }
  check(which, unknowns);
}

/// Message of the error that a Hessian product throws, or "nothing" without an error. `skipped`: number of first steps
/// that the sweep omits.
std::string refusal(const Case& which, const std::string& name, int skipped = 0) {
  try {
    DifferentiableScene solver = make_solver(which);
    TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {0.9, 0.2, 0.15}, num_steps);
    MemoryStore store;
    InverseProblem problem(
        solver.model(), solver.initial_state(), num_steps, loss, unknowns_of({name}, {}),
        [skipped](int n) -> std::unique_ptr<Schedule> {
          if (skipped == 0) return std::make_unique<AllSchedule>(n);
          return std::make_unique<TruncatedSchedule>(skipped, std::make_unique<AllSchedule>(n - skipped));
        },
        store);
    (void)problem.hessian_product(problem.start(), std::vector<double>(problem.size(), 1.0));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "nothing";
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(HessianRefuses, what_has_no_second_derivatives) {
  const Case bar{"implicit_euler", "neo_hookean", 1, hookean, {}, {}};
  expect_part(refusal(bar, "rest_positions"), "no second derivative with respect to 'rest_positions'");
  expect_part(refusal(bar, "youngs_modulus", 1), "a sweep of the last steps only has no second derivatives");
}

}  // namespace
}  // namespace diffsim::hessian_test
