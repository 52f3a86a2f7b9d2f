// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Bodies of triangles without a material: obstacles whose motion is prescribed, as for other vertices.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "contact/obstacles.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "mesh/body_meshes.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::obstacle_bodies_test {
namespace {

using namespace testing_contact;
using testing_mesh::box_body;
using testing_mesh::grid_of_triangles;
using testing_mesh::whole_on_first_rank;

constexpr std::array<double, 3> axis{0.1, 1.0, 0.2}, origin{0.03, -0.02, 0.04};
constexpr std::array<double, 3> velocity{0.2, 0.3, -0.1};
constexpr double turning = 2.0;

/// Sheet of 2 · 3 · 2 triangles below the block of `make_block`, slightly wider than the block, nearly parallel to the
/// x-z plane, with upward normals.
MeshData sheet(double height = -0.009) {
  MeshData data = grid_of_triangles({3, 2}, {0.16, 0.14}, 0.0);
  for (std::size_t v = 0; v < data.coordinates.size(); v += 3) {
    const double x = data.coordinates[v], y = data.coordinates[v + 1];
    // The sheet is rotated: no edges are parallel, and no vertex is exactly above an edge, where forces have kinks.
    data.coordinates[v] = 0.95 * y + 0.2 * x - 0.031;
    data.coordinates[v + 1] = height + 0.013 * x + 0.007 * y;
    data.coordinates[v + 2] = x - 0.3 * y - 0.017;
  }
  return data;
}

/// Closed box of 12 triangles with outward normals.
MeshData closed_box(const std::array<double, 3>& low, const std::array<double, 3>& high) {
  const TriangleMesh triangles = contact::box_triangles(low, high);
  MeshData data;
  data.num_vertices = static_cast<std::int64_t>(triangles.vertices.size());
  for (const auto& x : triangles.vertices) data.coordinates.insert(data.coordinates.end(), x.begin(), x.end());
  for (const auto& t : triangles.triangles) {
    std::vector<std::int64_t>& nodes = data.lower(CellKind::triangle).nodes;
    nodes.insert(nodes.end(), t.begin(), t.end());
  }
  data.lower(CellKind::triangle).num = data.block_of(CellKind::triangle);
  return data;
}

ContactOptions options_of_contact(double friction) {
  ContactOptions contact = soft(true);
  contact.barrier_stiffness = 2e3;
  contact.friction = friction;
  return contact;
}

/// Scene of a block that falls on the given bodies of triangles.
DifferentiableScene make_block(const std::string& integrator, std::vector<NamedMesh> others, MPI_Comm comm) {
  std::vector<NamedMesh> bodies;
  bodies.push_back({"block", box_body(comm, {"block", {0.1, 0.05, 0.1}, {2, 1, 2}, {}})});
  for (NamedMesh& other : others) bodies.push_back({other.name, whole_on_first_rank(comm, std::move(other.data))});
  auto mesh = std::make_shared<TetrahedralMesh>(comm, join_bodies(comm, std::move(bodies)));
  DifferentiableSolver options{.dt = is_explicit(integrator_named(integrator)) ? 4e-4 : 4e-3,
                               .substeps = 1,
                               .damping = 1.0,
                               .gravity = {0.0, -9.8, 0.0},
                               .integrator = integrator_named(integrator)};
  DifferentiableScene solver = testing_simulation::make_soft_solver(mesh, 5e4, options);
  std::vector<double> start(3 * static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0);
  for (const int v : mesh->region("block/all").vertices)
    for (std::size_t c = 0; c < 3 && v < mesh->num_owned_vertices(); ++c)
      start[3 * static_cast<std::size_t>(v) + c] = std::array{0.1, -0.3, 0.05}[c];
  solver.set_initial_velocity(start);
  return solver;
}

/// Scene in which the sheet is a body that `System` moves.
DifferentiableScene with_body(const std::string& integrator, double friction, MPI_Comm comm = MPI_COMM_WORLD,
                              int steps = 1, const std::vector<ContactPair>& pairs = {}) {
  DifferentiableScene solver = make_block(integrator, {{"sheet", sheet()}}, comm);
  std::vector<double> rates, speeds;
  for (int n = 0; n < steps; ++n) {
    rates.push_back(turning * (1.0 + 0.1 * n));
    for (const double component : velocity) speeds.push_back(component * (1.0 - 0.1 * n));
  }
  solver.move("sheet/all", axis, origin, rates, speeds);
  // Friction in the first explicit step uses the given initial velocities.
  const TetrahedralMesh& mesh = *solver.mesh();
  std::vector<double> start = solver.initial_state()["velocities"].to_host();
  const double length = std::hypot(axis[0], axis[1], axis[2]);
  for (const int v : mesh.region("sheet/all").vertices)
    for (std::size_t c = 0; c < 3 && v < mesh.num_owned_vertices(); ++c) {
      const auto arm = [&](std::size_t k) {
        return mesh.rest_positions()[3 * static_cast<std::size_t>(v) + k % 3] - origin[k % 3];
      };
      start[3 * static_cast<std::size_t>(v) + c] =
          velocity[c] + turning / length * (axis[(c + 1) % 3] * arm(c + 2) - axis[(c + 2) % 3] * arm(c + 1));
    }
  solver.set_initial_velocity(start);
  ContactOptions contact = options_of_contact(friction);
  contact.pairs = pairs;
  solver.add_contact(contact);
  return solver;
}

/// Scene in which the sheet is an obstacle that contact moves.
DifferentiableScene with_obstacle(const std::string& integrator, double friction) {
  DifferentiableScene solver = make_block(integrator, {}, MPI_COMM_WORLD);
  const MeshData data = sheet();
  MeshObstacle obstacle;
  for (std::size_t v = 0; v < data.coordinates.size(); v += 3)
    obstacle.mesh.vertices.push_back({data.coordinates[v], data.coordinates[v + 1], data.coordinates[v + 2]});
  const std::vector<std::int64_t>& nodes = data.lower(CellKind::triangle).nodes;
  for (std::size_t i = 0; i < nodes.size(); i += 3)
    obstacle.mesh.triangles.push_back(
        {static_cast<int>(nodes[i]), static_cast<int>(nodes[i + 1]), static_cast<int>(nodes[i + 2])});
  obstacle.velocity = velocity;
  obstacle.rotation = {axis, origin, turning};
  obstacle.label = "sheet";
  ContactOptions contact = options_of_contact(friction);
  contact.meshes.push_back(obstacle);
  solver.add_contact(contact);
  return solver;
}

/// Mean displacement of the block at the end, gradients of a loss of its mean position with respect to the sheet's
/// velocity and angular velocity, and the largest number of active pairs.
struct Outcome {
  std::array<double, 3> place;
  std::vector<double> by_velocity, by_turning;
  std::int64_t pairs;
};

Outcome outcome_of(DifferentiableScene solver, const std::string& of_velocity, const std::string& of_turning,
                   const std::string& region, int steps) {
  Outcome outcome;
  outcome.pairs = testing_gradient::most_active_pairs(solver, steps);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({of_velocity, of_turning});
  TargetPositionLoss loss(*solver.mesh(), solver.mesh()->region(region), {0.2, 0.3, -0.1}, steps);
  simulator.rollout(steps, 4, loss);
  simulator.backward();
  outcome.by_velocity = simulator.gradient(of_velocity).to_host();
  outcome.by_turning = simulator.gradient(of_turning).to_host();
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  outcome.place = testing_simulation::mean_displacement(*solver.mesh(), state, region);
  return outcome;
}

class Integrators : public ::testing::TestWithParam<const char*> {};

TEST_P(Integrators, a_body_moves_and_touches_as_an_obstacle_that_contact_moves) {
  const bool is_explicit = diffsim::is_explicit(integrator_named(GetParam()));
  const int steps = is_explicit ? 60 : 12;
  const double bound = is_explicit ? 1e-11 : 1e-7;
  for (const double friction : {0.0, 0.3}) {
    const Outcome a = outcome_of(with_body(GetParam(), friction), "velocity:sheet/all", "angular_velocity:sheet/all",
                                 "block/all", steps);
    const Outcome b = outcome_of(with_obstacle(GetParam(), friction), "obstacle_velocity:sheet",
                                 "obstacle_angular_velocity:sheet", "block/all", steps);
    EXPECT_GT(a.pairs, 4);
    EXPECT_EQ(a.pairs, b.pairs);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(a.place[c], b.place[c], bound * std::abs(b.place[1]));
    // Friction in the first explicit step depends on initial velocities, which do not depend on the parameter.
    if (is_explicit && friction > 0.0) continue;
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_NEAR(a.by_velocity[c], b.by_velocity[c], bound * std::abs(b.by_velocity[1]));
    EXPECT_NEAR(a.by_turning[0], b.by_turning[0], bound * std::abs(b.by_velocity[1]));
  }
}

TEST_P(Integrators, gradients_have_the_slopes_that_differences_have) {
  constexpr int steps = 2;
  const std::vector<std::string> names{"velocity:sheet/all",
                                       "angular_velocity:sheet/all",
                                       "friction",
                                       "friction:sheet/left|block",
                                       "friction_velocity:sheet/left|block",
                                       "barrier_distance",
                                       "rest_positions",
                                       "initial_positions",
                                       "initial_velocities"};
  // A region of the sheet has a law of its own.
  const ContactPair left{{"sheet/left", "block"}, {}, {}, 0.5, 0.08};
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return with_body(GetParam(), 0.3, comm, steps, {left}); }, steps,
                                  names);
}

INSTANTIATE_TEST_SUITE_P(obstacle_bodies, Integrators,
                         ::testing::Values("symplectic_euler", "runge_kutta_4", "implicit_euler", "newmark"));

std::string error_of(DifferentiableScene& solver) {
  try {
    solver.require_apart();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return {};
}

TEST(obstacle_bodies, that_nothing_moves_rest_and_have_no_energy) {
  // Kinetic energy, and mean displacement of the sheet, after 40 steps.
  const auto outcome = [&](DifferentiableScene solver) {
    solver.model().prepare();
    State state = solver.initial_state();
    for (int n = 0; n < 40; ++n) solver.step(n, state);
    return std::pair(solver.system().kinetic_energy(state),
                     testing_simulation::mean_displacement(*solver.mesh(), state, "sheet/all"));
  };
  const double mass = 1000.0 * 0.1 * 0.05 * 0.1, v = -0.3 - 9.8 * 40 * 4e-4;  // of the block in free fall
  for (const double speed : {0.0, 1.0}) {
    DifferentiableScene far = make_block("symplectic_euler", {{"sheet", sheet(-0.5)}}, MPI_COMM_WORLD);
    if (speed > 0.0) far.move("sheet/all", axis, origin, {0.0}, {speed, 0.0, 0.0});
    const auto [energy, moved] = outcome(std::move(far));
    EXPECT_NEAR(energy, 0.5 * mass * (0.01 + v * v + 0.0025), 1e-9);
    EXPECT_NEAR(moved[0], speed * 40 * 4e-4, 1e-14);
    EXPECT_EQ(moved[1], 0.0);
  }
  // Obstacles have no contact with each other or with a plane, even if they intersect. The block falls on both
  // obstacles.
  DifferentiableScene two = make_block(
      "symplectic_euler", {{"sheet", sheet()}, {"other", closed_box({-0.1, -0.02, -0.1}, {0.05, -0.005, 0.05})}},
      MPI_COMM_WORLD);
  ContactOptions contact = options_of_contact(0.2);
  contact.planes.push_back(
      {.point = {0.0, -0.012, 0.0}, .normal = {0.0, 1.0, 0.0}});  // intersects both obstacles, but not the block
  two.move("other/all", axis, origin, {0.0}, {0.0, -2.0, 0.0});
  two.add_contact(contact);
  EXPECT_EQ(error_of(two), "");
  EXPECT_GT(testing_gradient::most_active_pairs(two, 3), 4);
  EXPECT_EQ(outcome(std::move(two)).second, (std::array<double, 3>{}));
}

TEST(obstacle_bodies, have_no_mass_in_sensors) {
  DifferentiableScene scene = make_block("symplectic_euler", {{"sheet", sheet(-0.5)}}, MPI_COMM_WORLD);
  scene.move("sheet/all", axis, origin, {0.0}, {1.0, 0.0, 0.0});
  scene.model().prepare();
  State state = scene.initial_state();
  for (int n = 0; n < 3; ++n) scene.step(n, state);
  for (const SensorQuantity quantity : {SensorQuantity::center_of_mass, SensorQuantity::momentum,
                                        SensorQuantity::angular_momentum, SensorQuantity::kinetic_energy}) {
    const auto value = [&](const char* region) {
      return scene.sensor({.quantity = quantity, .place = {.region = region}})->value(3, state);
    };
    const std::vector<double> all = value("all"), block = value("block/all");
    ASSERT_EQ(all.size(), block.size());
    for (std::size_t c = 0; c < all.size(); ++c) EXPECT_NEAR(all[c], block[c], 1e-13) << type_of(quantity).name << c;
  }
  const SensorSpec of_sheet{.quantity = SensorQuantity::center_of_mass, .place = {.region = "sheet/all"}};
  EXPECT_EQ(testing_simulation::expect_refused([&] { scene.sensor(of_sheet); }, {"region 'sheet/all' has no mass"}),
            ErrorKind::input);
}

TEST(obstacle_bodies, are_refused_where_they_begin_in_others_or_others_in_them) {
  const auto refusal = [&](const MeshData& data) {
    DifferentiableScene solver = make_block("symplectic_euler", {{"tool", data}}, MPI_COMM_WORLD);
    solver.add_contact(options_of_contact(0.0));
    return error_of(solver);
  };
  EXPECT_NE(refusal(closed_box({-1, -1, -1}, {1, 1, 1})).find("of block"), std::string::npos);
  EXPECT_NE(refusal(closed_box({-1, -1, -1}, {1, 1, 1})).find("is inside body tool"), std::string::npos);
  EXPECT_NE(refusal(closed_box({0.02, 0.02, 0.02}, {0.03, 0.03, 0.03})).find("is inside body block"),
            std::string::npos);
  // A bowl is open and may surround the block.
  MeshData bowl = closed_box({-1, -1, -1}, {1, 1, 1});
  std::vector<std::int64_t>& nodes = bowl.lower(CellKind::triangle).nodes;
  nodes.resize(nodes.size() - 3);
  --bowl.lower(CellKind::triangle).num;
  EXPECT_EQ(refusal(bowl), "");
  EXPECT_NE(refusal(sheet(0.02)).find("touches or intersects"), std::string::npos);
}

}  // namespace
}  // namespace diffsim::obstacle_bodies_test
