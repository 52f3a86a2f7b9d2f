// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "contact/contact_term.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/elastic/impl/elastic_term.hpp"
#include "diffsim/inverse/gradient_check.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "dynamics/system_model.hpp"
#include "dynamics/time/explicit_model.hpp"
#include "inverse/hessian_check.hpp"
#include "simulation/parameter_specs.hpp"

namespace diffsim::testing_simulation {

/// Returns the sample value of a parameter, which is soft enough for the steps of the tests below.
inline double value_of(const std::string& name) { return find_parameter_spec(name).value().sample; }

/// Polynomial order of cells with the given degree of quadrature: degree 1 belongs to linear cells, degrees 2 and 5 to
/// second-order cells.
inline int order_of(int degree) { return degree == 1 ? 1 : 2; }
inline std::optional<int> given_degree(int degree) { return degree == 1 ? std::nullopt : std::optional<int>(degree); }

/// Names of all elastic laws.
inline std::vector<std::string> law_names() {
  std::vector<std::string> names;
  for (const ElasticLaw& law : elastic_laws()) names.push_back(law.name);
  return names;
}

/// Momentum of the body, kg m/s, summed over all ranks.
inline std::array<double, 3> momentum(const System& system, const State& state) {
  const std::vector<double> m = system.mass().to_host(), v = state["velocities"].to_host();
  std::array<double, 3> sum{};
  for (std::size_t i = 0; i < v.size(); ++i) sum[i % 3] += m[i / 3] * v[i];
  MPI_Allreduce(MPI_IN_PLACE, sum.data(), 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/// Mean displacement of a region's vertices, m, over all ranks.
inline std::array<double, 3> mean_displacement(const TetrahedralMesh& mesh, const State& state,
                                               const std::string& region) {
  const std::vector<double> x = state["positions"].to_host();
  std::array<double, 4> sums{};
  for (const int v : mesh.region(region).vertices) {
    if (v >= mesh.num_owned_vertices()) continue;
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t i = 3 * static_cast<std::size_t>(v) + c;
      sums[c] += x[i] - mesh.rest_positions()[i];
    }
    sums[3] += 1.0;
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return {sums[0] / sums[3], sums[1] / sums[3], sums[2] / sums[3]};
}

/// Sets an initial state that is stretched along the fibres of `value_of`. The fibres then stay in tension, which
/// avoids the jump in the tangent of a dispersed fibre that becomes slack.
inline void start_stretched(DifferentiableScene& solver) {
  const TetrahedralMesh& mesh = *solver.mesh();
  std::vector<double> displacement, velocity;
  for (int v = 0; v < mesh.num_owned_vertices(); ++v) {
    const double x = mesh.rest_positions()[3 * static_cast<std::size_t>(v)];
    displacement.insert(displacement.end(), {0.2 * x, 0.03 * x, -0.02 * x});
    velocity.insert(velocity.end(), {0.0, 0.5 * x, 0.0});
  }
  solver.set_initial_displacement(displacement);
  solver.set_initial_velocity(velocity);
}

/// Expects `act` to throw an Error whose message contains all `words`. Returns the kind of the error.
template <class Act>
std::optional<ErrorKind> expect_refused(const Act& act, const std::vector<std::string>& words) {
  try {
    act();
  } catch (const Error& error) {
    const std::string text = error.what();
    for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text << " lacks: " << word;
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return std::nullopt;
}

/// Expects the first step to throw an Error whose message contains all `words`. Returns the kind of the error.
inline std::optional<ErrorKind> expect_step_refused(DifferentiableScene& solver,
                                                    const std::vector<std::string>& words) {
  solver.model().prepare();
  State state = solver.initial_state();
  return expect_refused([&] { solver.step(0, state); }, words);
}

/// Energy balance of a rollout of `steps` steps of dt: initial energy, lost energy, and work of friction, which is the
/// time integral of the power of friction (trapezoidal rule). `energy_balance` expects no active contact at the end.
struct EnergyBalance {
  double before, gone, work;
};
inline EnergyBalance energy_balance(DifferentiableScene& solver, int steps, double dt) {
  Model& model = solver.model();
  model.prepare();
  State state = solver.initial_state();
  const auto energy = [&] { return solver.system().kinetic_energy(state) + solver.system().potential_energy(state); };
  const double before = energy();
  double work = 0.0, power = 0.0;
  for (int n = 1; n <= steps; ++n) {
    model.step(n - 1, state, nullptr);
    const double now = solver.contact_state(n, state).friction_power;
    work += 0.5 * dt * (power + now);
    power = now;
  }
  EXPECT_EQ(solver.contact_state(steps, state).active_pairs, 0);
  return {before, before - energy(), work};
}

/// Makes a scene with a soft body, whose implicit steps are solved to rounding errors.
inline DifferentiableScene make_soft_solver(const std::shared_ptr<TetrahedralMesh>& mesh, double youngs_modulus,
                                            DifferentiableSolver options) {
  const DifferentiableMaterial material{
      "stable_neo_hookean", {{"youngs_modulus", youngs_modulus}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"};
  options.implicit.newton.tolerance = 1e-12;
  return {mesh, {material}, options};
}

/// Target for the mean position of a region at a step. The distance from the target is smooth and depends on every
/// parameter.
struct Target {
  std::string region;
  std::array<double, 3> target;
  int step;
  double weight = 1.0;
};

/// Returns one unknown per parameter; the unknowns of the parameters in `logarithmic` are logarithms.
inline std::vector<Unknown> unknowns_of(const std::vector<std::string>& names,
                                        const std::vector<std::string>& logarithmic) {
  std::vector<Unknown> unknowns;
  for (const std::string& name : names) {
    Unknown unknown;
    unknown.parameter = name;
    for (const std::string& other : logarithmic) unknown.logarithmic = unknown.logarithmic || name == other;
    unknowns.push_back(unknown);
  }
  return unknowns;
}

/// Checks the derivatives of a rollout with snapshots every few steps, for each unknown separately. Expects dot-product
/// errors within options.dot_product_tolerance and slopes that agree with finite differences. `independent`: names of
/// unknowns on which the targets do not depend. DIFFSIM_VERBOSE=1 prints the results.
inline void expect_derivatives(DifferentiableScene& solver, int num_steps, const std::vector<Target>& targets,
                               const std::vector<Unknown>& unknowns, const GradientCheckOptions& options = {},
                               const std::vector<std::string>& independent = {}) {
  SumLoss loss;
  for (const Target& target : targets)
    loss.add(std::make_unique<TargetPositionLoss>(*solver.mesh(), solver.mesh()->region(target.region), target.target,
                                                  target.step),
             target.weight);
  MemoryStore store;
  const auto schedule = [](int n) { return std::make_unique<UniformSchedule>(n, n < 12 ? 3 : 16); };
  InverseProblem problem(solver.model(), solver.initial_state(), num_steps, loss, unknowns, schedule, store);
  for (const UnknownCheck& check : check_gradient(problem, problem.start(), options)) {
    EXPECT_LE(check.dot_product_error, options.dot_product_tolerance) << check.name;
    const bool depends = std::find(independent.begin(), independent.end(), check.name) == independent.end();
    EXPECT_EQ(std::string(to_string(check.verdict)), depends ? "passed" : "independent")
        << check.name << ": " << check.note;
    // Differences confirm most slopes to 1e-8, and to 1e-5 slopes that contact or friction makes rough or that are
    // small beside the loss.
    if (depends) {
      EXPECT_LE(check.difference_error, 1e-5 * std::abs(check.slope)) << check.name;
    }
    if (!std::getenv("DIFFSIM_VERBOSE")) continue;
    std::printf("%-24s dot %8.1e  slope %11.3e off %8.1e shown %8.1e noise %8.1e solver %8.1e amplification %8.1e  %s",
                check.name.c_str(), check.dot_product_error, check.slope,
                std::abs(check.slope - check.difference) / std::abs(check.slope),
                check.difference_error / std::abs(check.slope), check.noise, check.solver_effect, check.amplification,
                check.linear ? "linear" : "orders");
    for (const double order : check.taylor_orders) std::printf(" %.4f", order);
    std::printf("\n");
  }
}

/// Expects products with the Hessian of a target's loss to be symmetric and to agree with differences of gradients.
inline void expect_hessian(DifferentiableScene& solver, int num_steps, const Target& target,
                           const std::vector<Unknown>& unknowns) {
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region(target.region), target.target, target.step);
  MemoryStore store;
  InverseProblem problem(
      solver.model(), solver.initial_state(), num_steps, loss, unknowns,
      [](int n) { return std::make_unique<AllSchedule>(n); }, store);
  const HessianCheck check = check_hessian(problem, problem.start());
  EXPECT_LE(check.symmetry, 1e-10);
  EXPECT_TRUE(check.passed) << check.product << " " << check.difference;
}

/// Expects dot-product errors of at most 1e-12 or ten times the solver's tolerance, whichever is larger. On one rank,
/// also expects slopes to agree with finite differences; these differences do not depend on the number of ranks.
inline void expect_checked(InverseProblem& problem) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  GradientCheckOptions options;
  options.differences = ranks == 1;
  for (const UnknownCheck& check : check_gradient(problem, problem.start(), options)) {
    EXPECT_LE(check.dot_product_error, std::max(1e-12, 10.0 * problem.model().solver_tolerance())) << check.name;
    if (ranks > 1) continue;
    EXPECT_EQ(check.verdict, CheckVerdict::passed) << check.name << ": " << check.note;
  }
}

/// Overload of `expect_checked` for the distance between a region's mean position and its target after `target.step`
/// steps.
inline void expect_checked(DifferentiableScene& solver, const Target& target, const std::vector<Unknown>& unknowns) {
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region(target.region), target.target, target.step);
  MemoryStore store;
  InverseProblem problem(
      solver.model(), solver.initial_state(), target.step, loss, unknowns,
      [](int n) { return std::make_unique<UniformSchedule>(n, 3); }, store);
  expect_checked(problem);
}

}  // namespace diffsim::testing_simulation
