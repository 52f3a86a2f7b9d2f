// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Bodies that bounce off, rest on and slide over a plane.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "contact/contact_term.hpp"
#include "diffsim/core/error.hpp"
#include "dynamics/system_model.hpp"
#include "max_or_nan.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::plane_contact_test {
namespace {

using namespace testing_simulation;

struct Scene {
  double height = 0.004;
  std::array<double, 3> velocity{0.0, 0.0, 0.0};
  double friction = 0.0;
  double damping = 1.0;
  double youngs_modulus = 5e4;
  std::string integrator = "symplectic_euler";
  double dt = 2e-4;
  std::array<double, 3> gravity{0.0, -9.8, 0.0};
  ContactOptions contact{.barrier_distance = 0.01, .barrier_stiffness = 4e4, .friction_velocity = 0.05};
};

DifferentiableScene make_solver(const Scene& scene) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.2, 0.1, 0.1}, {4, 2, 2});
  DifferentiableScene solver = make_soft_solver(mesh, scene.youngs_modulus,
                                                {.dt = scene.dt,
                                                 .substeps = 2,
                                                 .damping = scene.damping,
                                                 .gravity = scene.gravity,
                                                 .integrator = integrator_named(scene.integrator)});
  ContactOptions contact = scene.contact;
  contact.friction = scene.friction;
  contact.planes.push_back({.point = {0.0, -scene.height, 0.0}, .normal = {0.0, 2.0, 0.0}});
  solver.add_contact(contact);
  std::vector<double> velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v)
    velocity.insert(velocity.end(), scene.velocity.begin(), scene.velocity.end());
  solver.set_initial_velocity(velocity);
  return solver;
}

void expect_derivatives(const Scene& scene, int steps, const std::vector<std::string>& names, double tolerance = 1e-11,
                        const std::vector<std::string>& independent = {}) {
  DifferentiableScene solver = make_solver(scene);
  GradientCheckOptions options;
  options.dot_product_tolerance = tolerance;
  testing_simulation::expect_derivatives(solver, steps, {{"x_max", {0.5, 0.3, 0.1}, steps}},
                                         unknowns_of(names, {"barrier_distance", "barrier_stiffness"}), options,
                                         independent);
}

const std::vector<std::string> parameters = {"barrier_stiffness",   "barrier_distance",  "obstacle_position:0",
                                             "obstacle_velocity:0", "initial_positions", "initial_velocities"};

TEST(plane_contact, derivatives_through_a_bounce) {
  expect_derivatives({.height = 0.012, .velocity = {0.3, -0.5, 0.0}, .dt = 1e-3}, 30, parameters);
}

TEST(plane_contact, derivatives_through_sliding_with_friction) {
  std::vector<std::string> all = parameters;
  all.insert(all.end(), {"friction", "friction_velocity"});
  // At a velocity of ten times ε_v the friction is Coulomb's, regardless of ε_v.
  expect_derivatives({.height = 0.009, .velocity = {0.5, 0.0, 0.2}, .friction = 0.4, .dt = 1e-3}, 20, all, 1e-11,
                     {"friction_velocity"});
}

TEST(plane_contact, derivatives_at_rest_with_friction) {
  std::vector<std::string> all = parameters;
  all.insert(all.end(), {"friction", "friction_velocity"});
  expect_derivatives({.height = 0.0095, .friction = 0.4, .damping = 0.99, .dt = 1e-3, .gravity = {1.0, -9.8, 0.0}}, 20,
                     all);
}

TEST(plane_contact, derivatives_of_implicit_steps_through_a_landing_with_friction) {
  for (const char* integrator : {"bdf2", "implicit_euler", "newmark"}) {
    SCOPED_TRACE(integrator);
    expect_derivatives(
        {.height = 0.011, .velocity = {0.3, -0.3, 0.0}, .friction = 0.4, .integrator = integrator, .dt = 4e-3}, 4,
        {"friction", "obstacle_velocity:0"}, 1e-10);
  }
}

/// Velocities along a slope with the angle 0.5 rad at the ends of implicit steps, from rest. Gravity is tilted instead
/// of the plane.
std::vector<double> slide(double mu, int steps) {
  const double angle = 0.5, g = 9.8;
  Scene scene{.height = 0.0097, .friction = mu, .youngs_modulus = 2e6, .integrator = "implicit_euler", .dt = 0.01};
  scene.gravity = {g * std::sin(angle), -g * std::cos(angle), 0.0};
  scene.contact.friction_velocity = 1e-3;
  DifferentiableScene solver = make_solver(scene);
  Model& model = solver.model();
  model.prepare();
  State state = solver.initial_state();
  double mass = 1000.0 * 0.2 * 0.1 * 0.1;
  std::vector<double> speeds;
  for (int n = 0; n < steps; ++n) {
    model.step(n, state, nullptr);
    speeds.push_back(momentum(solver.system(), state)[0] / mass);
  }
  return speeds;
}

TEST(plane_contact, an_implicit_block_on_a_slope_sticks_and_slides_as_coulomb_says) {
  const double tangent = std::tan(0.5), pull = 9.8 * std::sin(0.5), press = 9.8 * std::cos(0.5);
  EXPECT_LT(slide(1.01 * tangent, 20).back(), 1e-3);  // sticks: creep below ε_v
  const auto acceleration = [](const std::vector<double>& v) { return (v[29] - v[14]) / 0.15; };
  EXPECT_NEAR(acceleration(slide(0.99 * tangent, 30)), 0.01 * pull, 0.01 * pull * 0.1);
  EXPECT_NEAR(acceleration(slide(0.3, 30)), pull - 0.3 * press, 0.01 * (pull - 0.3 * press));
}

/// Bounce off the plane without friction and gravity, in 80 ms.
struct Bounce {
  double most = 1.0, least = 1.0, last = 1.0;  ///< energies over the initial energy
  double rise = 0.0;                           ///< largest increase between two samples
  double rebound = 0.0;                        ///< final normal momentum over minus the initial one

  double off() const { return std::max(most - 1.0, 1.0 - least); }
};

Bounce bounce(const std::string& integrator, double dt) {
  DifferentiableScene solver = make_solver(
      {.height = 0.015, .velocity = {0.3, -1.0, 0.1}, .integrator = integrator, .dt = dt, .gravity = {0.0, 0.0, 0.0}});
  Model& model = solver.model();
  model.prepare();
  State state = solver.initial_state();
  const std::array<double, 3> before = momentum(solver.system(), state);
  const double energy = solver.system().kinetic_energy(state);
  const int steps = static_cast<int>(std::lround(0.08 / dt));
  const int every = std::max(1, steps / 160);
  std::int64_t touching = 0;
  double nearest = 1.0;
  Bounce found;
  for (int n = 0; n < steps; ++n) {
    model.step(n, state, nullptr);
    if ((n + 1) % every != 0) continue;
    const double now = (solver.system().kinetic_energy(state) + solver.system().potential_energy(state)) / energy;
    found.rise = max_or_nan(found.rise, now - found.last);
    found.most = max_or_nan(found.most, now);
    found.least = std::min(found.least, now);
    found.last = now;
    const ContactState contact = solver.contact_state(n + 1, state);
    touching = std::max(touching, contact.active_pairs);
    nearest = std::min(nearest, contact.min_distance);
  }
  EXPECT_GT(touching, 10);
  EXPECT_GT(nearest, 0.0);
  EXPECT_EQ(solver.contact_state(steps, state).active_pairs, 0);
  const std::array<double, 3> after = momentum(solver.system(), state);
  EXPECT_NEAR(after[0], before[0], 1e-10);  // no friction
  EXPECT_NEAR(after[2], before[2], 1e-10);
  found.rebound = -after[1] / before[1];
  return found;
}

TEST(plane_contact, energy_and_momentum_of_a_bounce_converge_as_the_integrator_does) {
  // The rebound is below 1, because vibration takes a part of the energy. The energy of symplectic Euler oscillates
  // about the initial energy, with an amplitude proportional to the step. The momentum, which does not include the
  // vibration, is of second order.
  const Bounce reference = bounce("symplectic_euler", 1e-4), coarser = bounce("symplectic_euler", 4e-4);
  EXPECT_LT(reference.off(), 0.006);
  EXPECT_NEAR(coarser.off() / reference.off(), 4.0, 0.8);
  EXPECT_NEAR(coarser.rebound, reference.rebound, 2e-3 * reference.rebound);
  EXPECT_GT(reference.rebound, 0.0);
  EXPECT_LT(reference.rebound, 1.0);

  // Least order of the energy's error of other explicit integrators, from steps of 0.4 ms and 0.2 ms. The barrier's
  // third derivative is discontinuous at d̂, which limits the order of Runge–Kutta 4.
  struct Order {
    const char* integrator;
    double energy;
  };
  for (const Order& order : {Order{"velocity_verlet", 2.0}, Order{"runge_kutta_2", 3.0}, Order{"runge_kutta_4", 4.0}}) {
    SCOPED_TRACE(order.integrator);
    const Bounce coarse = bounce(order.integrator, 4e-4), fine = bounce(order.integrator, 2e-4);
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%s: energy off by %.2e, %.2e, order %.2f; rebound off by %.1e, %.1e\n", order.integrator,
                  coarse.off(), fine.off(), std::log2(coarse.off() / fine.off()),
                  std::abs(coarse.rebound - reference.rebound), std::abs(fine.rebound - reference.rebound));
    EXPECT_GT(std::log2(coarse.off() / fine.off()), order.energy - 0.3);
    EXPECT_NEAR(fine.rebound, reference.rebound, 2e-3 * reference.rebound);
  }

  // Factors by which the errors of the implicit integrators, in the energy and in the rebound, decrease at least from
  // steps of 1 ms to steps of 0.5 ms. These steps are fractions of the vibration's period.
  struct Expected {
    const char* integrator;
    double energy, rebound;
  };
  for (const Expected& expected : {Expected{"implicit_euler", 1.2, 1.3}, Expected{"bdf2", 2.0, 2.0},
                                   Expected{"newmark", 3.0, 3.0}, Expected{"generalised_alpha", 3.0, 3.0}}) {
    SCOPED_TRACE(expected.integrator);
    const Bounce coarse = bounce(expected.integrator, 1e-3), fine = bounce(expected.integrator, 5e-4);
    const auto error = [&](const Bounce& found) { return std::abs(found.rebound - reference.rebound); };
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%s: energy off by %.4f, %.4f, rebound by %.4f, %.4f of %.4f\n", expected.integrator, coarse.off(),
                  fine.off(), error(coarse), error(fine), reference.rebound);
    EXPECT_GT(coarse.off(), expected.energy * fine.off());
    EXPECT_GT(error(coarse), expected.rebound * error(fine));
    // Implicit Euler dissipates energy in every step, BDF2 over a whole motion. The others conserve energy up to their
    // order.
    if (std::string(expected.integrator) == "implicit_euler") {
      EXPECT_LE(std::max(coarse.rise, fine.rise), 1e-12);
    } else if (std::string(expected.integrator) == "bdf2") {
      EXPECT_LE(std::max(coarse.most, fine.most), 1.0 + 1e-12);
    } else {
      EXPECT_LT(fine.off(), 0.015);
      EXPECT_LT(error(fine), 0.01 * reference.rebound);
    }
  }
}

TEST(plane_contact, a_block_slides_with_the_friction_of_coulomb) {
  // Gravity is tilted instead of the plane.
  const double mu = 0.3, angle = 0.5, g = 9.8;
  DifferentiableScene solver =
      make_solver({.height = 0.0097,
                   .velocity = {3.0, 0.0, 0.0},
                   .friction = mu,
                   .youngs_modulus = 2e6,
                   .gravity = {g * std::sin(angle), -g * std::cos(angle), 0.0},
                   .contact = {.barrier_distance = 0.01, .barrier_stiffness = 4e4, .friction_velocity = 0.01}});
  Model& model = solver.model();
  model.prepare();
  State state = solver.initial_state();
  const std::array<double, 3> before = momentum(solver.system(), state);
  const int steps = 1500;
  for (int n = 0; n < steps; ++n) model.step(n, state, nullptr);
  const std::array<double, 3> after = momentum(solver.system(), state);
  const double mass = 1000.0 * 0.2 * 0.1 * 0.1, time = steps * 2e-4;
  // Impulse along the slope: m g sin θ t - µ ∫N, with ∫N = m g cos θ t plus the change of the normal momentum.
  const double normal = mass * g * std::cos(angle) * time + after[1] - before[1];
  const double acceleration = (after[0] - before[0]) / mass / time,
               expected = g * (std::sin(angle) - mu * std::cos(angle));
  EXPECT_NEAR(acceleration, g * std::sin(angle) - mu * normal / mass / time, 0.001 * expected);
  EXPECT_NEAR(acceleration, expected, 0.01 * expected);
}

/// Relative difference between the lost energy and the work of friction, in an oblique impact in `steps` steps.
double work_off(int steps) {
  const double dt = 0.05 / steps;
  DifferentiableScene solver = make_solver(
      {.height = 0.012, .velocity = {1.0, -1.0, 0.2}, .friction = 0.4, .dt = dt, .gravity = {0.0, 0.0, 0.0}});
  const auto [before, gone, work] = energy_balance(solver, steps, dt);
  EXPECT_GT(work, 0.1 * before);
  return std::abs(gone - work) / work;
}

TEST(plane_contact, friction_takes_the_energy_that_is_gone) {
  const double coarse = work_off(500), fine = work_off(1000);
  EXPECT_LE(fine, 0.01);
  EXPECT_NEAR(coarse / fine, 2.0, 0.3);  // first order in dt
}

TEST(plane_contact, what_passes_through_is_an_error_that_names_it) {
  DifferentiableScene solver = make_solver({.height = 0.02, .velocity = {0.0, -150.0, 0.0}});
  EXPECT_EQ(expect_step_refused(solver, {"step 0, substep 1", "and plane 0", "smaller dt"}), ErrorKind::run);
}

TEST(plane_contact, a_start_that_touches_is_refused) {
  DifferentiableScene solver = make_solver({.height = 0.0});
  EXPECT_EQ(expect_step_refused(solver, {"at the start"}), ErrorKind::input);
}

TEST(plane_contact, refuses_values_without_sense) {
  for (const ContactOptions& options :
       {ContactOptions{.barrier_distance = 0.0}, ContactOptions{.barrier_stiffness = -1.0},
        ContactOptions{.friction = -0.1}, ContactOptions{.friction_velocity = 0.0}}) {
    Scene scene;
    scene.contact = options;
    scene.friction = options.friction;
    EXPECT_THROW(make_solver(scene), Error);
  }
}

}  // namespace
}  // namespace diffsim::plane_contact_test
