// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Kernels and steps of implicit dynamics on a beam of Tet4 cells, beside the STREAM triad of the same run.

#include <benchmark/benchmark.h>
#include <mpi.h>

#include "diffsim/core/block_matrix.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/dynamics/implicit_model.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "triad.hpp"

namespace diffsim {
namespace {

BENCHMARK(triad)->UseRealTime()->Unit(benchmark::kMillisecond);

/// A beam of 8 × 1 × 1 m and 8 n³ bricks of six cells; n = 16 has 114 thousand unknowns.
DifferentiableSolver make_solver(int n) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {8.0, 1.0, 1.0}, {8 * n, n, n});
  DifferentiableMaterial material{
      "neo_hookean", {{"youngs_modulus", 0.74}, {"poisson_ratio", 0.47}, {"density", 1.0}}, "all"};
  SolverOptions options{.dt = 3.0, .gravity = {0.0, 0.0, 0.0}, .integrator = "implicit_euler"};
  options.implicit.newton.tolerance = 1e-8;
  DifferentiableSolver solver(mesh, {material}, options);
  solver.fix("x_min");
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) velocity.insert(velocity.end(), {0.0, 0.0, 0.02});
  solver.set_initial_velocity(velocity);
  return solver;
}

void assembly(benchmark::State& bench, bool project) {
  DifferentiableSolver solver = make_solver(static_cast<int>(bench.range(0)));
  solver.model().prepare();
  const State state = solver.initial_state();
  ForceTerm& term = *solver.integrator().terms()[0];
  const Configuration at{state["positions"]};
  Couplings couplings;
  term.add_couplings(at, couplings);
  BlockMatrix blocks(solver.mesh()->num_vertices(), couplings);
  for (auto _ : bench) {
    blocks.zero();
    term.add_jacobian(at, solver.parameters(), {-1.0, 0.0, project}, blocks);
  }
  bench.counters["tet/s"] =
      benchmark::Counter(solver.mesh()->num_cells(), benchmark::Counter::kIsIterationInvariantRate);
}

/// The rank's share of K x by blocks; bytes as a block row's 76 a block.
void block_product(benchmark::State& bench) {
  DifferentiableSolver solver = make_solver(static_cast<int>(bench.range(0)));
  Couplings couplings;
  couplings.add(solver.mesh()->cells(), 4);
  const BlockMatrix blocks(solver.mesh()->num_vertices(), couplings);
  const State state = solver.initial_state();
  Field y = state["positions"].like("y");
  for (auto _ : bench) blocks.multiply(state["positions"], y);
  bench.SetBytesProcessed(bench.iterations() * 76 * static_cast<std::int64_t>(blocks.num_blocks()));
}

/// A backward Euler step from rest, and its adjoint.
void implicit_gradient(benchmark::State& bench) {
  DifferentiableSolver solver = make_solver(static_cast<int>(bench.range(0)));
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {8.0, 0.0, 0.0}, 1);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus"});
  double forward = 0.0, backward = 0.0;
  ImplicitStatistics counts;
  for (auto _ : bench) {
    simulator.rollout(1, 0, loss);
    counts = dynamic_cast<const ImplicitModel&>(solver.integrator()).statistics();
    simulator.backward();
    forward += simulator.statistics().forward_seconds;
    backward += simulator.statistics().backward_seconds;
  }
  const auto newton = static_cast<double>(counts.newton_iterations);
  bench.counters["unknowns"] = 3.0 * static_cast<double>(solver.mesh()->num_global_vertices());
  bench.counters["newton"] = newton;
  bench.counters["krylov"] = static_cast<double>(counts.linear_iterations);
  bench.counters["s/newton"] = forward / newton / static_cast<double>(bench.iterations());
  bench.counters["adjoint/forward*newton"] = backward / forward * newton;
}

BENCHMARK_CAPTURE(assembly, exact, false)->Arg(16)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(assembly, projected, true)->Arg(16)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(block_product)->Arg(16)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(implicit_gradient)->Arg(16)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace diffsim
