// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Classes, arguments, defaults and methods that programs use: meshes from arrays, materials, time steppers, simulators,
// trajectories and losses that are functions of states.

#include "diffsim/simulation/simulator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "contact/parameters.hpp"
#include "data_folder.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/optimise.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "dynamics/parameters.hpp"

namespace diffsim::simulator_test {
namespace {

std::shared_ptr<TetrahedralMesh> bar() { return TetrahedralMesh::box(MPI_COMM_WORLD, {1.0, 0.2, 0.2}, {6, 2, 2}); }

DifferentiableSolver short_steps(const std::string& integrator = "symplectic_euler") {
  return {.dt = 0.002, .substeps = 4, .integrator = integrator_named(integrator)};
}

double difference(const Field& a, const Field& b) {
  const std::vector<double> x = a.to_host(), y = b.to_host();
  double largest = x.size() == y.size() ? 0.0 : INFINITY;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// ℓ(n, x) = Σ over owned vertices of n/2 |x|² + |v|².
double some_loss(int n, const State& state, State* gradient) {
  double sum = 0.0;
  for (const char* name : {"positions", "velocities"}) {
    std::vector<double> x = state[name].to_host();
    const double factor = name[0] == 'p' ? n : 2.0;
    x.resize(state["velocities"].size());
    for (const double value : x) sum += 0.5 * factor * value * value;
    if (!gradient) continue;
    std::vector<double> g = (*gradient)[name].to_host();
    for (std::size_t i = 0; i < x.size(); ++i) g[i] += factor * x[i];
    (*gradient)[name].from_host(g);
  }
  return sum;
}

TEST(simulator, defaults_are_the_documented_ones) {
  const DifferentiableSolver solver;
  EXPECT_EQ(solver.dt, 0.01);
  EXPECT_EQ(solver.substeps, 4);
  EXPECT_EQ(solver.damping, 0.99);
  EXPECT_EQ(solver.damping, DynamicsParameters::damping.default_value);
  EXPECT_EQ(solver.gravity, (std::array<double, 3>{0.0, -9.8, 0.0}));
  EXPECT_TRUE(solver.use_implicit_diff);
  EXPECT_EQ(DifferentiableSolver{.gravity = -1.6}.gravity, (std::array<double, 3>{0.0, -1.6, 0.0}));
  EXPECT_EQ((DifferentiableSolver{.gravity = {1.0, 2.0, 3.0}}.gravity), (std::array<double, 3>{1.0, 2.0, 3.0}));

  const ContactOptions contact;
  EXPECT_EQ(contact.barrier_distance, 1e-3);
  EXPECT_EQ(contact.barrier_stiffness, 1e6);
  EXPECT_FALSE(contact.adaptive_stiffness);
  EXPECT_EQ(contact.friction, 0.0);
  EXPECT_EQ(contact.friction_velocity, 1e-5);
  EXPECT_EQ(contact.friction_velocity, ContactParameters::friction_velocity.default_value);
  EXPECT_FALSE(contact.thickness.has_value());
  EXPECT_FALSE(contact.lagged_friction);
  EXPECT_FALSE(contact.self);
  EXPECT_TRUE(ContactPair().touch);

  const DifferentiableMaterial material(1e5, 0.4);
  EXPECT_EQ(material.model, "neo_hookean");
  EXPECT_EQ(std::get<double>(material.values.at("youngs_modulus")), 1e5);
  EXPECT_EQ(std::get<double>(material.values.at("poisson_ratio")), 0.4);
  EXPECT_FALSE(material.requires_grad);

  Simulator simulator(bar(), material);
  const std::vector<double> density = simulator.parameters().at("density").field.to_host();
  EXPECT_TRUE(std::all_of(density.begin(), density.end(), [](double rho) { return rho == 1000.0; }));
  Simulator heavier(bar(), material, {}, 2000.0);
  EXPECT_EQ(heavier.parameters().at("density").field.to_host().at(0), 2000.0);
}

TEST(simulator, defaults_of_joints_checkpoints_and_optimisers_are_the_documented_ones) {
  const Joint joint;
  EXPECT_EQ(joint.kind, JointKind::revolute);
  EXPECT_EQ(joint.other, "");
  EXPECT_EQ(joint.axis, (std::array<double, 3>{0.0, 0.0, 1.0}));
  EXPECT_EQ(joint.armature, 0.0);
  const JointDrive drive;
  EXPECT_EQ(drive.torque, std::vector<double>{0.0});
  EXPECT_EQ(drive.target, std::vector<double>{0.0});
  EXPECT_EQ(drive.stiffness, 0.0);
  EXPECT_EQ(drive.damping, 0.0);
  EXPECT_EQ(drive.friction, 0.0);
  EXPECT_EQ(drive.friction_velocity, 0.01);
  EXPECT_EQ(drive.limits, (std::array<double, 2>{-HUGE_VAL, HUGE_VAL}));
  const CheckpointOptions checkpoints;
  EXPECT_EQ(checkpoints.schedule, CheckpointSchedule::all);
  EXPECT_EQ(checkpoints.store, CheckpointStore::memory);
  EXPECT_EQ(checkpoints.every, 10);
  EXPECT_EQ(checkpoints.snapshots, 20);
  EXPECT_FALSE(checkpoints.memory.is_given());
  const OptimiserOptions optimiser;
  EXPECT_EQ(optimiser.method, Optimiser::lbfgs);
  EXPECT_EQ(optimiser.max_iterations, 50);
  EXPECT_EQ(optimiser.gradient_tolerance, 1e-8);
  const auto cube = TetrahedralMesh::create_cube(MPI_COMM_WORLD);
  EXPECT_EQ(cube->num_global_vertices(), 11 * 11 * 11);
  double largest = *std::max_element(cube->rest_positions().begin(), cube->rest_positions().end());
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
  EXPECT_EQ(largest, 1.0);
}

TEST(simulator, the_default_interval_of_checkpoints_is_the_documented_one) {
  const auto advances = [](auto... interval) {
    DifferentiableSimulator simulator(bar(), DifferentiableMaterial(1e5, 0.4, true), short_steps());
    simulator.set_fixed_vertices("x_min");
    simulator.rollout(25, interval...);
    simulator.backward(some_loss);
    return std::pair(simulator.statistics().stores, simulator.statistics().advances);
  };
  EXPECT_EQ(advances(), advances(10));
  EXPECT_NE(advances(), advances(9));
}

TEST(simulator, meshes_come_from_arrays_and_cubes) {
  const MeshData data = box_mesh({1.0, 1.0, 1.0}, {3, 3, 3}, 0, 1);
  std::vector<std::array<double, 3>> vertices;
  std::vector<std::array<int, 4>> tets;
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3)
    vertices.push_back({data.coordinates[i], data.coordinates[i + 1], data.coordinates[i + 2]});
  for (std::size_t i = 0; i < data.cells.size(); i += 4)
    tets.push_back({static_cast<int>(data.cells[i]), static_cast<int>(data.cells[i + 1]),
                    static_cast<int>(data.cells[i + 2]), static_cast<int>(data.cells[i + 3])});
  const TetrahedralMesh mesh(MPI_COMM_WORLD, vertices, tets);
  const auto cube = TetrahedralMesh::create_cube(MPI_COMM_WORLD, 3);
  EXPECT_EQ(mesh.num_global_vertices(), 64);
  EXPECT_EQ(mesh.fingerprint(), cube->fingerprint());

  const std::vector<std::int64_t> of_vertices = vertex_numbers(mesh), of_cells = cell_numbers(mesh);
  ASSERT_EQ(of_vertices.size(), static_cast<std::size_t>(mesh.num_vertices()));
  ASSERT_EQ(of_cells.size(), static_cast<std::size_t>(mesh.num_cells()));
  for (std::size_t v = 0; v < of_vertices.size(); ++v)
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_EQ(mesh.rest_positions()[3 * v + c], vertices[static_cast<std::size_t>(of_vertices[v])][c]);
  for (std::size_t cell = 0; cell < of_cells.size(); ++cell)
    for (std::size_t k = 0; k < 4; ++k)
      EXPECT_EQ(of_vertices[static_cast<std::size_t>(mesh.cells()[4 * cell + k])],
                tets[static_cast<std::size_t>(of_cells[cell])][k]);

  std::swap(tets[5][0], tets[5][1]);
  EXPECT_NE(message_of([&] { TetrahedralMesh(MPI_COMM_WORLD, vertices, tets); }).find("cell 5"), std::string::npos);
}

TEST(simulator, meshes_come_from_files) {
  const auto gripper =
      TetrahedralMesh::from_file(MPI_COMM_WORLD, DIFFSIM_SOURCE_DIR "/examples/quickstart/gripper.msh");
  EXPECT_EQ(gripper->num_global_cells(), 5292);
  EXPECT_EQ(gripper->region("stiff").num_cells, 3204);
  EXPECT_EQ(gripper->region("soft").num_cells, 2088);
  EXPECT_GT(gripper->region("clamp").num_vertices, 0);
  if (const auto link = testing_data::meshes_folder() / "link.msh"; std::filesystem::exists(link)) {
    EXPECT_GT(TetrahedralMesh::from_file(MPI_COMM_WORLD, link.string())->num_global_cells(), 0);
  }
}

TEST(simulator, steps_are_those_of_a_rollout_and_of_its_trajectory) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    Simulator plain(bar(), DifferentiableMaterial(1e5, 0.4), short_steps(integrator));
    DifferentiableSimulator simulator(bar(), {DifferentiableMaterial(1e5, 0.4)}, short_steps(integrator));
    for (Simulator* each : {&plain, static_cast<Simulator*>(&simulator)}) each->set_fixed_vertices("x_min");
    std::vector<Field> observed;
    Trajectory trajectory = simulator.rollout(7, 3, [&](int n, const State& state) {
      EXPECT_EQ(n, static_cast<int>(observed.size()));
      observed.push_back(state["positions"].clone());
    });
    ASSERT_EQ(observed.size(), 8U);
    EXPECT_EQ(trajectory.num_steps(), 7);
    EXPECT_DOUBLE_EQ(trajectory.time(7), 0.014);
    EXPECT_EQ(simulator.step_number(), 7);
    std::vector<Field> expected;
    for (int n = 0; n <= 7; ++n) {
      EXPECT_EQ(plain.step_number(), n);
      EXPECT_DOUBLE_EQ(plain.time(), 0.002 * n);
      EXPECT_EQ(difference(trajectory.state(n)["positions"], plain.positions()), 0.0) << integrator << ", " << n;
      EXPECT_EQ(difference(trajectory.state(n)["velocities"], plain.velocities()), 0.0) << integrator << ", " << n;
      EXPECT_EQ(difference(observed[static_cast<std::size_t>(n)], plain.positions()), 0.0) << integrator << ", " << n;
      expected.push_back(plain.positions().clone());
      if (n < 7) plain.step();
    }
    for (const int n : {5, 1, 4, 0, 7, 6})
      EXPECT_EQ(difference(trajectory.state(n)["positions"], expected[static_cast<std::size_t>(n)]), 0.0) << n;
    EXPECT_GT(difference(expected[7], expected[0]), 1e-4);
    EXPECT_NE(message_of([&] { trajectory.state(8); }), "");

    plain.reset();
    EXPECT_EQ(plain.time(), 0.0);
    EXPECT_EQ(difference(plain.positions(), expected[0]), 0.0);
  }
}

TEST(simulator, rollouts_without_gradients_are_those_with_gradients) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    Simulator plain(bar(), DifferentiableMaterial(1e5, 0.4), short_steps(integrator));
    DifferentiableSimulator simulator(bar(), DifferentiableMaterial(1e5, 0.4, true), short_steps(integrator));
    for (Simulator* each : {&plain, static_cast<Simulator*>(&simulator)}) each->set_fixed_vertices("x_min");
    std::vector<int> observed;
    Trajectory states = plain.rollout(7, 3, [&](int n, const State&) { observed.push_back(n); });
    EXPECT_EQ(observed, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(plain.step_number(), 7);
    EXPECT_EQ(difference(states.state(7)["positions"], plain.positions()), 0.0);
    // A rollout through the base class records the steps, too.
    Trajectory expected = static_cast<Simulator&>(simulator).rollout(7, 3);
    for (const int n : {7, 0, 5, 1, 4, 3, 6, 2})
      for (const char* field : {"positions", "velocities"})
        EXPECT_EQ(difference(states.state(n)[field], expected.state(n)[field]), 0.0) << integrator << ", " << n;
    EXPECT_GT(simulator.backward(some_loss), 0.0);
    plain.step();
    EXPECT_EQ(plain.step_number(), 8);
    EXPECT_EQ(difference(plain.rollout(0).state(0)["positions"], expected.state(0)["positions"]), 0.0);
    EXPECT_NE(message_of([&] { plain.rollout(-1); }), "");
    EXPECT_NE(message_of([&] { plain.rollout(3, 0); }), "");
  }
}

TEST(simulator, gradients_of_functions_of_states_are_those_that_differences_have) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    const auto make = [&](double youngs_modulus) {
      auto simulator = std::make_unique<DifferentiableSimulator>(
          bar(), DifferentiableMaterial(youngs_modulus, 0.4, true), short_steps(integrator));
      simulator->set_fixed_vertices("x_min");
      return simulator;
    };
    const auto loss_at = [&](double youngs_modulus) {
      const auto simulator = make(youngs_modulus);
      Trajectory trajectory = simulator->rollout(12, 5);
      double loss = 0.0;
      for (int n = 0; n <= 12; ++n) loss += some_loss(n, trajectory.state(n), nullptr);
      return sum_over_ranks(loss, MPI_COMM_WORLD);
    };
    const auto simulator = make(1e5);
    simulator->rollout(12, 5);
    const double value = simulator->backward(some_loss);
    EXPECT_NEAR(value, loss_at(1e5), 1e-13 * value);
    const double slope = sum_over_ranks(local_sum(simulator->gradient("youngs_modulus"))[0], MPI_COMM_WORLD);
    const double h = 500.0;
    const double expected =
        (8.0 * (loss_at(1e5 + h) - loss_at(1e5 - h)) - (loss_at(1e5 + 2.0 * h) - loss_at(1e5 - 2.0 * h))) / (12.0 * h);
    EXPECT_NEAR(slope, expected, 1e-7 * std::abs(expected)) << integrator;
    EXPECT_TRUE(simulator->gradient().find("poisson_ratio"));
    EXPECT_NE(message_of([&] { simulator->backward(some_loss); }), "") << "a second reverse sweep of one rollout";
  }
}

TEST(simulator, a_loss_may_be_chosen_before_or_after_the_rollout) {
  const auto mesh = bar();
  DifferentiableSimulator simulator(mesh, DifferentiableMaterial(1e5, 0.4, true), short_steps());
  simulator.set_fixed_vertices("x_min");
  TargetPositionLoss loss(*mesh, mesh->region("x_max"), {1.0, 0.1, 0.1}, 10);
  const double before = simulator.rollout(10, 4, loss);
  simulator.backward();
  const Field gradient = simulator.gradient("youngs_modulus").clone();
  const Field initial = simulator.initial_gradient()["positions"].clone();
  EXPECT_NE(message_of([&] { simulator.backward(); }).find("already reversed"), std::string::npos);
  EXPECT_EQ(difference(simulator.gradient("youngs_modulus"), gradient), 0.0);
  EXPECT_EQ(difference(simulator.initial_gradient()["positions"], initial), 0.0);
  Trajectory trajectory = simulator.rollout(10, 4);
  EXPECT_DOUBLE_EQ(simulator.backward(loss), before);
  EXPECT_EQ(difference(simulator.gradient("youngs_modulus"), gradient), 0.0);
  const Field end = simulator.positions().clone();
  simulator.rollout(10, 4, loss);
  simulator.backward();
  EXPECT_EQ(difference(simulator.positions(), end), 0.0) << "the reverse sweep changes the state";
  // The trajectory keeps its checkpoints.
  EXPECT_EQ(difference(trajectory.state(10)["positions"], simulator.positions()), 0.0);
  EXPECT_GT(difference(trajectory.state(3)["positions"], simulator.positions()), 0.0);
}

/// The sweep repeats steps, which must not use other parameters than the rollout.
TEST(simulator, changed_parameters_need_another_rollout) {
  DifferentiableSimulator simulator(bar(), DifferentiableMaterial(1e5, 0.4, true), short_steps());
  simulator.set_fixed_vertices("x_min");
  const std::string expected = "a parameter or the fixed vertices may have changed since the rollout";
  Trajectory trajectory = simulator.rollout(10, 4);
  Field& stiffness = simulator.parameters().at("youngs_modulus").field;
  EXPECT_NO_THROW(trajectory.state(3));
  // A change on one rank is a change.
  if (rank_of(MPI_COMM_WORLD) == num_ranks(MPI_COMM_WORLD) - 1) stiffness.fill(2e5);
  EXPECT_NE(message_of([&] { simulator.backward(some_loss); }).find(expected), std::string::npos);
  EXPECT_NE(message_of([&] { trajectory.state(2); }).find(expected), std::string::npos);
  EXPECT_NO_THROW(trajectory.state(4));  // a checkpoint
  EXPECT_NO_THROW(trajectory.state(10));
  stiffness.fill(2e5);
  simulator.rollout(10, 4);
  EXPECT_GT(simulator.backward(some_loss), 0.0);
}

TEST(simulator, fixed_vertices_need_another_rollout) {
  DifferentiableSimulator simulator(bar(), DifferentiableMaterial(1e5, 0.4, true), short_steps());
  simulator.set_fixed_vertices("x_min");
  Trajectory trajectory = simulator.rollout(10, 4);
  simulator.set_fixed_vertices("x_max");
  EXPECT_NE(message_of([&] { simulator.backward(some_loss); }), "");
  EXPECT_NE(message_of([&] { trajectory.state(2); }), "");
  simulator.rollout(10, 4);
  EXPECT_GT(simulator.backward(some_loss), 0.0);
}

/// The reverse sweep begins at the state at which the rollout ended, with the gradient that was requested before.
TEST(simulator, steps_and_other_gradients_need_another_rollout) {
  DifferentiableSimulator simulator(bar(), DifferentiableMaterial(1e5, 0.4, true), short_steps());
  simulator.set_fixed_vertices("x_min");
  TargetPositionLoss loss(*simulator.scene().mesh(), simulator.scene().mesh()->region("x_max"), {1.0, 0.1, 0.1}, 10);
  simulator.rollout(10, 4, loss);
  simulator.step();
  EXPECT_NE(message_of([&] { simulator.backward(); }), "");
  simulator.rollout(10, 4, loss);
  simulator.require_gradient({"density"});
  EXPECT_NE(message_of([&] { simulator.backward(); }), "");
  simulator.rollout(10, 4, loss);
  simulator.backward();
  EXPECT_NE(sum_over_ranks(local_sum(simulator.gradient("density"))[0], MPI_COMM_WORLD), 0.0);
}

/// The matrix of implicit steps is prepared for the fixed vertices.
TEST(simulator, vertices_may_be_fixed_after_steps) {
  const auto end = [](bool steps_before) {
    Simulator simulator(bar(), DifferentiableMaterial(1e5, 0.4), short_steps("implicit_euler"));
    simulator.set_fixed_vertices("x_min");
    if (steps_before) simulator.step();
    simulator.reset();
    simulator.set_fixed_vertices("x_max");
    for (int n = 0; n < 3; ++n) simulator.step();
    return simulator.positions().clone();
  };
  EXPECT_EQ(difference(end(true), end(false)), 0.0);
}

TEST(simulator, vertices_may_be_fixed_through_the_system_after_steps) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    const auto end = [&](bool steps_before) {
      Simulator simulator(bar(), DifferentiableMaterial(1e5, 0.4), short_steps(integrator));
      simulator.set_fixed_vertices("x_min");
      if (steps_before) simulator.step();
      simulator.reset();
      DifferentiableScene& scene = simulator.scene();
      scene.system().fix(scene.mesh()->region("x_max").vertices, {true, true, true});
      for (int n = 0; n < 3; ++n) simulator.step();
      return simulator.positions().clone();
    };
    EXPECT_EQ(difference(end(true), end(false)), 0.0) << integrator;
  }
  DifferentiableSimulator simulator(bar(), DifferentiableMaterial(1e5, 0.4, true), short_steps());
  Trajectory trajectory = simulator.rollout(10, 4);
  simulator.scene().system().fix(simulator.scene().mesh()->region("x_max").vertices, {true, true, true});
  EXPECT_NE(message_of([&] { simulator.backward(some_loss); }), "");
  EXPECT_NE(message_of([&] { trajectory.state(2); }), "");
}

TEST(simulator, vertices_are_fixed_by_their_numbers) {
  Simulator simulator(bar(), DifferentiableMaterial(1e5, 0.4), short_steps()),
      by_region(bar(), DifferentiableMaterial(1e5, 0.4), short_steps());
  std::vector<std::int64_t> at_end;  // x is fastest: 7 vertices a row
  for (std::int64_t v = 0; v < 63; v += 7) at_end.push_back(v);
  simulator.set_fixed_vertices(at_end);
  by_region.set_fixed_vertices("x_min");
  for (int n = 0; n < 5; ++n) {
    simulator.step();
    by_region.step();
  }
  EXPECT_EQ(difference(simulator.positions(), by_region.positions()), 0.0);
}

TEST(simulator, a_changed_parameter_counts_from_the_next_step_on) {
  Simulator simulator(bar(), DifferentiableMaterial(1e5, 0.4), short_steps()),
      stiffer(bar(), DifferentiableMaterial(2e5, 0.4), short_steps());
  simulator.step();
  simulator.parameters().at("youngs_modulus").field.fill(2e5);
  simulator.reset();
  for (int n = 0; n < 3; ++n) {
    simulator.step();
    stiffer.step();
  }
  EXPECT_EQ(difference(simulator.positions(), stiffer.positions()), 0.0);
}

/// Term without forces that counts how often its system is prepared.
class CountingTerm final : public ForceTerm {
 public:
  explicit CountingTerm(int& count) : count_(count) {}
  std::string name() const override { return "counting"; }
  void prepare(const ParameterSet&) override { ++count_; }
  double energy(const Configuration&, const ParameterSet&) override { return 0.0; }
  void add_force(const Configuration&, const ParameterSet&, Field&) override {}
  void add_force_tangent(const Configuration&, const ConfigurationTangent&, const ParameterSet&, Field&) override {}
  void add_force_adjoint(const Configuration&, const Field&, const ConfigurationAdjoint&, ParameterSet&) override {}
  void add_jacobian(const Configuration&, const ParameterSet&, const JacobianWeights&, BlockMatrix&) override {}

 private:
  int& count_;
};

TEST(simulator, a_parameter_changed_through_a_kept_reference_counts_from_the_next_step_on) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    const DifferentiableSolver solver{
        .dt = 0.002, .substeps = 4, .gravity = 0.0, .integrator = integrator_named(integrator)};
    Simulator simulator(bar(), DifferentiableMaterial(1e5, 0.4), solver),
        expected(bar(), DifferentiableMaterial(1e5, 0.4), solver);
    int prepared = 0;
    simulator.scene().system().add_term(std::make_unique<CountingTerm>(prepared));
    for (Simulator* each : {&simulator, &expected}) each->set_fixed_vertices("x_min");
    // Without forces, a body at rest stays at rest, regardless of its stiffness.
    Field& gravity = simulator.parameters().at("gravity").field;
    Field& stiffness = simulator.parameters().at("youngs_modulus").field;
    const auto change = [&](Field& g, Field& E) {
      g.from_host({0.0, 0.0, 9.0});
      if (rank == 0) E.fill(3e5);
    };
    change(expected.parameters().at("gravity").field, expected.parameters().at("youngs_modulus").field);
    simulator.step();
    EXPECT_EQ(prepared, 1);
    gravity.from_host({0.0, 0.0, 0.0});
    simulator.step();
    EXPECT_EQ(prepared, 2);
    change(gravity, stiffness);
    for (int n = 0; n < 3; ++n) {
      simulator.step();
      expected.step();
    }
    EXPECT_EQ(prepared, 3) << "steps without changes of parameters prepare the scene again";
    EXPECT_LE(difference(simulator.positions(), expected.positions()), 1e-14) << integrator;
    // A change on one rank alone prepares the scene on all ranks.
    if (rank == 0) stiffness.fill(1e4);
    simulator.step();
    EXPECT_EQ(prepared, 4);
  }
}

TEST(simulator, terms_added_after_steps_are_prepared) {
  for (const char* integrator : {"symplectic_euler", "implicit_euler"}) {
    Simulator simulator(bar(), DifferentiableMaterial(1e5, 0.4), short_steps(integrator));
    simulator.set_fixed_vertices("x_min");
    simulator.step();
    int prepared = 0;
    simulator.scene().system().add_term(std::make_unique<CountingTerm>(prepared));
    simulator.step();
    EXPECT_EQ(prepared, 1) << integrator;
    simulator.step();
    EXPECT_EQ(prepared, 1) << integrator;
  }
}

TEST(simulator, a_scene_of_several_bodies_is_that_of_a_simulator) {
  const auto bodies = [] {
    const DifferentiableMaterial soft("neo_hookean",
                                      {{"youngs_modulus", 2e4}, {"poisson_ratio", 0.3}, {"density", 700.0}});
    return std::vector<Body>{{"left", cube_mesh(MPI_COMM_WORLD, 2, 0.1), soft, {}},
                             {"right", cube_mesh(MPI_COMM_WORLD, 2, 0.1), soft, {.translate = {0.3, 0.0, 0.0}}}};
  };
  DifferentiableScene scene(MPI_COMM_WORLD, bodies(), short_steps());
  EXPECT_EQ(scene.mesh()->region("right/all").num_vertices, 27);
  Simulator of_scene(scene), of_bodies(MPI_COMM_WORLD, bodies(), short_steps());
  for (Simulator* each : {&of_scene, &of_bodies}) {
    each->set_fixed_vertices("left/x_min");
    for (int n = 0; n < 3; ++n) each->step();
  }
  EXPECT_EQ(difference(of_scene.positions(), of_bodies.positions()), 0.0);
}

TEST(simulator, several_bodies_are_a_list_of_meshes_and_materials) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto cube = [&] { return box_mesh({0.1, 0.1, 0.1}, {2, 2, 2}, rank, ranks); };
  DifferentiableMaterial light(2e4, 0.3),
      stiff("stable_neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.4}, {"density", 500.0}});
  light.requires_grad = true;
  DifferentiableSimulator simulator(
      MPI_COMM_WORLD, {{"left", cube(), light, {}}, {"right", cube(), stiff, {.translate = {0.3, 0.0, 0.0}}}},
      {.dt = 0.002, .substeps = 4}, 700.0);
  const TetrahedralMesh& mesh = *simulator.scene().mesh();
  ASSERT_EQ(mesh.bodies().size(), 2U);
  EXPECT_EQ(mesh.num_global_cells(), 96);
  EXPECT_EQ(mesh.region("right/x_min").num_vertices, 9);
  simulator.set_fixed_vertices("left/x_min");
  simulator.rollout(5, 2);
  simulator.backward([](int n, const State& state, State* gradient) { return some_loss(n, state, gradient); });
  // Only the cells of the left body have this material's density; the right body falls freely.
  const auto value_in = [&](const char* parameter, const char* region) {
    const Field& field = simulator.parameters().at(parameter).field;
    const std::vector<double> values = field.to_host();
    double largest = 0.0;
    for (const int cell : mesh.region(region).cells)
      largest = std::max(largest, values[static_cast<std::size_t>(cell)]);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest;
  };
  EXPECT_EQ(value_in("density", "left/all"), 700.0);
  EXPECT_EQ(value_in("density", "right/all"), 500.0);
  EXPECT_EQ(value_in("youngs_modulus", "left/all"), 2e4);
  const auto speed_of = [&](const char* region) {
    const std::vector<double> v = simulator.velocities().to_host();
    double lowest = 0.0;
    for (const int vertex : mesh.region(region).vertices)
      if (vertex < mesh.num_owned_vertices()) lowest = std::min(lowest, v[3 * static_cast<std::size_t>(vertex) + 1]);
    MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    return lowest;
  };
  double falling = 0.0;
  for (int n = 0; n < 20; ++n) falling = 0.99 * (falling - 9.8 * 0.0005);
  EXPECT_NEAR(speed_of("right/all"), falling, 1e-10);
  EXPECT_EQ(speed_of("left/x_min"), 0.0);
  EXPECT_NE(message_of([&] { Simulator(MPI_COMM_WORLD, {{"a|b", cube(), light, {}}}); }), "");
}

TEST(simulator, a_device_that_the_build_lacks_is_refused) {
  const DifferentiableMaterial material(1e5, 0.4);
  const std::string message = message_of([&] { Simulator(bar(), material, {}, 1000.0, "tpu"); });
  EXPECT_NE(message.find("device 'tpu' is not available"), std::string::npos) << message;
  int accepted = 0;
  for (const char* device : {"cpu", "cuda", "hip"})
    accepted += message_of([&] { Simulator(bar(), material, {}, 1000.0, device); }).empty();
  EXPECT_EQ(accepted, 1);
}

TEST(simulator, newton_is_differentiated_as_executed_on_request) {
  const auto gradient_of = [&](bool use_implicit_diff) {
    DifferentiableSolver solver = short_steps("implicit_euler");
    solver.use_implicit_diff = use_implicit_diff;
    const auto mesh = bar();
    DifferentiableSimulator simulator(mesh, DifferentiableMaterial(1e5, 0.4, true), solver);
    simulator.set_fixed_vertices("x_min");
    TargetPositionLoss loss(*mesh, mesh->region("x_max"), {1.0, 0.1, 0.1}, 3);
    simulator.rollout(3);
    simulator.backward(loss);
    return simulator.gradient("youngs_modulus").clone();
  };
  const Field implicit = gradient_of(true), unrolled = gradient_of(false);
  double largest = 0.0;
  for (const double g : implicit.to_host()) largest = std::max(largest, std::abs(g));
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  EXPECT_GT(difference(implicit, unrolled), 0.0);
  EXPECT_LT(difference(implicit, unrolled), 1e-6 * largest);
}

}  // namespace
}  // namespace diffsim::simulator_test
