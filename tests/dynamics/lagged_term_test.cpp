// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Terms evaluated at the positions at the beginning of a step. The example is the viscosity of cells, whose forces are
// summed over ranks.

#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/elastic/impl/common_parameters.hpp"
#include "dynamics/lagged_term.hpp"
#include "elastic/viscous_term.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::lagged_term_test {
namespace {

using namespace testing_simulation;

/// Returns the solver of a bar under gravity, fixed at one end. The viscosity is evaluated at the beginning of the step
/// if `lags`.
DifferentiableScene make_solver(const std::string& integrator, bool lags, double dt = 0.01) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.6, 0.3, 0.2}, {3, 2, 1});
  DifferentiableSolver options{.dt = dt, .gravity = {0.5, -9.8, 1.0}, .integrator = integrator_named(integrator)};
  DifferentiableScene solver = make_soft_solver(mesh, 2e4, options);
  solver.fix("x_min");
  const auto cells = static_cast<std::size_t>(mesh->num_cells());
  solver.parameters()
      .add(ElasticParameters::viscosity, mesh->cell_entities())
      .field.from_host(std::vector<double>(cells, 60.0));
  solver.parameters()
      .add(ElasticParameters::bulk_viscosity, mesh->cell_entities())
      .field.from_host(std::vector<double>(cells, 20.0));
  std::unique_ptr<ForceTerm> term = make_viscous_term(*mesh);
  solver.system().add_term(lags ? make_lagged_term(std::move(term)) : std::move(term));
  return solver;
}

TEST(lagged_term, has_the_derivatives_of_what_it_computes) {
  for (const char* integrator : {"implicit_euler", "generalised_alpha"}) {
    SCOPED_TRACE(integrator);
    DifferentiableScene solver = make_solver(integrator, true);
    const std::unique_ptr<ForceTerm>& term = solver.system().terms().back();
    EXPECT_TRUE(term->lags());
    EXPECT_TRUE(term->uses_velocities());
    EXPECT_FALSE(term->has_energy());
    TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {0.7, 0.2, 0.1}, 4);
    MemoryStore store;
    InverseProblem problem(
        solver.model(), solver.initial_state(), 4, loss,
        unknowns_of({"viscosity", "bulk_viscosity", "rest_positions", "initial_positions", "initial_velocities"}, {}),
        [](int n) { return std::make_unique<AllSchedule>(n); }, store);
    expect_checked(problem);
  }
}

std::vector<double> positions_after(DifferentiableScene solver, int steps) {
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  std::vector<double> x = state["positions"].to_host();
  x.resize(3 * static_cast<std::size_t>(solver.mesh()->num_owned_vertices()));
  return x;
}

/// Checks that the difference due to the lag is of first order in dt.
TEST(lagged_term, differs_by_the_time_step) {
  std::vector<double> differences;
  for (const int steps : {10, 20, 40}) {
    const std::vector<double> with = positions_after(make_solver("bdf2", true, 0.1 / steps), steps),
                              without = positions_after(make_solver("bdf2", false, 0.1 / steps), steps);
    double sum = 0.0;
    for (std::size_t i = 0; i < with.size(); ++i) sum += (with[i] - without[i]) * (with[i] - without[i]);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    differences.push_back(std::sqrt(sum));
  }
  EXPECT_GT(differences[2], 1e-8);
  for (std::size_t k = 1; k < differences.size(); ++k)
    EXPECT_NEAR(std::log2(differences[k - 1] / differences[k]), 1.0, 0.2);
}

}  // namespace
}  // namespace diffsim::lagged_term_test
