// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Joints that follow other joints: motions with known solutions, gradients of rollouts, refused input.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "diffsim/mesh/construction.hpp"
#include "simulation/affine_scenes.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::joint_couplings_test {
namespace {

using namespace testing_affine;

constexpr std::array<double, 3> wheel_size{0.2, 0.1, 0.05}, slide_size{0.3, 0.04, 0.05};
constexpr double density = 900.0;

/// Two wheels that turn about axes along z, and a slide that moves along x. The second wheel follows the first wheel
/// with the ratio `wheel_ratio`, and the slide follows the second wheel with the ratio `slide_ratio` (m/rad).
DifferentiableScene make_scene(MPI_Comm comm, const DifferentiableSolver& options, double wheel_ratio,
                               double slide_ratio) {
  std::vector<NamedMesh> bodies;
  bodies.push_back(affine_box(comm, "wheel", wheel_size, {0.0, 0.0, 0.0}));
  bodies.push_back(affine_box(comm, "second", wheel_size, {0.5, 0.0, 0.0}));
  bodies.push_back(affine_box(comm, "slide", slide_size, {0.0, 0.5, 0.0}));
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  DifferentiableScene scene(mesh, {rigid(density)}, options);
  // A joint may follow a joint that is added after it.
  scene.join({.name = "follower",
              .kind = JointKind::revolute,
              .body = "second",
              .point = {0.5, 0.0, 0.0},
              .follows = "drive",
              .ratio = wheel_ratio});
  scene.join({.name = "drive", .kind = JointKind::revolute, .body = "wheel"});
  scene.join({.name = "rail",
              .kind = JointKind::prismatic,
              .body = "slide",
              .point = {0.0, 0.5, 0.0},
              .axis = {1.0, 0.0, 0.0},
              .follows = "follower",
              .ratio = slide_ratio});
  return scene;
}

double mass_of(const std::array<double, 3>& size) { return density * size[0] * size[1] * size[2]; }

struct Train {
  std::vector<double> q;      ///< coordinates of the three joints at the end
  double violation = 0.0;     ///< largest violation of the two ratios, modulo full turns, rad and m
  double turns = 0.0;         ///< turns of the driven wheel, by the position of the slide
  double energy_drift = 0.0;  ///< largest change of the kinetic energy per its value
};

/// Fraction of integers.
struct Fraction {
  int numerator, denominator;
};

/// Runs the scene with a constant torque on the driven wheel.
Train run_train(const std::string& integrator, double dt, int steps, double torque, const Fraction& ratio,
                double slide_ratio, double initial_rate = 0.0) {
  const double wheel_ratio = static_cast<double>(ratio.numerator) / ratio.denominator;
  DifferentiableScene scene = make_scene(
      MPI_COMM_WORLD,
      {.dt = dt, .substeps = 1, .damping = 1.0, .gravity = {0, 0, 0}, .integrator = integrator_named(integrator)},
      wheel_ratio, slide_ratio);
  scene.drive("drive", {.torque = {torque}});
  if (initial_rate != 0.0) {
    std::vector<double> velocity;
    const TetrahedralMesh& mesh = *scene.mesh();
    add_rigid_velocity(mesh, "wheel", {0, 0, 0}, {0, 0, initial_rate}, velocity);
    add_rigid_velocity(mesh, "second", {0, 0, 0}, {0, 0, wheel_ratio * initial_rate}, velocity);
    add_rigid_velocity(mesh, "slide", {slide_ratio * wheel_ratio * initial_rate, 0, 0}, {0, 0, 0}, velocity);
    scene.set_initial_velocity(velocity);
  }
  State state = scene.initial_state();
  Train run;
  double start = 0.0;
  for (int n = 0; n < steps; ++n) {
    scene.step(n, state);
    run.q = scene.joint_coordinates(state);
    const auto modulo = [](double angle) { return std::remainder(angle, 2.0 * std::numbers::pi); };
    // A multiple of the coordinates for which full turns are multiples of 2π.
    const double wheels = modulo(ratio.denominator * run.q[0] - ratio.numerator * run.q[1]) / ratio.denominator,
                 slide = modulo(run.q[2] / slide_ratio - run.q[0]) * slide_ratio;
    run.violation = std::max({run.violation, std::abs(wheels), std::abs(slide)});
    if (initial_rate != 0.0) {
      const double energy = scene.system().kinetic_energy(state);
      if (n == 0) start = energy;
      run.energy_drift = std::max(run.energy_drift, std::abs(energy / start - 1.0));
    }
  }
  run.turns = run.q[2] / (slide_ratio * wheel_ratio * 2.0 * std::numbers::pi);
  return run;
}

// The train has one degree of freedom, with the inertia I + r² I + (r s)² m for the ratios r of the wheels and s of the
// slide, the moment of inertia I of a wheel and the mass m of the slide.
TEST(joint_couplings, a_train_accelerates_as_one_inertia) {
  constexpr double torque = 0.05, r = -1.5, s = 0.03, duration = 4.0;
  const double wheel = mass_of(wheel_size) * (wheel_size[0] * wheel_size[0] + wheel_size[1] * wheel_size[1]) / 12.0;
  const double inertia = wheel * (1.0 + r * r) + r * s * r * s * mass_of(slide_size);
  const double turns = 0.5 * torque / inertia * duration * duration / (2.0 * std::numbers::pi);
  EXPECT_GT(turns, 3.0);
  for (const char* integrator : {"velocity_verlet", "bdf2", "generalised_alpha"}) {
    double error[2];
    for (const int level : {0, 1}) {
      const int steps = 400 << level;
      const Train run = run_train(integrator, duration / steps, steps, torque, {-3, 2}, s);
      EXPECT_LE(run.violation, 1e-10) << integrator;
      error[level] = std::abs(run.turns / turns - 1.0);
      EXPECT_LE(error[level], level == 0 ? 5e-2 : 2e-2) << integrator;
    }
    EXPECT_GT(error[0], 3.0 * error[1]) << integrator;
  }
}

TEST(joint_couplings, a_free_train_keeps_its_energy_and_its_ratios) {
  const Train run = run_train("velocity_verlet", 2e-3, 5000, 0.0, {1, 3}, -0.2, 11.0);
  EXPECT_GT(std::abs(run.turns), 17.0);
  EXPECT_LE(run.violation, 1e-10);
  EXPECT_LE(run.energy_drift, 1e-4);
}

// ---- gradients --------------------------------------------------------------------------------------------------

/// Scene in which gravity and a drive turn the wheels, whose bodies are not balanced, and move the slide.
DifferentiableScene make_driven(MPI_Comm comm, const std::string& integrator) {
  DifferentiableScene scene =
      make_scene(comm, testing_gradient::constrained_options(integrator, 1e-3, 6e-3, 5), -0.7, 0.11);
  scene.drive("follower", {.torque = {0.03},
                           .target = {0.4},
                           .stiffness = 0.2,
                           .damping = 0.03,
                           .friction = 0.01,
                           .friction_velocity = 0.5});
  std::vector<double> velocity;
  const TetrahedralMesh& mesh = *scene.mesh();
  add_rigid_velocity(mesh, "wheel", {0, 0, 0}, {0, 0, 5.0}, velocity);
  add_rigid_velocity(mesh, "second", {0, 0, 0}, {0, 0, -3.5}, velocity);
  add_rigid_velocity(mesh, "slide", {-0.385, 0, 0}, {0, 0, 0}, velocity);
  scene.set_initial_velocity(velocity);
  return scene;
}

class JointCouplings : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(joint_couplings, JointCouplings,
                         ::testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler", "bdf2",
                                           "generalised_alpha"),
                         [](const auto& test) { return test.param; });

TEST_P(JointCouplings, have_the_gradients_whose_slopes_differences_have) {
  testing_gradient::expect_slopes(
      [](MPI_Comm comm) { return make_driven(comm, GetParam()); }, 3,
      {"density", "gravity", "initial_positions", "initial_velocities", "joint_torque:follower",
       "joint_stiffness:follower", "joint_damping:follower", "joint_target:follower", "joint_friction:follower"});
}

TEST_P(JointCouplings, derivatives_pass_the_check) {
  DifferentiableScene scene = make_driven(MPI_COMM_WORLD, GetParam());
  testing_simulation::expect_checked(scene, {"slide/all", {0.3, 0.2, 0.1}, 6},
                                     testing_simulation::unknowns_of({"density", "gravity"}, {}));
}

TEST_P(JointCouplings, products_with_the_hessian) {
  DifferentiableScene scene = make_driven(MPI_COMM_WORLD, GetParam());
  testing_simulation::expect_hessian(scene, 3, {"slide/all", {0.5, 0.2, 0.1}, 3},
                                     testing_simulation::unknowns_of({"density", "gravity"}, {}));
}

// ---- refusals ---------------------------------------------------------------------------------------------------

TEST(joint_couplings, without_a_meaning_are_refused) {
  const auto refused = [](const Joint& joint, const std::string& says) {
    DifferentiableScene scene = make_scene(MPI_COMM_WORLD, {.gravity = {0, 0, 0}}, 2.0, 0.1);
    scene.join(joint);
    testing_simulation::expect_refused([&] { scene.stable_substep(); }, {says});
  };
  const auto joint = [](JointKind kind, const std::string& follows, double ratio) {
    return Joint{.name = "late", .kind = kind, .body = "slide", .other = "wheel", .follows = follows, .ratio = ratio};
  };
  refused(joint(JointKind::revolute, "driv", 1.0),
          "joint 'late' follows joint 'driv', which does not exist; did you mean 'drive'?");
  refused(joint(JointKind::revolute, "late", 1.0), "joint 'late' follows itself");
  refused(joint(JointKind::revolute, "drive", 0.0), "give a finite ratio that is not zero");
  refused(joint(JointKind::spherical, "drive", 1.0), "joint 'late' is spherical; only revolute and prismatic joints");
}

TEST(joint_couplings, that_contradict_each_other_are_refused) {
  DifferentiableScene scene = make_scene(MPI_COMM_WORLD, {.gravity = {0, 0, 0}}, 2.0, 0.1);
  scene.join({.name = "again",
              .kind = JointKind::revolute,
              .body = "wheel",
              .point = {0.0, 0.0, 0.1},
              .follows = "follower",
              .ratio = 0.5});
  testing_simulation::expect_refused([&] { scene.stable_substep(); }, {"depend on one another"});
}

}  // namespace
}  // namespace diffsim::joint_couplings_test
