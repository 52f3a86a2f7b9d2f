// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/inverse/losses.hpp"
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

}  // namespace diffsim::testing_affine
