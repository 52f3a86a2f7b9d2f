// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Kernels of explicit dynamics on a box of Tet4 cells, with the STREAM triad in the same run for comparison. A step of
// S substeps on C cells counts as S·C cells in the rate `tet/s`. Rates are totals of all ranks. `B/tet` is the minimum
// memory traffic per cell, with each vertex read and written once; `flop/tet` is the number of operations per cell
// (counted.hpp).
//
// DIFFSIM_BENCH_CELLS=20000,200000 sets the numbers of cells. DIFFSIM_BENCH_ITERATIONS=20 sets the number of
// iterations; with several ranks this number must be set.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>

// Included before the headers of laws, so that the operations of laws can be counted.
#include "counted.hpp"

#include "diffsim/core/impl/device.hpp"
#include "diffsim/elastic/elastic_term_impl.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "dynamics/time/explicit_model.hpp"
#include "elastic/active_fibre.hpp"
#include "elastic/fixed_corotated.hpp"
#include "elastic/holzapfel_gasser_ogden.hpp"
#include "elastic/linear_elastic.hpp"
#include "elastic/mooney_rivlin.hpp"
#include "elastic/neo_hookean.hpp"
#include "elastic/neo_hookean_quadratic.hpp"
#include "elastic/ogden.hpp"
#include "elastic/st_venant_kirchhoff.hpp"
#include "elastic/stable_neo_hookean.hpp"
#include "explicit_cases.hpp"
#include "triad.hpp"

namespace diffsim {
namespace {

constexpr int substeps = 4;

/// Law with the energy of the law L of the library, but without hand-written derivatives: all derivatives are computed
/// by automatic differentiation (AD).
template <class L>
struct ByAd {
  static constexpr const char* name = L::name;
  static constexpr auto parameters = L::parameters;
  static constexpr int num_moduli = L::num_moduli;
  static constexpr bool needs_positive_jacobian = L::needs_positive_jacobian;
  static constexpr bool has_second_derivatives = false;
  template <class T>
  static DIFFSIM_FUNCTION void moduli(const T (&p)[L::parameters.size()], T (&m)[num_moduli]) {
    L::moduli(p, m);
  }
  template <class T>
  static DIFFSIM_FUNCTION T energy(const Mat3<T>& F, const T (&m)[num_moduli]) {
    return L::energy(F, m);
  }
};

/// Registers the law ByAd<L>, on linear cells, under the name "<name> by AD".
template <class L>
void register_by_ad() {
  ElasticLaw law;
  law.name = std::string(L::name) + " by AD";
  law.parameters = {L::parameters.begin(), L::parameters.end()};
  law.make_term = [](const TetrahedralMesh& mesh, const std::vector<int>& cells) -> std::unique_ptr<ForceTerm> {
    return std::make_unique<ElasticTerm<ByAd<L>, Tet4>>(mesh, cells);
  };
  add_elastic_law(law);
}

/// Memory traffic in bytes, and number of operations, per cell of a kernel.
struct Work {
  double bytes = 0.0, operations = 0.0;
};
constexpr double tets_per_vertex = 5.73;
constexpr double connectivity = 16.0, geometry = 80.0, vector_of_vertex = 24.0 / tets_per_vertex;

/// Name of a law, and the work of the kernels of the law. The work is that of hand-written derivatives, also for laws
/// whose derivatives are computed by AD.
struct BenchedLaw {
  std::string name;
  Work energy, force, tangent;
};
template <class L, bool by_ad = false>
BenchedLaw benched() {
  if constexpr (by_ad) register_by_ad<L>();
  const double cell = connectivity + geometry;
  return {std::string(L::name) + (by_ad ? " by AD" : ""),
          {cell + vector_of_vertex, static_cast<double>(energy_operations<L>())},
          {cell + 3.0 * vector_of_vertex, static_cast<double>(force_operations<L>())},
          {cell + 4.0 * vector_of_vertex, static_cast<double>(tangent_operations<L>())}};
}

/// Returns the value that the benchmarks use for the parameter `name`.
double value_of(const std::string& name) {
  static const std::map<std::string, double> values{{"youngs_modulus", 1e4},
                                                    {"poisson_ratio", 0.4},
                                                    {"shear_modulus", 4e3},
                                                    {"bulk_modulus", 2e4},
                                                    {"c10", 2e3},
                                                    {"c01", 1e3},
                                                    {"mu_1", 4e3},
                                                    {"alpha_1", 2.5},
                                                    {"mu_2", -1e3},
                                                    {"alpha_2", -1.5},
                                                    {"mu_3", 500.0},
                                                    {"alpha_3", 4.0},
                                                    {"k1", 3e3},
                                                    {"k2", 1.5},
                                                    {"kappa", 0.1},
                                                    {"fibre_x", 0.9},
                                                    {"fibre_y", 0.3},
                                                    {"fibre_z", -0.2},
                                                    {"active_tension", 2e3},
                                                    {"activation", 0.4}};
  return values.at(name);
}

/// Returns the mesh of a unit cube of about `cells` cells: n³ bricks of six tetrahedra each.
std::shared_ptr<TetrahedralMesh> make_box(std::int64_t cells) {
  const int n = static_cast<int>(std::lround(std::cbrt(static_cast<double>(cells) / 6.0)));
  return TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 1.0, 1.0}, {n, n, n});
}

/// Returns the mesh `make_box(cells)`. Each mesh is created once, because several benchmarks use the same mesh. The
/// meshes are never destroyed, because no mesh may be destroyed after MPI is finalised.
std::shared_ptr<TetrahedralMesh> kept_box(std::int64_t cells) {
  static auto& boxes = *new std::map<std::int64_t, std::shared_ptr<TetrahedralMesh>>;
  std::shared_ptr<TetrahedralMesh>& box = boxes[cells];
  if (!box) box = make_box(cells);
  return box;
}

DifferentiableScene make_solver(const std::shared_ptr<TetrahedralMesh>& mesh, const std::string& law,
                                bool nodal = false) {
  DifferentiableMaterial material{law, {{"density", 1000.0}}, "all", nodal};
  for (const std::string& name : elastic_law(law).parameter_names()) material.values[name] = value_of(name);
  DifferentiableScene solver(mesh, {material}, {.dt = 2e-4, .substeps = substeps, .damping = 0.999});
  solver.fix("y_min");
  return solver;
}

void report(benchmark::State& bench, const DifferentiableScene& solver, double sweeps, const Work& work) {
  const auto cells = static_cast<double>(solver.mesh()->num_global_cells());
  bench.counters["cells"] = cells;
  bench.counters["tet/s"] = benchmark::Counter(sweeps * cells, benchmark::Counter::kIsIterationInvariantRate);
  bench.counters["B/tet"] = work.bytes;
  bench.counters["flop/tet"] = work.operations;
}

void energy(benchmark::State& bench, const BenchedLaw& law) {
  DifferentiableScene solver = make_solver(kept_box(bench.range(0)), law.name);
  solver.model().prepare();
  const State state = displaced(solver);
  double sum = 0.0;
  for (auto _ : bench) sum += solver.system().terms()[0]->energy({state["positions"], 0, nullptr}, solver.parameters());
  benchmark::DoNotOptimize(sum);
  report(bench, solver, 1.0, law.energy);
}

void force(benchmark::State& bench, const BenchedLaw& law, bool nodal) {
  DifferentiableScene solver = make_solver(kept_box(bench.range(0)), law.name, nodal);
  solver.model().prepare();
  const State state = displaced(solver);
  Field f = state["positions"].like("force");
  for (auto _ : bench) solver.system().terms()[0]->add_force({state["positions"], 0, nullptr}, solver.parameters(), f);
  report(bench, solver, 1.0, nodal ? Work{} : law.force);
}

void hessian_vector_product(benchmark::State& bench, const BenchedLaw& law) {
  DifferentiableScene solver = make_solver(kept_box(bench.range(0)), law.name);
  solver.model().prepare();
  solver.model().begin_adjoint({});
  const State state = displaced(solver);
  const State w = displaced(solver);
  Field f = state["positions"].like("force");
  ParameterSet none;
  for (auto _ : bench)
    solver.system().terms()[0]->add_force_adjoint({state["positions"], 0, nullptr}, w["positions"], {f}, none);
  report(bench, solver, 1.0, law.tangent);
}

void explicit_step(benchmark::State& bench, const BenchedLaw& law) {
  DifferentiableScene solver = make_solver(kept_box(bench.range(0)), law.name);
  solver.model().prepare();
  State state = solver.initial_state();
  for (auto _ : bench) solver.model().step(0, state, nullptr);
  // In addition to the traffic of the force, a step reads and writes velocities and positions, and reads masses.
  report(bench, solver, substeps, {law.force.bytes + (3.0 * 24.0 + 8.0) / tets_per_vertex, law.force.operations});
}

/// Measures the forward and the backward sweep of a rollout in which all states are stored. The gradients are with
/// respect to Young's modulus and Poisson's ratio of every cell.
void explicit_gradient(benchmark::State& bench, const BenchedLaw& law, int num_steps) {
  DifferentiableScene solver = make_solver(kept_box(bench.range(0)), law.name);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus", "poisson_ratio"});
  measure_gradient(bench, solver, simulator, num_steps);
  report(bench, solver, substeps * num_steps, {});
}

void sizes(benchmark::internal::Benchmark* bench) {
  set_options(bench);
  for (const std::int64_t cells : numbers_of("DIFFSIM_BENCH_CELLS", "200000,2000000")) bench->Arg(cells);
}
BENCHMARK(triad)->Apply(set_options);

void add(const char* kernel, const std::string& law, const std::function<void(benchmark::State&)>& run) {
  std::string name = law;
  std::replace(name.begin(), name.end(), ' ', '_');
  sizes(benchmark::RegisterBenchmark((kernel + ("/" + name)).c_str(), run));
}

void add_kernels(const BenchedLaw& law) {
  add("energy", law.name, [law](benchmark::State& bench) { energy(bench, law); });
  add("force", law.name, [law](benchmark::State& bench) { force(bench, law, false); });
  add("hessian_vector_product", law.name, [law](benchmark::State& bench) { hessian_vector_product(bench, law); });
}

void add_steps(const BenchedLaw& law) {
  add("explicit_step", law.name, [law](benchmark::State& bench) { explicit_step(bench, law); });
  // DIFFSIM_BENCH_STEPS=5,10,20 measures gradients of rollouts of 5, 10 and 20 steps.
  for (const std::int64_t steps : numbers_of("DIFFSIM_BENCH_STEPS", "5"))
    add(steps == 5 ? "explicit_gradient" : ("explicit_gradient_of_" + std::to_string(steps) + "_steps").c_str(),
        law.name, [law, steps](benchmark::State& bench) { explicit_gradient(bench, law, static_cast<int>(steps)); });
}

[[maybe_unused]] const bool registered = [] {
  const BenchedLaw neo_hookean = benched<NeoHookean>(), stable = benched<StableNeoHookean>();
  for (const BenchedLaw& law :
       {neo_hookean, benched<NeoHookean, true>(), benched<NeoHookeanQuadratic>(), stable, benched<LinearElastic>(),
        benched<StVenantKirchhoff>(), benched<FixedCorotated>(), benched<MooneyRivlin>(), benched<Ogden<1>>(),
        benched<Ogden<2>>(), benched<Ogden<3>>(), benched<HolzapfelGasserOgden>(), benched<ActiveFibre>()})
    add_kernels(law);
  add("force_nodal_dilatation", neo_hookean.name,
      [neo_hookean](benchmark::State& bench) { force(bench, neo_hookean, true); });
  add_steps(neo_hookean);
  add_steps(stable);
  return true;
}();

}  // namespace
}  // namespace diffsim
