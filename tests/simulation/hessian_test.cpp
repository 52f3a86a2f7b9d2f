// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Products with the Hessian of a rollout's loss: symmetry, and orders of the second-order expansion's remainder.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/inverse/hessian_check.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim {
namespace {

using namespace testing_simulation;

constexpr int num_steps = 3;

using Values = std::map<std::string, CellValues>;

const Values hookean{{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"density", 900.0}};
const Values tissue{{"shear_modulus", 7e3}, {"bulk_modulus", 2e4}, {"k1", 1e4},      {"k2", 2.0},       {"kappa", 0.1},
                    {"fibre_x", 1.0},       {"fibre_y", 0.5},      {"fibre_z", 0.2}, {"density", 900.0}};
const Values muscle{{"youngs_modulus", 2e4}, {"poisson_ratio", 0.35}, {"active_tension", 3e3}, {"activation", 0.6},
                    {"fibre_x", 1.0},        {"fibre_y", 0.5},        {"fibre_z", 0.2},        {"density", 900.0}};
const Values mooney{{"c10", 3e3}, {"c01", 1e3}, {"bulk_modulus", 2e4}, {"density", 900.0}};

struct Case {
  std::string integrator;
  std::string law;
  int order;
  Values values;
  std::vector<std::string> names;        // of the unknowns
  std::vector<std::string> logarithmic;  // of these
};

DifferentiableSolver make_solver(const Case& which) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {which.order == 1 ? 4 : 2, 1, 1}, which.order);
  const bool is_explicit = which.integrator == "symplectic_euler";
  SolverOptions options{.dt = is_explicit ? 0.004 : 0.04,
                        .substeps = 4,
                        .damping = 0.995,
                        .gravity = {0.5, -9.8, 1.0},
                        .integrator = which.integrator};
  options.implicit.newton.tolerance = 1e-13;
  options.implicit.ramp_steps = which.integrator == "quasi_static" ? num_steps : 0;
  DifferentiableSolver solver(mesh, {{which.law, which.values, "all"}}, options);
  solver.fix("x_min");
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

/// Positions far from those of the rollout, seen at some steps and vertices: TrackLoss is not blind to anything.
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
  DifferentiableSolver solver = make_solver(which);
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
  if (ranks > 1) options.max_halvings = 0;  // orders are the same on all ranks; what these could spoil is the symmetry
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

constexpr const char* integrators[] = {"symplectic_euler", "quasi_static", "implicit_euler",
                                       "bdf2",             "newmark",      "generalised_alpha"};

/// Every law under every integrator, by the modulus of all that it depends on in the least simple way.
std::vector<Case> laws() {
  std::vector<Case> all;
  for (const char* integrator : integrators) {
    for (const char* law : {"neo_hookean", "stable_neo_hookean", "linear_elastic", "fixed_corotated"})
      all.push_back({integrator, law, 1, hookean, {"youngs_modulus", "poisson_ratio"}, {"youngs_modulus"}});
    all.push_back({integrator, "holzapfel_gasser_ogden", 1, tissue, {"shear_modulus", "k2", "fibre_y"}, {"k2"}});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(laws, Hessian, testing::ValuesIn(laws()));

std::vector<Case> second_order_cells() {
  std::vector<Case> all;
  for (const char* integrator : integrators)
    all.push_back({integrator, "neo_hookean", 2, hookean, {"youngs_modulus"}, {"youngs_modulus"}});
  all.push_back({"implicit_euler", "stable_neo_hookean", 2, hookean, {"youngs_modulus"}, {}});
  all.push_back({"newmark", "holzapfel_gasser_ogden", 2, tissue, {"k1", "bulk_modulus"}, {"k1"}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(tet10, Hessian, testing::ValuesIn(second_order_cells()));

/// All other parameters, alone and together.
std::vector<Case> other_parameters() {
  std::vector<Case> all;
  for (const char* integrator : integrators) {
    std::vector<std::string> names{"youngs_modulus", "density", "gravity", "nodal_load", "traction:x_max",
                                   "initial_positions"};
    if (std::string(integrator) != "quasi_static") names.emplace_back("initial_velocities");
    if (std::string(integrator) == "symplectic_euler") names.emplace_back("damping");
    all.push_back({integrator, "stable_neo_hookean", 1, hookean, names, {"youngs_modulus", "density"}});
  }
  all.push_back({"symplectic_euler", "neo_hookean", 1, hookean, {"density"}, {}});
  all.push_back({"symplectic_euler", "neo_hookean", 1, hookean, {"damping"}, {}});
  all.push_back({"bdf2", "neo_hookean", 1, hookean, {"density"}, {}});
  all.push_back({"newmark", "active_fibre", 1, muscle, {"activation_signal", "activation", "active_tension"}, {"activation"}});
  all.push_back({"implicit_euler", "mooney_rivlin", 1, mooney, {"c01", "bulk_modulus"}, {"c01"}});
  all.push_back({"implicit_euler", "st_venant_kirchhoff", 1, hookean, {"poisson_ratio"}, {}});
  all.push_back({"implicit_euler", "neo_hookean_quadratic", 1, hookean, {"poisson_ratio"}, {}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(parameters, Hessian, testing::ValuesIn(other_parameters()));

}  // namespace
}  // namespace diffsim
