// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Implicit steps of two columns, one on top of the other, with a tenth of their surface in contact. The benchmark
// measures the fraction of a step's time that is spent in contact, and the cost of an adjoint step relative to a
// forward step. The benchmark runs on one rank.

#include <benchmark/benchmark.h>
#include <mpi.h>

#include <Kokkos_Core.hpp>
#include <ctime>
#include <string_view>

#include "contact/contact_term.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "dynamics/time/implicit_model.hpp"

namespace diffsim {
namespace {

/// Returns the processor time of this process, s. If other programs run on the same computer, the processor time of one
/// thread varies less than the wall time.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Measures the time within the profiling regions of the contact force term, and of the assembly of contact's part of
/// the Jacobian.
class ContactTime {
 public:
  ContactTime() {
    seconds_ = 0.0;
    Kokkos::Tools::Experimental::set_push_region_callback([](const char* name) {
      if (depth_ > 0 || is_contact(name)) {
        if (depth_++ == 0) begin_ = processor_seconds();
      }
    });
    Kokkos::Tools::Experimental::set_pop_region_callback([]() {
      if (depth_ > 0 && --depth_ == 0) seconds_ += processor_seconds() - begin_;
    });
  }
  ~ContactTime() {
    Kokkos::Tools::Experimental::set_push_region_callback(nullptr);
    Kokkos::Tools::Experimental::set_pop_region_callback(nullptr);
  }
  static double seconds() { return seconds_; }

 private:
  static bool is_contact(std::string_view name) {
    return name.starts_with("diffsim::contact::") || name == "diffsim::dynamics::make_varying_pattern" ||
           name == "diffsim::dynamics::make_matrix";
  }
  static inline int depth_ = 0;
  static inline double begin_ = 0.0, seconds_ = 0.0;
};

/// Returns the scene of two columns of 1 × 2 × 1 m. Each column has n × 2n × n bricks of six cells. The upper column
/// moves down.
DifferentiableScene make_solver(int n, double friction, bool equally_tight) {
  const double h = 1.0 / n, range = 0.3 * h;
  MeshData all;
  for (int k = 0; k < 2; ++k) {
    const MeshData data = box_mesh({1.0, 2.0, 1.0}, {n, 2 * n, n}, 0, 1);
    for (const std::int64_t v : data.cells) all.cells.push_back(all.num_vertices + v);
    for (std::size_t i = 0; i < data.coordinates.size(); i += 3)
      all.coordinates.insert(all.coordinates.end(),
                             {data.coordinates[i] + 0.3 * h * k, data.coordinates[i + 1] + k * (2.0 + 0.8 * range),
                              data.coordinates[i + 2] + 0.4 * h * k});
    all.num_vertices += data.num_vertices;
    all.num_cells += data.num_cells;
  }
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, all);
  mesh->define_region("foot", BoxShape{{-1.0, -1.0, -1.0}, {9.0, 0.5 * h, 9.0}});
  mesh->define_region("head", BoxShape{{-1.0, 4.0, -1.0}, {9.0, 9.0, 9.0}});
  DifferentiableMaterial material{
      "stable_neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.4}, {"density", 1000.0}}, "all"};
  DifferentiableSolver options{.dt = 0.01, .integrator = Integrator::implicit_euler};
  options.implicit.newton.tolerance = 1e-8;
  if (equally_tight) options.implicit.newton.linear_tolerance = options.implicit.linear.tolerance;
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("foot");
  ContactOptions contact{.barrier_distance = range,
                         .barrier_stiffness = 1e4,
                         .friction = friction,
                         .friction_velocity = 0.01,
                         .self = true};
  solver.add_contact(contact);
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v)
    velocity.insert(
        velocity.end(),
        {0.0, mesh->rest_positions()[3 * static_cast<std::size_t>(v) + 1] > 2.0 ? -20.0 * range : 0.0, 0.0});
  solver.set_initial_velocity(velocity);
  return solver;
}

/// Measures steps and adjoint steps. If `equally_tight`, the linear systems of Newton's method are solved to the same
/// tolerance as the linear systems of the adjoint steps.
void implicit_contact(benchmark::State& bench, double friction, bool equally_tight) {
  constexpr int steps = 4;
  DifferentiableScene solver = make_solver(static_cast<int>(bench.range(0)), friction, equally_tight);
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("head"), {8.0, 0.0, 0.0}, steps);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus", "barrier_stiffness"});
  double forward = 0.0, backward = 0.0, contact_forward = 0.0, contact_backward = 0.0;
  ImplicitStatistics counts;
  ContactState state;
  for (auto _ : bench) {
    const ContactTime time;
    const double begin = processor_seconds();
    simulator.rollout(steps, 0, loss);
    const double turn = processor_seconds(), contact_turn = ContactTime::seconds();
    simulator.backward();
    forward += turn - begin;
    backward += processor_seconds() - turn;
    contact_forward += contact_turn;
    contact_backward += ContactTime::seconds() - contact_turn;
    counts = dynamic_cast<const ImplicitModel&>(solver.model()).statistics();
    state = solver.contact_state(steps, simulator.state());
  }
  const auto newton = static_cast<double>(counts.newton_iterations);
  bench.counters["unknowns"] = 3.0 * static_cast<double>(solver.mesh()->num_global_vertices());
  bench.counters["pairs"] = static_cast<double>(state.active_pairs);
  bench.counters["newton/step"] = newton / steps;
  bench.counters["krylov/newton"] = static_cast<double>(counts.linear_iterations) / newton;
  bench.counters["krylov/adjoint"] = static_cast<double>(counts.derivative_iterations) / steps;
  bench.counters["s/step"] = forward / steps / static_cast<double>(bench.iterations());
  bench.counters["contact's share"] = contact_forward / forward;
  bench.counters["contact's share of adjoint"] = contact_backward / backward;
  bench.counters["adjoint/forward*k"] = backward / forward * newton / steps;
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Arg(8)->Arg(12)->UseRealTime()->Unit(benchmark::kMillisecond)->Iterations(3);
}
BENCHMARK_CAPTURE(implicit_contact, smooth, 0.0, false)->Apply(sizes);
BENCHMARK_CAPTURE(implicit_contact, friction, 0.3, false)->Apply(sizes);
BENCHMARK_CAPTURE(implicit_contact, smooth_equally_tight, 0.0, true)->Apply(sizes);
BENCHMARK_CAPTURE(implicit_contact, friction_equally_tight, 0.3, true)->Apply(sizes);

}  // namespace
}  // namespace diffsim
