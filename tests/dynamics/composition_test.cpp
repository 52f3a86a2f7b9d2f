// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A program adds its own inertias and prescribed motions to a System. Every integrator steps, differentiates and
// reverses the added inertias and motions without changes to the integrator.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "checkpoint/schedule.hpp"
#include "checkpoint/store.hpp"
#include "core/add_to_entries.hpp"
#include "core/inertia.hpp"
#include "core/kinematics.hpp"
#include "inverse/hessian_check.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::composition_test {
namespace {

using namespace testing_simulation;

constexpr int num_steps = 3;
constexpr double dt = 0.004;

constexpr ParameterSpec point_mass{
    .name = "point_mass", .unit = "kg", .meaning = "mass of a vertex", .home = ParameterHome::vertices};
constexpr ParameterSpec amplitude{.name = "amplitude", .unit = "m", .meaning = "of a shaken region", .components = 3};

/// Replaces each value of `field` by f(index, value), on the host.
void change(Field& field, const std::function<double(std::size_t, double)>& f) {
  std::vector<double> values = field.to_host();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = f(i, values[i]);
  field.from_host(values);
}

/// Masses of vertices, from the parameter `point_mass` [owned vertices].
class PointMasses : public Inertia {
 public:
  std::string name() const override { return "point masses"; }
  bool depends_on(const ParameterSet& set) const override { return set.find("point_mass") != nullptr; }
  void add_mass(const ParameterSet& parameters, Field& mass) const override { add(parameters, mass); }
  void add_mass_tangent(const ParameterSet&, const ParameterSet& direction, Field& mass_tangent) const override {
    add(direction, mass_tangent);
  }
  void add_mass_adjoint(const ParameterSet&, const Field& mass_adjoint, ParameterSet& gradient) const override {
    Parameter* const parameter = gradient.find("point_mass");
    if (!parameter) return;
    const std::vector<double> bar = mass_adjoint.to_host();
    change(parameter->field, [&](std::size_t i, double g) { return g + bar[3 * i] + bar[3 * i + 1] + bar[3 * i + 2]; });
  }
  void add_mass_adjoint_tangent(const ParameterSet& parameters, const ParameterSet&, const Field&,
                                const Field& mass_adjoint_tangent, ParameterSet& gradient_tangent) const override {
    add_mass_adjoint(parameters, mass_adjoint_tangent, gradient_tangent);
  }

 private:
  static void add(const ParameterSet& set, Field& mass) {
    const Parameter* const parameter = set.find("point_mass");
    if (!parameter) return;
    const std::vector<double> values = parameter->field.to_host();
    change(mass, [&](std::size_t i, double m) { return i / 3 < values.size() ? m + values[i / 3] : m; });
  }
};

/// Shaken vertices: x changes by A (sin φ' - sin φ) during a span in which the phase changes from φ to φ'. The state
/// contains the phase at the start of each step.
class Shaken : public Kinematics {
 public:
  Shaken(MPI_Comm comm, std::vector<int> vertices) : comm_(comm), vertices_(std::move(vertices)) {}
  std::string name() const override { return "shaken"; }
  void add_state(State& state) const override { state.add(Field("phase", Entities::one_for_all(comm_), 1)); }
  void advance(const ParameterSet&, int, double h, State& state) const override {
    change(state["phase"], [&](std::size_t, double phase) { return phase + rate * h; });
  }
  void apply(const ParameterSet& parameters, const MotionSpan& span, const State& start, const Field& x, Field& y,
             Field& v) const override {
    move(parameters.at("amplitude").field.to_host(), span, start, x, y, v);
  }
  void apply_tangent(const ParameterSet& parameters, const ParameterSet& direction, const MotionSpan& span,
                     const State& start, const State& start_tangent, const Field&, const Field& dx, Field& dy,
                     Field& dv) const override {
    const Parameter* const along = direction.find("amplitude");
    move(along ? along->field.to_host() : std::vector<double>(3, 0.0), span, start, dx, dy, dv);
    const Way way = way_of(span, start);
    const double d_phase = start_tangent["phase"].to_host()[0];
    const std::vector<double> a = parameters.at("amplitude").field.to_host();
    add(dy, [&](std::size_t c) { return a[c] * way.slope * d_phase; });
    add(dv, [&](std::size_t c) { return a[c] * way.rate_slope * d_phase; });
  }
  void apply_adjoint(const ParameterSet& parameters, const MotionSpan& span, const State& start, const Field&,
                     Field& y_bar, Field& v_bar, State& start_adjoint, ParameterSet& gradient) const override {
    const Way way = way_of(span, start);
    const std::vector<double> ys = y_bar.to_host(), vs = v_bar.to_host();
    const std::vector<double> a = parameters.at("amplitude").field.to_host();
    std::vector<double> by_amplitude(3, 0.0);
    double by_phase = 0.0;
    for (const int vertex : vertices_)
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t i = 3 * static_cast<std::size_t>(vertex) + c;
        by_amplitude[c] += way.length * ys[i] + way.rate * vs[i];
        by_phase += a[c] * (way.slope * ys[i] + way.rate_slope * vs[i]);
      }
    if (Parameter* const asked = gradient.find("amplitude")) add_to_entries(asked->field, 0, by_amplitude);
    change(start_adjoint["phase"], [&](std::size_t, double bar) { return bar + by_phase; });
    std::vector<double> none = vs;
    for (const int vertex : vertices_)
      for (std::size_t c = 0; c < 3; ++c) none[3 * static_cast<std::size_t>(vertex) + c] = 0.0;
    v_bar.from_host(none);
  }

 private:
  static constexpr double rate = 40.0;  // rad/s

  /// The displacement factor sin φ' - sin φ and its rate at the end of the span, and the derivatives of both with
  /// respect to the phase at the start of the step.
  struct Way {
    double length, rate, slope, rate_slope;
  };
  static Way way_of(const MotionSpan& span, const State& start) {
    const double from = start["phase"].to_host()[0] + rate * span.begin, to = from + rate * span.duration;
    return {std::sin(to) - std::sin(from), rate * std::cos(to), std::cos(to) - std::cos(from), -rate * std::sin(to)};
  }
  void add(Field& field, const std::function<double(std::size_t)>& f) const {
    std::vector<double> values = field.to_host();
    for (const int vertex : vertices_)
      for (std::size_t c = 0; c < 3; ++c) values[3 * static_cast<std::size_t>(vertex) + c] += f(c);
    field.from_host(values);
  }
  void move(const std::vector<double>& a, const MotionSpan& span, const State& start, const Field& x, Field& y,
            Field& v) const {
    const Way way = way_of(span, start);
    const std::vector<double> from = x.to_host();
    std::vector<double> ys = y.to_host(), vs = v.to_host();
    for (const int vertex : vertices_)
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t i = 3 * static_cast<std::size_t>(vertex) + c;
        ys[i] = from[i] + a[c] * way.length;
        vs[i] = a[c] * way.rate;
      }
    y.from_host(ys);
    v.from_host(vs);
  }

  MPI_Comm comm_;
  std::vector<int> vertices_;  // owned vertices
};

DifferentiableScene make_solver(const std::string& integrator) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.3, 0.2}, {4, 1, 1});
  DifferentiableMaterial material{"neo_hookean",
                                  {{"youngs_modulus", 2e4},
                                   {"poisson_ratio", 0.35},
                                   {"density", 900.0},
                                   {"viscosity", 20.0},
                                   {"bulk_viscosity", 10.0}},
                                  "all"};
  DifferentiableSolver options{.dt = dt,
                               .substeps = 2,
                               .damping = 0.995,
                               .gravity = {1.0, -9.8, 2.0},
                               .integrator = integrator_named(integrator)};
  options.implicit.newton.tolerance = 1e-13;
  DifferentiableScene solver(mesh, {material}, options);
  System& system = solver.system();
  system.add_inertia(std::make_unique<PointMasses>());
  Field& masses = system.parameters().add(point_mass, mesh->owned_vertex_entities()).field;
  change(masses, [&](std::size_t i, double) { return 0.3 + 0.5 * mesh->rest_positions()[3 * i]; });
  std::vector<int> owned;
  for (const int vertex : mesh->region("x_min").vertices)
    if (vertex < mesh->num_owned_vertices()) owned.push_back(vertex);
  system.add_kinematics(std::make_unique<Shaken>(mesh->comm(), owned), mesh->region("x_min").vertices);
  system.parameters().add(amplitude, Entities::one_for_all(mesh->comm())).field.from_host({0.01, 0.03, -0.02});
  return solver;
}

const std::vector<std::string> names{"point_mass",     "amplitude", "density",
                                     "youngs_modulus", "gravity",   "initial_positions"};
const std::vector<Target> targets{{"x_max", {0.9, 0.2, 0.1}, num_steps}, {"z_max", {0.4, 0.1, 0.3}, 2, 0.5}};

class EveryIntegrator : public testing::TestWithParam<const char*> {};

TEST_P(EveryIntegrator, steps_and_differentiates_parts_of_a_programs_own) {
  DifferentiableScene solver = make_solver(GetParam());
  GradientCheckOptions options;
  options.dot_product_tolerance = std::max(options.dot_product_tolerance, 10.0 * solver.model().solver_tolerance());
  expect_derivatives(solver, num_steps, targets, unknowns_of(names, {"density", "youngs_modulus"}), options);
}

TEST_P(EveryIntegrator, has_second_derivatives_by_parts_of_a_programs_own) {
  DifferentiableScene solver = make_solver(GetParam());
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region("x_max"), {0.9, 0.2, 0.15}, num_steps);
  MemoryStore store;
  InverseProblem problem(
      solver.model(), solver.initial_state(), num_steps, loss, unknowns_of(names, {"density"}),
      [](int n) { return std::make_unique<UniformSchedule>(n, 2); }, store);
  HessianCheckOptions options;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1) options.differences = false;
  const HessianCheck result = check_hessian(problem, problem.start(), options);
  EXPECT_LE(result.symmetry, 1e-10);
  EXPECT_TRUE(ranks > 1 || result.passed) << testing::PrintToString(result.taylor_orders);
}

TEST_P(EveryIntegrator, moves_vertices_as_the_motion_says) {
  DifferentiableScene solver = make_solver(GetParam());
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < num_steps; ++n) solver.step(n, state);
  const TetrahedralMesh& mesh = *solver.mesh();
  const std::vector<double> x = state["positions"].to_host();
  const double shake = std::sin(40.0 * num_steps * dt), a[3] = {0.01, 0.03, -0.02};
  for (const int vertex : mesh.region("x_min").vertices)
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t i = 3 * static_cast<std::size_t>(vertex) + c;
      EXPECT_NEAR(x[i], mesh.rest_positions()[i] + a[c] * shake, 1e-14);
    }
  EXPECT_NEAR(state["phase"].to_host()[0], 40.0 * num_steps * dt, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(dynamics, EveryIntegrator,
                         testing::Values("symplectic_euler", "velocity_verlet", "runge_kutta_4", "bdf2", "newmark"));

TEST(system, adds_masses_of_all_inertias) {
  DifferentiableScene solver = make_solver("symplectic_euler");
  solver.model().prepare();
  const std::vector<double> all = solver.system().mass().to_host(),
                            points = solver.parameters().at("point_mass").field.to_host();
  double sums[2] = {std::accumulate(all.begin(), all.end(), 0.0), std::accumulate(points.begin(), points.end(), 0.0)};
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_NEAR(sums[0] - sums[1], 900.0 * 1.0 * 0.3 * 0.2, 1e-11 * sums[0]);
}

}  // namespace
}  // namespace diffsim::composition_test
