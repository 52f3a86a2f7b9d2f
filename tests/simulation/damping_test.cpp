// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Damping compared with exact results: drag and Rayleigh damping slow a fall by known factors; viscosity dissipates
// energy and conserves momentum.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "diffsim/simulation/scene.hpp"
#include "dynamics/system_model.hpp"

namespace diffsim::damping_test {
namespace {

DifferentiableScene make_solver(int order, std::map<std::string, CellValues> damping, double gravity) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.4, 0.2, 0.1}, {3, 2, 1}, order);
  DifferentiableMaterial rubber{
      "stable_neo_hookean", {{"youngs_modulus", 1e4}, {"poisson_ratio", 0.4}, {"density", 500.0}}, "all"};
  rubber.values.merge(damping);
  return {mesh, {rubber}, {.dt = 1e-3, .substeps = 2, .damping = 1.0, .gravity = {0.0, gravity, 0.0}}};
}

class EveryOrder : public testing::TestWithParam<int> {};

// All vertices fall with the same velocity, without strain: v ← v + h (g - (α + c/ρ) v).
TEST_P(EveryOrder, drag_and_rayleigh_damping_slow_a_fall) {
  DifferentiableScene solver = make_solver(GetParam(), {{"rayleigh_damping", 3.0}, {"drag", 1000.0}}, -9.8);
  State state = solver.initial_state();
  solver.model().prepare();
  double v = 0.0, y = 0.0;
  for (int n = 0; n < 50; ++n) {
    solver.step(n, state);
    for (int s = 0; s < 2; ++s) {
      v += 5e-4 * (-9.8 - (3.0 + 1000.0 / 500.0) * v);
      y += 5e-4 * v;
    }
  }
  const std::vector<double> x = state["positions"].to_host(), w = state["velocities"].to_host();
  for (std::size_t i = 0; i < w.size(); ++i) {
    EXPECT_NEAR(w[i], i % 3 == 1 ? v : 0.0, 1e-12);
    EXPECT_NEAR(x[i] - solver.mesh()->rest_positions()[i], i % 3 == 1 ? y : 0.0, 1e-13);
  }
}

/// Linear momentum Σ m v, angular momentum Σ m x × v and mechanical energy of the whole body.
std::array<double, 7> invariants(DifferentiableScene& solver, const State& state) {
  const std::vector<double> m = solver.system().mass().to_host(), x = state["positions"].to_host(),
                            v = state["velocities"].to_host();
  std::array<double, 7> sums{};
  for (std::size_t i = 0; i < m.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t c1 = 3 * i + (c + 1) % 3, c2 = 3 * i + (c + 2) % 3;
      sums[c] += m[i] * v[3 * i + c];
      sums[3 + c] += m[i] * (x[c1] * v[c2] - x[c2] * v[c1]);
    }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 6, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  sums[6] = solver.system().kinetic_energy(state) + solver.system().potential_energy(state);
  return sums;
}

TEST_P(EveryOrder, viscosity_takes_energy_and_no_momentum) {
  const auto run = [&](double viscosity) {
    DifferentiableScene solver =
        make_solver(GetParam(), {{"viscosity", viscosity}, {"bulk_viscosity", viscosity}}, 0.0);
    std::vector<double> velocity;
    for (int v = 0; v < solver.mesh()->num_owned_vertices(); ++v) {
      const double* X = &solver.mesh()->rest_positions()[3 * static_cast<std::size_t>(v)];
      velocity.insert(velocity.end(), {0.1 - 2.0 * X[1] + 0.8 * X[0], 2.0 * X[0], 0.5 * X[2]});
    }
    solver.set_initial_velocity(velocity);
    State state = solver.initial_state();
    solver.model().prepare();
    const auto before = invariants(solver, state);
    for (int n = 0; n < 300; ++n) solver.step(n, state);
    const auto after = invariants(solver, state);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(after[i], before[i], 1e-12) << i;
    return std::array{before[6], after[6]};
  };
  const auto free = run(0.0), damped = run(20.0);
  EXPECT_NEAR(free[1], free[0], 0.01 * free[0]);
  EXPECT_LT(damped[1], 0.97 * damped[0]);
}

INSTANTIATE_TEST_SUITE_P(damping, EveryOrder, testing::Values(1, 2));

}  // namespace
}  // namespace diffsim::damping_test
