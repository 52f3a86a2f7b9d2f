// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/inverse/losses.hpp"
#include "max_or_nan.hpp"
#include "simulation/affine_bodies.hpp"

/// Scenes with reference results for rigid bodies: a body on a slope, impacts.
namespace diffsim::testing_affine {

using Vector = std::array<double, 3>;

inline void print(const char* what, double value, double expected) {
  if (std::getenv("DIFFSIM_VERBOSE"))
    std::printf("%-40s %.6g, expected %.6g, off by %.2e\n", what, value, expected, value / expected - 1.0);
}

struct Slope {
  double slope = 0.0;     ///< tangent of the slope's angle
  double friction = 0.0;  ///< µ
  std::array<double, 3> velocity{};
};

constexpr double gap = 5e-4;

/// Scene of a body on a plane. Gravity is rotated instead of the plane; the slope descends along x. The stiffness of
/// the barrier is chosen so that the body rests near the gap at which it starts. The density must be 1000 kg/m³.
inline DifferentiableScene on_slope(NamedMesh body, const DifferentiableMaterial& material,
                                    DifferentiableSolver options, const Slope& slope) {
  const bool is_block = body.name == "block";
  std::vector<NamedMesh> bodies;
  bodies.push_back(std::move(body));
  auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
  const double angle = std::atan(slope.slope), g = 9.81;
  options.gravity = {g * std::sin(angle), -g * std::cos(angle), 0.0};
  DifferentiableScene solver(mesh, {material}, options);
  std::vector<double> velocity;
  add_rigid_velocity(*mesh, mesh->bodies().front().name, slope.velocity, {0, 0, 0}, velocity);
  solver.set_initial_velocity(velocity);
  ContactOptions contact;
  contact.barrier_distance = 2.0 * gap;
  contact.barrier_stiffness = is_block ? 1000.0 * 0.05 * g * std::cos(angle) / 4.33 : 2e5;
  contact.friction = slope.friction;
  contact.friction_velocity = 1e-3;
  contact.planes.push_back({});
  solver.add_contact(contact);
  return solver;
}

/// Displacements and velocities of the centre along the slope, at the start and at the ends of all steps.
struct Track {
  std::vector<double> x{0.0}, v;
};
inline Track run(DifferentiableScene& solver, int steps) {
  solver.model().prepare();
  State state = solver.initial_state();
  const Motion start = motion_of(state, 1.0);
  Track track;
  track.v.push_back(start.velocity[0]);
  for (int n = 0; n < steps; ++n) {
    solver.step(n, state);
    const Motion now = motion_of(state, 1.0);
    track.x.push_back(now.centre[0] - start.centre[0]);
    track.v.push_back(now.velocity[0]);
  }
  return track;
}

inline NamedMesh block() { return affine_box(MPI_COMM_WORLD, "block", {0.2, 0.05, 0.2}, {0.0, 0.025 + gap, 0.0}); }
inline NamedMesh ball() {
  MeshData data = affine_body(MPI_COMM_WORLD, contact::sphere_triangles({0.0, 0.0, 0.0}, 0.1));
  diffsim::place(data, {{1.0, 1.0, 1.0}, {0, 0, 1}, 0.0, {0.0, 0.1 + gap, 0.0}});
  return {"ball", std::move(data)};
}

/// Coordinate of a body's centre after a rollout, and its derivatives with respect to the initial positions and
/// velocities of both bodies along an axis.
struct Outcome {
  double value = 0.0;
  std::array<double, 2> by_place{}, by_velocity{};
};

/// Outcome for the centre of `body`. The loss is half of the squared distance of the centre from a point 1 m behind the
/// centre on the axis; its gradient is therefore the gradient of the coordinate.
inline Outcome outcome(DifferentiableScene& solver, int steps, const std::string& body, std::size_t axis) {
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  const std::size_t number = solver.mesh()->find_body(body);
  Vector target = motion_of(state, 1.0, number).centre;
  Outcome result;
  result.value = target[axis];
  target[axis] -= 1.0;
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region(body + "/all"), target, steps);
  DifferentiableSimulator simulator(solver);
  simulator.rollout(steps, 10, loss);
  simulator.backward();
  const std::vector<double> by_place = simulator.initial_gradient()["positions"].to_host(),
                            by_velocity = simulator.initial_gradient()["velocities"].to_host();
  for (std::size_t i = axis; i < by_place.size(); i += 3) {
    result.by_place[i / 12] += by_place[i];
    result.by_velocity[i / 12] += by_velocity[i];
  }
  return result;
}

/// Checks the distance after which friction stops a block that slides on a plane at 1 m/s (`on_slope`).
inline void expect_stop(DifferentiableScene& scene, double friction, int steps) {
  const double expected = 1.0 / (2.0 * friction * 9.81), slid = run(scene, steps).x.back();
  print("stops after, m", slid, expected);
  EXPECT_NEAR(slid, expected, 0.01 * expected);
}

/// Checks the distance that a ball rolls in 0.5 s down a slope whose angle has the tangent `slope`.
inline void expect_rolling(DifferentiableScene& scene, double slope, int steps) {
  const double expected = 0.5 * 5.0 / 7.0 * 9.81 * std::sin(std::atan(slope)) * 0.25,
               rolled = run(scene, steps).x.back();
  print("rolls, m", rolled, expected);
  EXPECT_NEAR(rolled, expected, 0.01 * expected);
}

/// Checks the distance that a ball moves in 0.25 s on a plane, if it slides at 1 m/s at first.
inline void expect_slide_and_roll(DifferentiableScene& scene, double friction, int steps) {
  // The ball slides for the time t, and then rolls with the velocity 5/7 v.
  const double t = 2.0 / (7.0 * friction * 9.81);
  const double expected = 12.0 / (49.0 * friction * 9.81) + 5.0 / 7.0 * (0.25 - t);
  const double moved = run(scene, steps).x.back();
  print("slides and rolls, m", moved, expected);
  EXPECT_NEAR(moved, expected, 0.01 * expected);
}

/// Checks the derivatives of a central elastic impact of two equal cubes, x₂ = x₁ + v₁ T + const, with T = 0.1 s. The
/// errors must decrease from the first number of steps to the second. `options`: dt and gravity are set here.
inline void expect_exchange(const DifferentiableMaterial& material, DifferentiableSolver options,
                            const std::array<int, 2>& numbers_of_steps) {
  std::vector<double> errors;
  constexpr double T = 0.1;
  for (const int steps : numbers_of_steps) {
    std::vector<NamedMesh> bodies;
    bodies.push_back(affine_box(MPI_COMM_WORLD, "first", {0.1, 0.1, 0.1}, {0, 0, 0}));
    bodies.push_back(affine_box(MPI_COMM_WORLD, "second", {0.1, 0.1, 0.1}, {0.12, 0, 0}));
    auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
    options.dt = T / steps;
    options.gravity = {0, 0, 0};
    DifferentiableScene scene(mesh, {material}, options);
    std::vector<double> velocity;
    add_rigid_velocity(*mesh, "first", {1.0, 0, 0}, {0, 0, 0}, velocity);
    scene.set_initial_velocity(velocity);
    ContactOptions contact;
    contact.barrier_distance = 0.01;
    contact.barrier_stiffness = 1e4;
    scene.add_contact(contact);
    const Outcome second = outcome(scene, steps, "second", 0);
    const double expected[4] = {1.0, 0.0, T, 0.0},
                 found[4] = {second.by_place[0], second.by_place[1], second.by_velocity[0], second.by_velocity[1]};
    double worst = 0.0;
    for (std::size_t k = 0; k < 4; ++k) worst = max_or_nan(worst, std::abs(found[k] - expected[k]) / (k < 2 ? 1.0 : T));
    errors.push_back(worst);
    print("dx2/dx1 of an impact", found[0], 1.0);
    print("dx2/dv1 of an impact, s", found[2], T);
  }
  EXPECT_LT(errors[1], 0.03);
  EXPECT_LT(errors[1], 0.4 * errors[0]);
}

/// Octahedron of radius 0.1 m that falls on the corner below its centre, so it does not begin to rotate.
inline NamedMesh octahedron(double height) {
  TriangleMesh surface;
  constexpr double r = 0.1;
  surface.vertices = {{r, 0, 0}, {0, 0, r}, {-r, 0, 0}, {0, 0, -r}, {0, r, 0}, {0, -r, 0}};
  for (int k = 0; k < 4; ++k) {
    surface.triangles.push_back({(k + 1) % 4, k, 4});
    surface.triangles.push_back({k, (k + 1) % 4, 5});
  }
  for (auto& vertex : surface.vertices) vertex[1] += r + height;
  return {"octahedron", affine_body(MPI_COMM_WORLD, std::move(surface))};
}

/// Checks the height y after 0.8 s of a body that falls from h₀ = 1 m and bounces, and dy/dh₀. Only the impact, from
/// 0.446 s to 0.464 s, is simulated; the free fall before and after is known exactly.
inline void expect_bounce(const DifferentiableMaterial& material) {
  constexpr double begin = 0.446, dt = 1e-3, g = 9.81;
  std::vector<double> values, slopes;
  for (const int k : {1, 2, 3}) {
    std::vector<NamedMesh> bodies;
    bodies.push_back(octahedron(1.0 - 0.5 * g * begin * begin));
    auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, join_bodies(MPI_COMM_WORLD, std::move(bodies)));
    DifferentiableScene scene(
        mesh, {material},
        {.dt = dt, .substeps = 150 * k * k, .gravity = {0, -g, 0}, .integrator = Integrator::velocity_verlet});
    std::vector<double> velocity;
    add_rigid_velocity(*mesh, "octahedron", {0, -g * begin, 0}, {0, 0, 0}, velocity);
    scene.set_initial_velocity(velocity);
    ContactOptions contact;
    contact.barrier_distance = 0.02 / k;
    contact.barrier_stiffness = 1.2e5 * k;
    contact.planes.push_back({});
    scene.add_contact(contact);
    // Extrapolation from the positions after 10 ms and 18 ms.
    const Outcome first = outcome(scene, 10, "octahedron", 1), second = outcome(scene, 18, "octahedron", 1);
    const double between = 8 * dt, after = 0.8 - begin - 18 * dt, ahead = after / between;
    const double y = second.value + (second.value - first.value) * ahead - 0.5 * g * after * (after + between) - 0.1;
    const double slope = second.by_place[0] + (second.by_place[0] - first.by_place[0]) * ahead;
    values.push_back(std::abs(y - 0.947915));
    slopes.push_back(std::abs(slope - 0.543558));
    print("height after a bounce, m", y, 0.947915);
    print("its derivative with respect to the height before", slope, 0.543558);
  }
  EXPECT_LT(values[2], 2e-3 * 0.947915);
  EXPECT_LT(slopes[2], 0.01 * 0.543558);
  for (std::size_t i = 1; i < 3; ++i) {  // first order in d̂
    EXPECT_NEAR(values[i] * static_cast<double>(i + 1), values[0], 0.1 * values[0]);
    EXPECT_NEAR(slopes[i] * static_cast<double>(i + 1), slopes[0], 0.1 * slopes[0]);
  }
}

}  // namespace diffsim::testing_affine
