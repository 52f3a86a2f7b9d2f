// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Kernels and steps of implicit dynamics on a beam of Tet4 cells, with the STREAM triad in the same run for comparison.

#include <benchmark/benchmark.h>
#include <mpi.h>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "core/petsc_handle.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "dynamics/linear/linear_system.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "triad.hpp"

namespace diffsim {
namespace {

// Number of iterations of short operations; fixed, because all ranks must run the same number of iterations.
constexpr int num_iterations = 50;
void set_options(benchmark::internal::Benchmark* bench) {
  bench->Iterations(num_iterations)->UseRealTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(triad)->Apply(set_options);

/// Returns the scene of a beam of 8 × 1 × 1 m with 8 n³ bricks of six cells each. n = 9, 16, 24 and 34 give 22, 112,
/// 361 and 1003 thousand unknowns. In dynamics the beam has an initial sideways velocity; in statics the weight of the
/// beam bends it. Material and time step are those of example 10 of MFEM.
DifferentiableScene make_solver(int n, double linear_tolerance = 0.0,
                                const std::string& integrator = "implicit_euler") {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {8.0, 1.0, 1.0}, {8 * n, n, n});
  DifferentiableMaterial material{
      "neo_hookean", {{"youngs_modulus", 0.74}, {"poisson_ratio", 0.47}, {"density", 1.0}}, "all"};
  const bool is_static = integrator == "quasi_static";
  DifferentiableSolver options{
      .dt = 3.0, .gravity = {0.0, 0.0, is_static ? 1e-6 : 0.0}, .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-8;
  if (linear_tolerance > 0.0)
    options.implicit.newton.linear_tolerance = options.implicit.linear.tolerance = linear_tolerance;
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("x_min");
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) velocity.insert(velocity.end(), {0.0, 0.0, 0.02});
  solver.set_initial_velocity(velocity);
  return solver;
}

void assembly(benchmark::State& bench, bool project) {
  DifferentiableScene solver = make_solver(static_cast<int>(bench.range(0)));
  solver.model().prepare();
  const State state = solver.initial_state();
  ForceTerm& term = *solver.system().terms()[0];
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

/// Measures the product of this rank's BlockMatrix with a vector. 76 bytes are counted per block: nine values and a
/// column index.
void block_product(benchmark::State& bench) {
  DifferentiableScene solver = make_solver(static_cast<int>(bench.range(0)));
  Couplings couplings;
  couplings.add({solver.mesh()->cells().begin(), solver.mesh()->cells().end()}, 4);
  const BlockMatrix blocks(solver.mesh()->num_vertices(), couplings);
  const State state = solver.initial_state();
  Field y = state["positions"].like("y");
  for (auto _ : bench) blocks.multiply(state["positions"], y);
  bench.SetBytesProcessed(bench.iterations() * 76 * static_cast<std::int64_t>(blocks.num_blocks()));
}

/// Measures the distributed matrix-vector product y = J x of the Krylov method. The counted bytes are the values, one
/// column index per block, one row offset per block row, and x and y once. Products and triads also alternate; the
/// counter `of triad` is the bandwidth of the fastest product divided by that of the fastest triad.
void matrix_product(benchmark::State& bench) {
  DifferentiableScene solver = make_solver(static_cast<int>(bench.range(0)));
  const TetrahedralMesh& mesh = *solver.mesh();
  solver.model().prepare();
  Couplings couplings;
  couplings.add({mesh.cells().begin(), mesh.cells().end()}, 4);
  dynamics::MatrixShare share(mesh, couplings, false);
  const State state = solver.initial_state();
  solver.system().terms()[0]->add_jacobian({state["positions"]}, solver.parameters(), {-1.0, 0.0, false},
                                           share.blocks());
  dynamics::LinearSystem linear(mesh, {});
  const auto fixed = make_device_array<std::uint8_t>("fixed", static_cast<std::size_t>(mesh.num_owned_vertices()));
  Kokkos::deep_copy(fixed, std::uint8_t{0});
  linear.set_fixed(fixed.data());
  linear.set_matrix({&share}, true);
  PetscHandle<Vec, VecDestroy> x, y;
  MatInfo info;
  DIFFSIM_PETSC(MatCreateVecs(linear.matrix(), x.out(), y.out()));
  DIFFSIM_PETSC(VecSet(x, 1.0));
  DIFFSIM_PETSC(MatGetInfo(linear.matrix(), MAT_GLOBAL_SUM, &info));
  const auto product = [&] { DIFFSIM_PETSC(MatMult(linear.matrix(), x, y)); };
  for (auto _ : bench) product();
  const double unknowns = 3.0 * static_cast<double>(mesh.num_global_vertices());
  const double bytes = info.nz_used * (8.0 + 4.0 / 9.0) + unknowns * (4.0 / 3.0 + 16.0);
  bench.SetBytesProcessed(static_cast<std::int64_t>(static_cast<double>(bench.iterations()) * bytes));
  bench.counters["unknowns"] = unknowns;
  bench.counters["B/block"] = 9.0 * bytes / info.nz_used;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto [seconds, of_triad] = fastest_alternated(2 * num_iterations, product, make_triad());
  bench.counters["GB/s"] = 1e-9 * bytes / seconds;
  bench.counters["triad GB/s"] = 1e-9 * triad_bytes * ranks / of_triad;
  bench.counters["of triad"] = bytes / seconds * of_triad / (triad_bytes * ranks);
}

/// Measures steps of backward Euler and the adjoints of these steps. `tolerance` is the tolerance of the linear systems
/// of Newton's method and of the adjoint; the value 0 selects the default tolerances.
void implicit_gradient(benchmark::State& bench, double tolerance) {
  constexpr int steps = 6;
  DifferentiableScene solver = make_solver(static_cast<int>(bench.range(0)), tolerance);
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {8.0, 0.0, 0.0}, steps);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus"});
  simulator.rollout(1, 0, loss);  // setup that is done only once
  double forward = 0.0, backward = 0.0;
  ImplicitStatistics counts, all;
  const auto& model = dynamic_cast<const ImplicitModel&>(solver.model());
  for (auto _ : bench) {
    simulator.rollout(steps, 0, loss);
    counts = model.statistics();
    simulator.backward();
    all = model.statistics();
    forward += simulator.statistics().forward_seconds;
    backward += simulator.statistics().backward_seconds;
  }
  const auto newton = static_cast<double>(counts.newton_iterations), runs = static_cast<double>(bench.iterations());
  bench.counters["unknowns"] = 3.0 * static_cast<double>(solver.mesh()->num_global_vertices());
  bench.counters["newton/step"] = newton / steps;
  bench.counters["krylov/newton"] = static_cast<double>(counts.linear_iterations) / newton;
  bench.counters["krylov/adjoint"] = static_cast<double>(all.derivative_iterations) / steps;
  bench.counters["s/newton"] = forward / newton / runs;
  bench.counters["s/adjoint"] = backward / steps / runs;
  bench.counters["adjoint/forward*newton"] = backward / forward * newton / steps;
}

/// Measures the first ten steps of example 10 of MFEM (backward Euler, first order, `-s 1 -o 1 -dt 0.3`). The mesh is
/// the beam of that example, refined four times: 128 × 16 × 16 bricks of six tetrahedra. The energy is W = µ/2
/// (Ī1 - 3) + K/2 (J - 1)² with µ = 0.25 and K = 5; the viscosity is 1e-2, the density 1, and the initial velocity
/// v0 = s (-x², 0, x² (8 - x)) with s = 0.1/64. Newton's method reduces the residual to 1e-8. There are two differences
/// from MFEM. Masses are lumped here. `viscosity` is that of a Kelvin–Voigt material, whereas the viscous force in MFEM
/// is linear, the Laplacian of v. The benchmark `elastic` has no viscosity.
void mfem_example_10(benchmark::State& bench, double viscosity) {
  constexpr int steps = 10;
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {8.0, 1.0, 1.0}, {128, 16, 16});
  const double mu = 0.25, K = 5.0, s = 0.1 / 64.0;
  DifferentiableMaterial material{
      "mooney_rivlin", {{"c10", mu / 2.0}, {"c01", 0.0}, {"bulk_modulus", K}, {"density", 1.0}}, "all"};
  if (viscosity > 0.0) material.values["viscosity"] = viscosity;
  DifferentiableSolver options{.dt = 0.3, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::implicit_euler};
  options.implicit.newton.tolerance = 1e-8;
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("x_min");
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
    const double x = mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
    velocity.insert(velocity.end(), {-s * x * x, 0.0, s * x * x * (8.0 - x)});
  }
  solver.set_initial_velocity(velocity);
  const auto& model = dynamic_cast<const ImplicitModel&>(solver.model());
  double seconds = 0.0;
  for (auto _ : bench) {
    solver.model().prepare();
    State state = solver.initial_state();
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int n = 0; n < steps; ++n) solver.model().step(n, state, nullptr);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds += MPI_Wtime() - start;
  }
  const ImplicitStatistics counts = model.statistics();
  const auto newton = static_cast<double>(counts.newton_iterations), runs = static_cast<double>(bench.iterations());
  bench.counters["unknowns"] = 3.0 * static_cast<double>(mesh->num_global_vertices());
  bench.counters["s/step"] = seconds / steps / runs;
  bench.counters["newton/step"] = newton / steps;
  bench.counters["krylov/newton"] = static_cast<double>(counts.linear_iterations) / newton;
}

/// Measures the loss, the gradient and a product with the Hessian, with respect to one Young's modulus per cell, for
/// steps of backward Euler with all states stored. Each of these three computations repeats the forward steps.
void hessian_product(benchmark::State& bench) {
  constexpr int steps = 6;
  DifferentiableScene solver = make_solver(static_cast<int>(bench.range(0)));
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {8.0, 0.0, 0.0}, steps);
  MemoryStore store;
  Unknown unknown;
  unknown.parameter = "youngs_modulus";
  InverseProblem problem(
      solver.model(), solver.initial_state(), steps, loss, {unknown},
      [](int n) { return std::make_unique<AllSchedule>(n); }, store);
  const std::vector<double> u = problem.start(), v(problem.size(), 0.01);
  std::vector<double> gradient;
  const auto seconds = [](const auto& act) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    act();
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - start;
  };
  (void)problem.hessian_product(u, v);  // setup that is done only once
  double of_loss = 0.0, of_gradient = 0.0, of_product = 0.0;
  for (auto _ : bench) {
    of_loss += seconds([&] { (void)problem.value(u); });
    of_gradient += seconds([&] { (void)problem.gradient(u, gradient); });
    of_product += seconds([&] { (void)problem.hessian_product(u, v); });
  }
  bench.counters["unknowns"] = 3.0 * static_cast<double>(solver.mesh()->num_global_vertices());
  bench.counters["s/loss"] = of_loss / static_cast<double>(bench.iterations());
  bench.counters["gradient/loss"] = of_gradient / of_loss;
  bench.counters["product/loss"] = of_product / of_loss;
  bench.counters["product/gradient"] = of_product / of_gradient;
}

/// Counts the Krylov iterations of the adjoint of a static step for a tolerance of 1e-8.
void krylov_growth(benchmark::State& bench) {
  DifferentiableScene solver = make_solver(static_cast<int>(bench.range(0)), 1e-8, "quasi_static");
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {8.0, 0.0, 0.0}, 1);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus"});
  for (auto _ : bench) {
    simulator.rollout(1, 0, loss);
    simulator.backward();
  }
  const ImplicitStatistics counts = dynamic_cast<const ImplicitModel&>(solver.model()).statistics();
  bench.counters["unknowns"] = 3.0 * static_cast<double>(solver.mesh()->num_global_vertices());
  bench.counters["krylov/newton"] =
      static_cast<double>(counts.linear_iterations) / static_cast<double>(counts.newton_iterations);
  bench.counters["krylov/adjoint"] = static_cast<double>(counts.derivative_iterations);
}

BENCHMARK_CAPTURE(assembly, exact, false)->Arg(16)->Apply(set_options);
BENCHMARK_CAPTURE(assembly, projected, true)->Arg(16)->Apply(set_options);
BENCHMARK(matrix_product)->Arg(16)->Arg(34)->Apply(set_options);
BENCHMARK(block_product)->Arg(16)->Apply(set_options);
BENCHMARK_CAPTURE(implicit_gradient, by_default, 0.0)
    ->Arg(16)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(implicit_gradient, same_tolerance, 1e-8)
    ->Arg(16)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);
BENCHMARK_CAPTURE(mfem_example_10, viscous, 1e-2)->UseRealTime()->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK_CAPTURE(mfem_example_10, elastic, 0.0)->UseRealTime()->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK(hessian_product)->Arg(9)->Arg(16)->UseRealTime()->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK(krylov_growth)->Arg(9)->Arg(16)->Arg(24)->Arg(34)->UseRealTime()->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace diffsim
