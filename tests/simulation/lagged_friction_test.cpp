// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Friction with the normal forces and positions at the start of a step: potential, derivatives, accuracy.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/exchange.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "max_or_nan.hpp"
#include "simulation/contact_second_order.hpp"
#include "simulation/contact_skins.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::lagged_friction_test {
namespace {

using namespace testing_contact;

/// Scene of three bodies, a plane with a thickness and a sheet. If `own_surfaces` is true, two of the bodies have
/// contact surfaces of their own.
Scene lagged_tower(const std::string& integrator, bool own_surfaces = false) {
  const Law law{0.014, 3e3, 0.3, 0.9};
  Scene scene = own_surfaces ? tower_with_skins(integrator, true) : tower(law, integrator);
  scene.contact.lagged_friction = true;
  scene.contact.planes[0].thickness = 1e-3;
  return scene;
}

const std::vector<std::string> all_names{
    "friction",           "friction_velocity", "barrier_distance",       "barrier_stiffness",
    "thickness:floor",    "youngs_modulus",    "obstacle_position:roof", "obstacle_velocity:floor",
    "initial_velocities", "rest_positions",    "initial_positions"};

class FrictionByIntegrator : public testing::TestWithParam<const char*> {};

/// Implicit Euler is tested with all parameters and with own contact surfaces, the other integrators with three
/// parameters.
TEST_P(FrictionByIntegrator, gradients_have_the_slopes_that_differences_have) {
  const std::string integrator = GetParam();
  const bool all = integrator == "implicit_euler";
  const Scene scene = lagged_tower(integrator, all);
  testing_gradient::expect_slopes(
      [&](MPI_Comm comm) { return make_solver(scene, comm); }, 2,
      all ? all_names : std::vector<std::string>{"friction", "thickness:floor", "initial_positions"});
}

INSTANTIATE_TEST_SUITE_P(lagged_friction, FrictionByIntegrator,
                         testing::Values("implicit_euler", "bdf2", "newmark", "generalised_alpha"));

/// Compares tangents and adjoints of steps by dot products.
TEST(lagged_friction, tangents_and_adjoints_agree) {
  for (const char* integrator : {"implicit_euler", "bdf2"}) {
    SCOPED_TRACE(integrator);
    expect_derivatives_of_place(
        [&] {
          Scene scene = lone_block(integrator, 0.01, 0.4);
          scene.contact.lagged_friction = true;
          scene.gravity = {1.0, -9.8, 0.5};
          scene.contact.planes.push_back({.point = {0.0, -0.012, 0.0}, .normal = {0.1, 1.0, 0.0}});
          return scene;
        }(),
        4, {"friction", "friction_velocity", "initial_positions", "initial_velocities", "barrier_stiffness"});
  }
}

TEST(lagged_friction, hessian_is_symmetric_and_expands_to_third_order) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler", "newmark"}) {
    SCOPED_TRACE(integrator);
    expect_second_order(lagged_tower(integrator), {"friction", "friction_velocity", "barrier_stiffness",
                                                   "thickness:floor", "initial_velocities", "initial_positions"});
  }
}

/// Friction forces are -∂D/∂v: between surfaces, with planes, with planes with a thickness, and with own contact
/// surfaces.
TEST(lagged_friction, has_a_dissipation_potential) {
  for (const bool own_surfaces : {false, true})
    for (const bool thick : {false, true}) {
      Scene scene = lagged_tower("implicit_euler", own_surfaces);
      if (!thick) scene.contact.planes[0].thickness = {};
      DifferentiableScene solver = make_solver(scene);
      solver.model().prepare();
      State state = solver.initial_state();
      solver.step(0, state);
      const TetrahedralMesh& mesh = *solver.mesh();
      Field v("v", mesh.vertex_entities(), 3), dv = v.like("dv"), force = v.like("force");
      const double* const x = state["positions"].data();
      for (std::size_t i = 0; i < v.size(); ++i) {
        const std::size_t first = i - i % 3;
        v.data()[i] = 0.3 * std::sin(40.0 * x[first] + 50.0 * x[first + 1] + 2.0 * static_cast<double>(i % 3));
        dv.data()[i] = std::cos(70.0 * x[first + 1] - 30.0 * x[first + 2] + static_cast<double>(i % 3));
      }
      int touching = 0;
      for (const auto& term : solver.system().terms()) {
        EXPECT_EQ(term->lags(), term->has_dissipation());
        if (!term->lags()) continue;
        const auto dissipation = [&](double h) {
          Field moved = v.clone();
          axpy(h, dv, moved);
          return term->dissipation({state["positions"], 1, nullptr, &moved, 0.004}, solver.parameters());
        };
        force.fill(0.0);
        term->add_force({state["positions"], 1, nullptr, &v, 0.004}, solver.parameters(), force);
        mesh.vertex_exchange().add_to_owners(force);
        const double h = 1e-4;
        double sums[2] = {
            (8.0 * (dissipation(h) - dissipation(-h)) - (dissipation(2.0 * h) - dissipation(-2.0 * h))) / (12.0 * h),
            0.0};
        for (std::size_t i = 0; i < force.owned_size(); ++i) sums[1] -= force.data()[i] * dv.data()[i];
        MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        touching += std::abs(sums[0]) > 1e-4;
        EXPECT_NEAR(sums[1], sums[0], 1e-9 * std::abs(sums[0]));
      }
      EXPECT_EQ(touching, 2);  // the plane's term and the surfaces' term
    }
}

std::vector<double> positions_at(const Scene& scene, double end) {
  DifferentiableScene solver = make_solver(scene);
  solver.model().prepare();
  State state = solver.initial_state();
  const int steps = static_cast<int>(std::lround(end / scene.dt));
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  return state["positions"].to_host();
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) most = max_or_nan(most, std::abs(a[i] - b[i]));
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return most;
}

/// Explicit steps evaluate all forces at their start, so lagged friction equals friction.
TEST(lagged_friction, is_friction_in_explicit_steps) {
  Scene scene = tower({0.014, 3e3, 0.3, 0.9}, "symplectic_euler");
  const std::vector<double> expected = positions_at(scene, 0.02);
  scene.contact.friction = 0.0;
  EXPECT_GT(largest_difference(positions_at(scene, 0.02), expected), 1e-6);
  scene.contact.friction = 0.3;
  scene.contact.lagged_friction = true;
  EXPECT_LT(largest_difference(positions_at(scene, 0.02), expected), 1e-14);
}

/// The difference from friction without lag is of first order in dt.
TEST(lagged_friction, converges_to_friction_with_the_time_step) {
  std::vector<double> differences;
  for (const double dt : {2e-3, 1e-3, 5e-4}) {
    Scene scene = tower({0.014, 3e3, 0.3, 0.9}, "bdf2");
    scene.dt = dt;
    const std::vector<double> expected = positions_at(scene, 0.016);
    scene.contact.lagged_friction = true;
    differences.push_back(largest_difference(positions_at(scene, 0.016), expected));
  }
  for (std::size_t k = 1; k < differences.size(); ++k)
    EXPECT_NEAR(std::log2(differences[k - 1] / differences[k]), 1.0, 0.15) << differences[k];
}

/// Jacobian b ∂f/∂v of a term at `x` and `v`, times `d`, computed with the term's matrix. For meshes on one rank.
std::vector<double> damping_product(DifferentiableScene& solver, ForceTerm& term, const Field& x, const Field& v,
                                    bool project, const Field& d) {
  Configuration at{x, 1, nullptr, &v, 0.004};
  at.start_positions = &x;
  at.start_time = 0.004;
  Couplings couplings;
  term.add_couplings(at, couplings);
  BlockMatrix matrix(solver.mesh()->num_vertices(), couplings);
  matrix.zero();
  term.add_jacobian(at, solver.parameters(), {-1.0, -1.0, project}, matrix);
  Field y = d.like("product");
  matrix.multiply(d, y);
  return y.to_host();
}

/// The dissipation potential is convex in the velocities, so the projection to semidefinite matrices changes only the
/// matrices of those pairs of surfaces in which a feature has a negative weight. These matrices become larger. Without
/// friction, the Jacobian is zero.
TEST(lagged_friction, projection_changes_the_jacobian_little) {
  if (ranks() > 1) GTEST_SKIP() << "the matrix of one rank; implicit steps test the matrices of several ranks";
  for (const double mu : {0.3, 0.0}) {
    DifferentiableScene solver = make_solver(lagged_tower("implicit_euler"));
    solver.parameters().at("friction").field.fill(mu);
    solver.model().prepare();
    State state = solver.initial_state();
    Field v("v", solver.mesh()->vertex_entities(), 3), d = v.like("d");
    for (std::size_t i = 0; i < v.size(); ++i) {
      v.data()[i] = 0.3 * std::sin(7.0 * static_cast<double>(i));
      d.data()[i] = std::cos(5.0 * static_cast<double>(i));
    }
    int touching = 0;
    for (const auto& term : solver.system().terms()) {
      if (!term->lags()) continue;
      const std::vector<double> exact = damping_product(solver, *term, state["positions"], v, false, d),
                                projected = damping_product(solver, *term, state["positions"], v, true, d);
      double sums[2] = {0.0, 0.0};
      for (std::size_t i = 0; i < exact.size(); ++i) {
        sums[0] += exact[i] * d.data()[i];
        sums[1] += projected[i] * d.data()[i];
      }
      EXPECT_GE(sums[1], sums[0] * (1.0 - 1e-12)) << term->name();
      EXPECT_LE(sums[1], sums[0] * 1.1) << term->name();
      touching += sums[0] > 0.0;
    }
    EXPECT_EQ(touching, mu > 0.0 ? 2 : 0);  // the plane's term and the surfaces' term
  }
}

/// Matrix-free products with force tangents, and differentiated Newton iterations, require symmetric Jacobians.
TEST(lagged_friction, has_symmetric_jacobians) {
  const Scene scene = lagged_tower("implicit_euler");
  for (const bool matrix_free : {false, true}) {
    auto mesh = make_mesh(scene.blocks, MPI_COMM_WORLD);
    DifferentiableSolver options{
        .dt = scene.dt, .substeps = 1, .damping = 1.0, .gravity = 0.0, .integrator = Integrator::implicit_euler};
    options.implicit.linear.matrix_free = matrix_free;
    options.implicit.implicit_differentiation = matrix_free;
    DifferentiableScene solver = testing_simulation::make_soft_solver(mesh, 5e4, options);
    solver.add_contact(scene.contact);
    solver.set_initial_velocity(make_solver(scene).initial_state()["velocities"].to_host());
    TargetPositionLoss loss(*mesh, mesh->region("all"), {0.1, 0.3, -0.1}, 3);
    DifferentiableSimulator simulator(solver);
    simulator.require_gradient({"friction", "barrier_stiffness"});
    simulator.rollout(3, 2, loss);
    simulator.backward();
    DifferentiableScene plain = make_solver(scene);
    TargetPositionLoss same(*plain.mesh(), plain.mesh()->region("all"), {0.1, 0.3, -0.1}, 3);
    DifferentiableSimulator other(plain);
    other.require_gradient({"friction", "barrier_stiffness"});
    other.rollout(3, 2, same);
    other.backward();
    for (const char* name : {"friction", "barrier_stiffness"}) {
      const double value = other.gradient(name).to_host().at(0);
      EXPECT_NE(value, 0.0);
      EXPECT_NEAR(simulator.gradient(name).to_host().at(0), value, 1e-7 * std::abs(value)) << name << matrix_free;
    }
  }
}

TEST(lagged_friction, does_not_depend_on_ranks) {
  if (ranks() == 1) GTEST_SKIP() << "one rank is what others are compared with";
  const Scene scene = lagged_tower("bdf2");
  const std::vector<double> here = digest(scene, 6, MPI_COMM_WORLD), alone = digest(scene, 6, MPI_COMM_SELF);
  EXPECT_GT(std::abs(alone[0]), 0.01);
  for (std::size_t k = 0; k < alone.size(); ++k) EXPECT_NEAR(here[k], alone[k], 1e-10 * std::abs(alone[0]));
}

}  // namespace
}  // namespace diffsim::lagged_friction_test
