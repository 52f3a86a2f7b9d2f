// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Kernels of explicit dynamics on a box of Tet4 cells, beside the STREAM triad of the same run. Cells per second count substeps:
// a step of S substeps on C cells is S·C. Figures are of all ranks together; `B/tet` is what has to move, each vertex read and
// written once, `flop/tet` is counted (counted.hpp).
//
// DIFFSIM_BENCH_CELLS=20000,200000 chooses sizes; DIFFSIM_BENCH_ITERATIONS=20 fixes the iterations, which several ranks need.

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

#include "counted.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/dynamics/symplectic_euler.hpp"
#include "diffsim/elastic/elastic_term_impl.hpp"
#include "diffsim/elastic/neo_hookean.hpp"
#include "diffsim/elastic/neo_hookean_quadratic.hpp"
#include "diffsim/elastic/stable_neo_hookean.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "triad.hpp"

namespace diffsim {
namespace {

constexpr int substeps = 4;

/// A law of the library as its energy alone: everything else comes by AD.
template <class L>
struct ByAd {
  static constexpr const char* name = L::name;
  static constexpr auto parameters = L::parameters;
  static constexpr int num_moduli = L::num_moduli;
  static constexpr bool needs_positive_jacobian = L::needs_positive_jacobian;
  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&p)[L::parameters.size()], T (&m)[num_moduli]) {
    L::moduli(p, m);
  }
  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& F, const T (&m)[num_moduli]) {
    return L::energy(F, m);
  }
};
struct NeoHookeanByAd : ByAd<NeoHookean> {
  static constexpr const char* name = "neo_hookean by AD";
};
struct StableNeoHookeanByAd : ByAd<StableNeoHookean> {
  static constexpr const char* name = "stable_neo_hookean by AD";
};
[[maybe_unused]] const bool registered = [] {
  register_law<NeoHookeanByAd>();
  register_law<StableNeoHookeanByAd>();
  return true;
}();

/// Which operations and bytes of a cell a kernel has.
struct Work {
  double bytes = 0.0, operations = 0.0;
};
constexpr double tets_per_vertex = 5.73;
constexpr double connectivity = 16.0, geometry = 80.0, vector_of_vertex = 24.0 / tets_per_vertex;

/// Of a law by its name, AD or not: by its hand-written form.
Work force_work(const std::string& law) {
  const long operations = law.starts_with("neo_hookean_quadratic") ? force_operations<NeoHookeanQuadratic>()
                          : law.starts_with("neo_hookean")         ? force_operations<NeoHookean>()
                                                                   : force_operations<StableNeoHookean>();
  return {connectivity + geometry + 3.0 * vector_of_vertex, static_cast<double>(operations)};
}
Work tangent_work(const std::string& law) {
  const long operations =
      law.starts_with("neo_hookean") ? tangent_operations<NeoHookean>() : tangent_operations<StableNeoHookean>();
  return {connectivity + geometry + 4.0 * vector_of_vertex, static_cast<double>(operations)};
}

/// A box of about `cells` cells, a cube of bricks of six.
DifferentiableSolver make_solver(std::int64_t cells, const char* law) {
  const int n = static_cast<int>(std::lround(std::cbrt(static_cast<double>(cells) / 6.0)));
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {n, n, n});
  DifferentiableMaterial material{law, {{"youngs_modulus", 1e4}, {"poisson_ratio", 0.4}, {"density", 1000.0}}, "all"};
  DifferentiableSolver solver(mesh, {material}, {.dt = 2e-4, .substeps = substeps, .damping = 0.999});
  solver.fix("y_min");
  return solver;
}

/// Displaced a little, so that no stress is zero.
State displaced(const DifferentiableSolver& solver) {
  State state = solver.initial_state();
  std::vector<double> x = state["positions"].to_host();
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= 1.0 + 0.01 * std::sin(static_cast<double>(i % 3) + 1.0);
  state["positions"].from_host(x);
  return state;
}

void report(benchmark::State& bench, const DifferentiableSolver& solver, double sweeps, const Work& work) {
  const auto cells = static_cast<double>(solver.mesh()->num_global_cells());
  bench.counters["cells"] = cells;
  bench.counters["tet/s"] = benchmark::Counter(sweeps * cells, benchmark::Counter::kIsIterationInvariantRate);
  bench.counters["B/tet"] = work.bytes;
  bench.counters["flop/tet"] = work.operations;
}

void force(benchmark::State& bench, const char* law) {
  DifferentiableSolver solver = make_solver(bench.range(0), law);
  solver.model().prepare();
  const State state = displaced(solver);
  Field f = state["positions"].like("force");
  for (auto _ : bench)
    solver.integrator().terms()[0]->add_force({state["positions"], 0, nullptr}, solver.parameters(), f);
  report(bench, solver, 1.0, force_work(law));
}

void hessian_vector_product(benchmark::State& bench, const char* law) {
  DifferentiableSolver solver = make_solver(bench.range(0), law);
  solver.model().prepare();
  solver.model().begin_adjoint({});
  const State state = displaced(solver);
  const State w = displaced(solver);
  Field f = state["positions"].like("force");
  ParameterSet none;
  for (auto _ : bench)
    solver.integrator().terms()[0]->add_force_adjoint({state["positions"], 0, nullptr}, w["positions"], {f}, none);
  report(bench, solver, 1.0, tangent_work(law));
}

void explicit_step(benchmark::State& bench, const char* law) {
  DifferentiableSolver solver = make_solver(bench.range(0), law);
  solver.model().prepare();
  State state = solver.initial_state();
  for (auto _ : bench) solver.step(0, state);
  // Besides the force: velocities and positions read and written, masses read.
  const Work work = force_work(law);
  report(bench, solver, substeps, {work.bytes + (3.0 * 24.0 + 8.0) / tets_per_vertex, work.operations});
}

/// Forward and backward of a rollout with every step recorded, by Young's modulus and Poisson's ratio of every cell.
void explicit_gradient(benchmark::State& bench, const char* law) {
  constexpr int num_steps = 5;
  DifferentiableSolver solver = make_solver(bench.range(0), law);
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("all"), {0.0, 0.0, 0.0}, num_steps);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus", "poisson_ratio"});
  double forward = 0.0, backward = 0.0;
  for (auto _ : bench) {
    simulator.rollout(num_steps, 0, loss);
    simulator.backward();
    forward += simulator.statistics().forward_seconds;
    backward += simulator.statistics().backward_seconds;
  }
  report(bench, solver, substeps * num_steps, {});
  bench.counters["(fwd+bwd)/fwd"] = (forward + backward) / forward;
}

std::vector<std::int64_t> numbers_of(const char* variable, const char* otherwise) {
  const char* const given = std::getenv(variable);
  std::istringstream text(given ? given : otherwise);
  std::vector<std::int64_t> numbers;
  for (std::string word; std::getline(text, word, ',');) numbers.push_back(std::stoll(word));
  return numbers;
}

void options(benchmark::internal::Benchmark* bench) {
  bench->UseRealTime()->Unit(benchmark::kMillisecond);
  for (const std::int64_t count : numbers_of("DIFFSIM_BENCH_ITERATIONS", "")) bench->Iterations(count);
}
void sizes(benchmark::internal::Benchmark* bench) {
  options(bench);
  for (const std::int64_t cells : numbers_of("DIFFSIM_BENCH_CELLS", "200000,2000000")) bench->Arg(cells);
}
BENCHMARK(triad)->Apply(options);
BENCHMARK_CAPTURE(force, neo_hookean, "neo_hookean")->Apply(sizes);
BENCHMARK_CAPTURE(force, neo_hookean_by_ad, "neo_hookean by AD")->Apply(sizes);
BENCHMARK_CAPTURE(force, neo_hookean_quadratic, "neo_hookean_quadratic")->Apply(sizes);
BENCHMARK_CAPTURE(force, stable_neo_hookean, "stable_neo_hookean")->Apply(sizes);
BENCHMARK_CAPTURE(force, stable_neo_hookean_by_ad, "stable_neo_hookean by AD")->Apply(sizes);
BENCHMARK_CAPTURE(hessian_vector_product, neo_hookean, "neo_hookean")->Apply(sizes);
BENCHMARK_CAPTURE(hessian_vector_product, stable_neo_hookean, "stable_neo_hookean")->Apply(sizes);
BENCHMARK_CAPTURE(explicit_step, neo_hookean, "neo_hookean")->Apply(sizes);
BENCHMARK_CAPTURE(explicit_step, stable_neo_hookean, "stable_neo_hookean")->Apply(sizes);
BENCHMARK_CAPTURE(explicit_gradient, neo_hookean, "neo_hookean")->Apply(sizes);
BENCHMARK_CAPTURE(explicit_gradient, stable_neo_hookean, "stable_neo_hookean")->Apply(sizes);

}  // namespace
}  // namespace diffsim
