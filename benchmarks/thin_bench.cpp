// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Kernels of the force terms of cloth, shells, rods, ropes and springs, with the STREAM triad in the same run for
// comparison. `elem/s` counts triangles and segments. `B/elem` is the minimum memory traffic per element if each vertex
// and each value of an element is read once, and each force is read and written once.
//
// DIFFSIM_BENCH_ELEMENTS=20000,200000 sets the numbers of elements; DIFFSIM_BENCH_ITERATIONS=20 sets the number of
// iterations.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "explicit_cases.hpp"
#include "mesh/cell_model.hpp"
#include "mesh/directors.hpp"
#include "mesh/rectangle.hpp"
#include "mesh/triangle_blocks.hpp"
#include "simulation/parameter_specs.hpp"
#include "triad.hpp"

namespace diffsim {
namespace {

/// Returns a slightly wavy unit square of n² squares of two triangles each, all on the first rank.
MeshData make_sheet(int n) {
  TriangleMesh sheet = rectangle_triangles({1.0, 1.0}, {n, n});
  for (auto& x : sheet.vertices) x[2] = 0.01 * std::sin(9.0 * x[0] + 4.0 * x[1]);
  return triangle_blocks(MPI_COMM_WORLD, sheet);
}

/// Returns curved lines of 200 segments each, about `count` segments in total.
MeshData make_lines(std::int64_t count, bool with_directors) {
  constexpr std::int64_t per_line = 200;
  const std::int64_t lines = std::max<std::int64_t>(1, count / per_line);
  MeshData data;
  data.num_vertices = lines * (per_line + 1);
  MeshData::LowerCells& cells = data.lower(CellKind::segment);
  cells.num = lines * per_line;
  if (!is_first_rank(MPI_COMM_WORLD)) {
    data.first_vertex = data.num_vertices;
    cells.first = cells.num;
  } else {
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t i = 0; i <= per_line; ++i) {
        const double s = static_cast<double>(i) / per_line;
        data.coordinates.insert(data.coordinates.end(),
                                {s, 0.1 * std::sin(6.0 * s) + 0.01 * static_cast<double>(line), 0.2 * s * s});
        const std::int64_t v = line * (per_line + 1) + i;
        if (i > 0) cells.nodes.insert(cells.nodes.end(), {v - 1, v});
      }
  }
  if (with_directors) add_directors(MPI_COMM_WORLD, data);
  return data;
}

struct Kind {
  std::string name;
  bool of_triangles;
  std::string law = {};  ///< law of the kind; an empty name selects the first law
};

/// Returns the mesh of about `count` elements for a kind. Each mesh is created once. The meshes are never destroyed,
/// because no mesh may be destroyed after MPI is finalised.
std::shared_ptr<TetrahedralMesh> kept_mesh(const Kind& kind, std::int64_t count) {
  static auto& meshes = *new std::map<std::pair<std::string, std::int64_t>, std::shared_ptr<TetrahedralMesh>>;
  std::shared_ptr<TetrahedralMesh>& mesh = meshes[{kind.name, count}];
  if (!mesh)
    mesh = std::make_shared<TetrahedralMesh>(
        MPI_COMM_WORLD, kind.of_triangles
                            ? make_sheet(static_cast<int>(std::lround(std::sqrt(static_cast<double>(count) / 2.0))))
                            : make_lines(count, kind.name == "rod"));
  return mesh;
}

DifferentiableScene make_solver(const Kind& kind, std::int64_t count) {
  DifferentiableMaterial material(kind.name, {}, "all", false, kind.law);
  for (const ParameterSpec& spec : find_cell_model(kind.name)->parameters)
    material.values[std::string(spec.name)] = find_parameter_spec(std::string(spec.name))->sample;
  return DifferentiableScene(kept_mesh(kind, count), {material}, {.dt = 1e-9, .substeps = 1, .damping = 0.999});
}

std::int64_t elements_of(const DifferentiableScene& solver, const Kind& kind) {
  const TetrahedralMesh& mesh = *solver.mesh();
  const CellKind cells = kind.of_triangles ? CellKind::triangle : CellKind::segment;
  return sum_over_ranks(static_cast<std::int64_t>(mesh.lower_cells(cells).num()), MPI_COMM_WORLD);
}

void report(benchmark::State& bench, const DifferentiableScene& solver, const Kind& kind, double sweeps, double bytes) {
  const auto elements = static_cast<double>(elements_of(solver, kind));
  bench.counters["elements"] = elements;
  bench.counters["elem/s"] = benchmark::Counter(sweeps * elements, benchmark::Counter::kIsIterationInvariantRate);
  bench.counters["B/elem"] = bytes;
}

/// Force term of a kind of cells, and the minimum memory traffic of the kernel of its force, in bytes per element.
struct Term {
  Kind kind;
  std::string name;
  double bytes;
  double vectors;  ///< additional bytes per element for one more vector per vertex
};

ForceTerm& term_of(DifferentiableScene& solver, const std::string& name) {
  for (const auto& term : solver.system().terms())
    if (term->name() == name) return *term;
  throw Error("no term '" + name + "'");
}

void force(benchmark::State& bench, const Term& of) {
  DifferentiableScene solver = make_solver(of.kind, bench.range(0));
  solver.model().prepare();
  const State state = displaced(solver);
  Field f = state["positions"].like("force");
  ForceTerm& term = term_of(solver, of.name);
  for (auto _ : bench) term.add_force({state["positions"], 0, nullptr}, solver.parameters(), f);
  report(bench, solver, of.kind, 1.0, of.bytes);
}

void hessian_vector_product(benchmark::State& bench, const Term& of) {
  DifferentiableScene solver = make_solver(of.kind, bench.range(0));
  solver.model().prepare();
  solver.model().begin_adjoint({});
  const State state = displaced(solver), w = displaced(solver);
  Field f = state["positions"].like("force");
  ForceTerm& term = term_of(solver, of.name);
  ParameterSet none;
  for (auto _ : bench) term.add_force_adjoint({state["positions"], 0, nullptr}, w["positions"], {f}, none);
  report(bench, solver, of.kind, 1.0, of.bytes + of.vectors);
}

/// Measures the computation of the blocks ∂f/∂x of all elements and their addition to the matrix.
void jacobian(benchmark::State& bench, const Term& of) {
  DifferentiableScene solver = make_solver(of.kind, bench.range(0));
  solver.model().prepare();
  const State state = displaced(solver);
  ForceTerm& term = term_of(solver, of.name);
  Couplings couplings;
  term.add_couplings({state["positions"], 0, nullptr}, couplings);
  BlockMatrix matrix(solver.mesh()->num_vertices(), couplings);
  for (auto _ : bench) term.add_jacobian({state["positions"], 0, nullptr}, solver.parameters(), {}, matrix);
  report(bench, solver, of.kind, 1.0, 0.0);
}

void explicit_step(benchmark::State& bench, const Kind& kind) {
  DifferentiableScene solver = make_solver(kind, bench.range(0));
  solver.model().prepare();
  State state = solver.initial_state();
  for (auto _ : bench) solver.model().step(0, state, nullptr);
  report(bench, solver, kind, 1.0, 0.0);
}

/// Measures the forward and the backward sweep of a rollout in which all states are stored. The gradients are with
/// respect to all material parameters of every element.
void explicit_gradient(benchmark::State& bench, const Kind& kind) {
  constexpr int num_steps = 10;
  DifferentiableScene solver = make_solver(kind, bench.range(0));
  DifferentiableSimulator simulator(solver);
  std::vector<std::string> names;
  for (const ParameterSpec& spec : find_cell_model(kind.name)->parameters) names.emplace_back(spec.name);
  simulator.require_gradient(names);
  measure_gradient(bench, solver, simulator, num_steps);
  report(bench, solver, kind, num_steps, 0.0);
}

BENCHMARK(triad)->Apply(set_options);

void add(const std::string& name, const std::function<void(benchmark::State&)>& run) {
  benchmark::internal::Benchmark* const bench = benchmark::RegisterBenchmark(name.c_str(), run);
  set_options(bench);
  for (const std::int64_t count : numbers_of("DIFFSIM_BENCH_ELEMENTS", "200000")) bench->Arg(count);
}

[[maybe_unused]] const bool registered = [] {
  const Kind cloth{"cloth", true}, fabric{"fabric", true}, shell{"shell", true}, rod{"rod", false}, rope{"rope", false},
      neo_hookean{"shell", true, "neo_hookean"};
  // Sheets have two triangles per vertex. Lines have one vertex per segment; rods also have one director per segment.
  // Per vertex and per director, a kernel reads the position and the rest position, and reads and writes the force. Per
  // element, a kernel reads the indices of the vertices and of the element.
  constexpr double vertex = 4.0 * 24.0, number = 4.0;
  const std::vector<Term> terms{{cloth, "membranes", vertex / 2.0 + 4.0 * number, 12.0},
                                {cloth, "hinges", vertex / 2.0 + 1.5 * 4.0 * number + number, 12.0},
                                {fabric, "membranes of fabrics", vertex / 2.0 + 4.0 * number, 12.0},
                                {shell, "membranes of shells", vertex / 2.0 + 4.0 * number, 12.0},
                                {neo_hookean, "Neo-Hookean membranes of shells", vertex / 2.0 + 4.0 * number, 12.0},
                                {shell, "bending of shells", vertex / 2.0 + 7.0 * number, 12.0},
                                {rod, "stretching of rods", vertex + 3.0 * number, 24.0},
                                {rod, "sections of rods", 2.0 * vertex + 4.0 * number, 48.0},
                                {rod, "joints of rods", 2.0 * vertex + 6.0 * number, 48.0},
                                {rope, "bending of ropes", vertex + 4.0 * number, 24.0}};
  for (const Term& term : terms) {
    std::string name = term.name;
    std::replace(name.begin(), name.end(), ' ', '_');
    add("force/" + name, [term](benchmark::State& bench) { force(bench, term); });
    add("hessian_vector_product/" + name, [term](benchmark::State& bench) { hessian_vector_product(bench, term); });
    add("jacobian/" + name, [term](benchmark::State& bench) { jacobian(bench, term); });
  }
  for (const Kind& kind : {cloth, shell, rod, rope}) {
    add("explicit_step/" + kind.name, [kind](benchmark::State& bench) { explicit_step(bench, kind); });
    add("explicit_gradient/" + kind.name, [kind](benchmark::State& bench) { explicit_gradient(bench, kind); });
  }
  return true;
}();

}  // namespace
}  // namespace diffsim
