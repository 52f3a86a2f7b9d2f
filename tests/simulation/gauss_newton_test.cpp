// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Products with the Gauss–Newton matrix: against the Hessian where the residuals are zero, and against Jᵀ W J from
// derivatives of the final state.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::gauss_newton_test {
namespace {

constexpr int num_steps = 5;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Bar on a plane with friction, and its observations: positions, velocities and a reaction.
class Bar {
 public:
  explicit Bar(const std::string& integrator)
      : mesh(TetrahedralMesh::box(MPI_COMM_WORLD, {0.3, 0.1, 0.1}, {3, 1, 1})),
        scene(mesh,
              {DifferentiableMaterial("neo_hookean",
                                      {{"density", 1000.0}, {"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}})},
              solver(integrator)) {
    scene.fix("x_min");
    scene.add_contact({.barrier_distance = 4e-3,
                       .barrier_stiffness = 1e5,
                       .friction = 0.3,
                       .friction_velocity = 0.05,
                       .with_friction = true,
                       .planes = {{.point = {0.0, -2e-3, 0.0}, .normal = {0.0, 1.0, 0.0}}}});
  }
  static DifferentiableSolver solver(const std::string& integrator) {
    DifferentiableSolver solver{.dt = 2e-3, .substeps = 2, .damping = 1.0, .integrator = integrator_named(integrator)};
    solver.implicit.newton.tolerance = 1e-12;
    return solver;
  }
  /// Unknowns: all moduli together, gravity, and the initial velocities.
  std::vector<Unknown> unknowns() const {
    Unknown stiffness{.parameter = "youngs_modulus"};
    stiffness.group.assign(static_cast<std::size_t>(mesh->num_cells()), 0);
    stiffness.group_names = {""};
    stiffness.logarithmic = true;
    return {stiffness, {.parameter = "gravity"}, {.parameter = "initial_velocities"}};
  }
  /// Sum of squares of residuals, which are zero if `offset` is 0.
  void observe(SumLoss& loss, double offset) {
    std::map<int, std::vector<double>> positions;
    std::map<int, std::vector<double>> forces;
    std::array<double, 3> velocity{};
    const std::shared_ptr<Sensor> reaction =
        scene.sensor({.quantity = SensorQuantity::reaction, .place = {.region = "x_min"}});
    State state = scene.initial_state();
    rollout(scene.model(), state, num_steps, nullptr, [&](int n, const State& at) {
      const std::vector<double> R = reaction->value(n, at);
      forces[n] = {R[0] + 3.0 * offset, n % 2 ? nan : R[1], R[2] - offset};
      if (n != 2 && n != num_steps) return;
      positions[n] = at["positions"].to_host();
      positions[n].resize(3 * static_cast<std::size_t>(mesh->num_owned_vertices()));
      for (double& x : positions[n]) x += 1e-3 * offset;
    });
    const Region& end = mesh->region("x_max");
    const std::vector<double> v = state["velocities"].to_host();
    for (const int vertex : end.vertices)
      for (std::size_t c = 0; vertex < mesh->num_owned_vertices() && c < 3; ++c)
        velocity[c] += v[3 * static_cast<std::size_t>(vertex) + c] / static_cast<double>(end.num_vertices);
    for (double& entry : velocity) entry = sum_over_ranks(entry, MPI_COMM_WORLD) + 0.1 * offset;
    loss.add_likelihood(std::make_unique<TrackLoss>(*mesh, positions, mesh->region("all")), 1e-3);
    loss.add(std::make_unique<TargetVelocityLoss>(*mesh, end, velocity, num_steps), 20.0);
    loss.add(std::make_unique<SensorLoss>(reaction, forces), 0.3);
  }

  std::shared_ptr<TetrahedralMesh> mesh;
  DifferentiableScene scene;
};

/// Direction with the scale of each unknown, the same on any number of ranks.
std::vector<double> direction(const InverseProblem& problem, const TetrahedralMesh& mesh) {
  std::vector<double> v(problem.size());
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < problem.count(k); ++i) v[problem.offset(k) + i] = k == 0 ? 0.4 : 1.0 - 0.5 * i;
  for (std::size_t i = 0; i < problem.count(2); ++i)
    v[problem.offset(2) + i] = 0.05 * std::sin(40.0 * mesh.rest_positions()[i] + static_cast<double>(i % 3));
  return v;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum_over_ranks(sum, MPI_COMM_WORLD);
}

class GaussNewton : public testing::TestWithParam<const char*> {};

TEST_P(GaussNewton, is_the_hessian_where_the_residuals_are_zero) {
  Bar bar(GetParam());
  SumLoss loss;
  bar.observe(loss, 0.0);
  InverseProblem problem(bar.scene.model(), bar.scene.initial_state(), num_steps, loss, bar.unknowns());
  const std::vector<double> u = problem.start(), v = direction(problem, *bar.mesh);
  const std::vector<double> exact = problem.hessian_product(u, v);
  problem.use_gauss_newton(true);
  const std::vector<double> product = problem.hessian_product(u, v);
  const double size = std::sqrt(dot(exact, exact));
  ASSERT_GT(size, 0.0);
  std::vector<double> difference = product;
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= exact[i];
  EXPECT_LT(std::sqrt(dot(difference, difference)), 1e-8 * size);
  EXPECT_GT(dot(product, v), 0.0);
}

TEST_P(GaussNewton, is_positive_and_not_the_hessian_elsewhere) {
  Bar bar(GetParam());
  SumLoss loss;
  bar.observe(loss, 1.0);
  InverseProblem problem(bar.scene.model(), bar.scene.initial_state(), num_steps, loss, bar.unknowns());
  const std::vector<double> u = problem.start(), v = direction(problem, *bar.mesh);
  std::vector<double> by_u;
  problem.gradient(u, by_u);
  const std::vector<double> exact = problem.hessian_product(u, v);
  problem.use_gauss_newton(true);
  std::vector<double> gradient;
  const std::vector<double> product = problem.hessian_product(u, v, &gradient);
  EXPECT_GT(dot(product, v), 0.0);
  EXPECT_GT(std::abs(dot(product, v) - dot(exact, v)), 1e-6 * dot(product, v));
  for (std::size_t i = 0; i < by_u.size(); ++i) EXPECT_NEAR(gradient[i], by_u[i], 1e-9 * std::abs(by_u[i]) + 1e-12);
  // Symmetric: ⟨w, G v⟩ = ⟨v, G w⟩.
  std::vector<double> w = v;
  for (std::size_t i = 0; i < w.size(); ++i) w[i] *= 1.0 + 0.5 * std::cos(3.0 * v[i] + 1.0);
  EXPECT_NEAR(dot(w, product), dot(v, problem.hessian_product(u, w)), 1e-8 * std::abs(dot(w, product)));
}

TEST_P(GaussNewton, is_the_product_of_the_derivatives_of_the_residuals) {
  // Residuals are the final positions of all vertices over the deviation of their errors.
  Bar bar(GetParam());
  constexpr double deviation = 2e-3;
  std::map<int, std::vector<double>> observed;
  observed[num_steps] = bar.mesh->rest_positions();
  observed[num_steps].resize(3 * static_cast<std::size_t>(bar.mesh->num_owned_vertices()));
  SumLoss loss;
  loss.add_likelihood(std::make_unique<TrackLoss>(*bar.mesh, observed, bar.mesh->region("all")), deviation);
  InverseProblem problem(bar.scene.model(), bar.scene.initial_state(), num_steps, loss, bar.unknowns());
  const std::vector<double> u = problem.start(), v = direction(problem, *bar.mesh);
  std::vector<double> w = v;
  for (std::size_t i = 0; i < w.size(); ++i) w[i] *= 1.0 + 0.5 * std::cos(3.0 * v[i] + 1.0);
  State state, dv, dw;
  problem.final_state(u, v, state, dv);
  problem.final_state(u, w, state, dw);
  const double expected =
      sum_over_ranks(local_dot(dv["positions"], dw["positions"]), MPI_COMM_WORLD) / (deviation * deviation);
  problem.use_gauss_newton(true);
  EXPECT_NEAR(dot(w, problem.hessian_product(u, v)), expected, 1e-8 * std::abs(expected));
}

INSTANTIATE_TEST_SUITE_P(integrators, GaussNewton,
                         testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler", "bdf2"),
                         [](const auto& of) { return std::string(of.param); });

TEST(gauss_newton, optimises_a_shape_which_has_no_second_derivatives) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.3, 0.1, 0.1}, {3, 1, 1});
  DifferentiableScene scene(
      mesh,
      {DifferentiableMaterial("neo_hookean", {{"density", 1000.0}, {"youngs_modulus", 5e4}, {"poisson_ratio", 0.3}})},
      {.dt = 2e-3, .substeps = 2});
  scene.fix("x_min");
  SumLoss loss;
  loss.add_likelihood(
      std::make_unique<TargetPositionLoss>(*mesh, mesh->region("x_max"), std::array<double, 3>{0.31, 0.05, 0.05}, 5),
      1e-2);
  Unknown shape{.parameter = "rest_positions", .carries = "positions"};
  InverseProblem problem(scene.model(), scene.initial_state(), 5, loss, {shape});
  EXPECT_THROW(problem.hessian_product(problem.start(), problem.start()), Error);
  const double first = problem.value(problem.start());
  const OptimiserResult found = optimise(
      problem,
      {.method = Optimiser::newton_cg, .max_iterations = 10, .gradient_tolerance = 1e-6, .gauss_newton = true});
  EXPECT_TRUE(found.converged) << found.reason;
  EXPECT_LT(found.loss, 1e-10 * first);
  EXPECT_THROW(problem.hessian_product(problem.start(), problem.start()), Error);  // exact again
}

}  // namespace
}  // namespace diffsim::gauss_newton_test
