// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Indentation in plane strain: force, and its derivative with respect to the indenter's depth, with a growing contact
// area, on successively finer meshes.

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>

#include "contact/plane_contact.hpp"
#include "diffsim/core/loss.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim::indentation_test {
namespace {

/// Downward force of a contact term on a body at the last step, N.
class IndentationForce : public Loss {
 public:
  IndentationForce(const TetrahedralMesh& mesh, ContactTerm& term, int step, double dt)
      : mesh_(mesh), term_(term), step_(step), dt_(dt), upwards_(field("upwards")), spare_(field("spare")) {
    std::vector<double> ones(spare_.size(), 0.0);
    for (std::size_t i = 1; i < ones.size(); i += 3) ones[i] = -1.0;
    upwards_.from_host(ones);
  }
  bool observes(int n) const override { return n == step_; }
  double value(int n, const State& state, const ParameterSet& parameters) override {
    term_.prepare(parameters);
    spare_.fill(0.0);
    term_.add_force(at(n, state), parameters, spare_);
    return sum(spare_.to_host());
  }
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override {
    term_.prepare(parameters);
    spare_.fill(0.0);
    term_.add_force_tangent(at(n, state), {tangent["positions"]}, direction, spare_);
    return sum(spare_.to_host());
  }
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override {
    term_.prepare(parameters);
    term_.add_force_adjoint(at(n, state), upwards_, {adjoint["positions"]}, gradient);
  }

 private:
  Field field(const char* name) const { return {name, mesh_.vertex_entities(), 3}; }
  Configuration at(int n, const State& state) const { return {state["positions"], n - 1, nullptr, nullptr, n * dt_}; }
  static double sum(const std::vector<double>& forces) {
    double result = 0.0;
    for (std::size_t i = 1; i < forces.size(); i += 3) result -= forces[i];
    return result;
  }

  const TetrahedralMesh& mesh_;
  ContactTerm& term_;
  int step_;
  double dt_;
  Field upwards_, spare_;
};

struct Indentation {
  double force, stiffness;  ///< N; N/m, derivative of the force with respect to the depth
  std::int64_t touching;    ///< number of active pairs
};

/// Mesh of a body with a round top, 2 w wide, w high (w = `width`) and much thicker, of 2 n × n × 1 bricks. The cells
/// of the two halves are mirror images of each other.
MeshData round_top(int n, double width, double thickness, double radius) {
  MeshData half = box_mesh({width, 1.0, thickness}, {n, n, 1}, 0, 1);
  for (std::size_t i = 0; i < half.coordinates.size(); i += 3)
    half.coordinates[i + 1] *= width - 0.5 * half.coordinates[i] * half.coordinates[i] / radius;
  MeshData all;
  all.num_vertices = half.num_vertices;
  all.coordinates = half.coordinates;
  all.cells = half.cells;
  std::vector<std::int64_t> image;
  for (std::size_t i = 0; i < half.coordinates.size(); i += 3) {
    const double* const x = &half.coordinates[i];
    if (x[0] == 0.0) {
      image.push_back(static_cast<std::int64_t>(i / 3));
      continue;
    }
    image.push_back(all.num_vertices++);
    all.coordinates.insert(all.coordinates.end(), {-x[0], x[1], x[2]});
  }
  for (std::size_t cell = 0; cell < half.cells.size(); cell += 4)
    for (const std::size_t corner : {0, 2, 1, 3})
      all.cells.push_back(image[static_cast<std::size_t>(half.cells[cell + corner])]);
  all.num_cells = 2 * half.num_cells;
  return all;
}

/// Indentation by a plane, to the depth `down_by`, of the round body, 0.2 m wide and 0.1 m high.
Indentation press(int n, double down_by) {
  constexpr double width = 0.1, thickness = 100.0, radius = 0.2, range = 0.01;
  constexpr int steps = 3;
  const auto mesh = std::make_shared<TetrahedralMesh>(MPI_COMM_SELF, round_top(n, width, thickness, radius));
  const DifferentiableMaterial material{
      "neo_hookean", {{"youngs_modulus", 1e6}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"};
  DifferentiableSolver options{.dt = 1.0 / steps, .gravity = {0, 0, 0}, .integrator = Integrator::quasi_static};
  DifferentiableScene solver(mesh, {material}, options);
  solver.fix("all", {false, false, true});
  mesh->define_region("middle", BoxShape{{-1e-9, -1.0, -1.0}, {1e-9, 1.0, 2.0 * thickness}});
  solver.fix("middle", {true, false, false});
  mesh->define_region("foot", BoxShape{{-1.0, -1.0, -1.0}, {1.0, 1e-9, 2.0 * thickness}});
  solver.fix("foot", {false, true, false});
  ContactOptions contact{.barrier_distance = range, .barrier_stiffness = 1e4};
  const std::array<double, 3> down = {0.0, -1.0, 0.0};
  contact.planes.push_back(
      {.point = {0.0, width + range, 0.0}, .normal = down, .velocity = {0.0, -down_by - range, 0.0}});
  solver.add_contact(contact);

  const auto indenter = make_plane_contact(mesh, {.label = "0", .normal = down}, ContactForces::barrier);
  IndentationForce force(*mesh, *indenter, steps, options.dt);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"obstacle_position:0"});
  Indentation result{simulator.rollout(steps, 0, force), 0.0, 0};
  simulator.backward();
  result.stiffness = -simulator.gradient("obstacle_position:0").to_host().at(1);
  result.touching = solver.contact_state(steps, simulator.state()).active_pairs;
  return result;
}

TEST(indentation, force_and_stiffness_converge_at_second_order_with_the_mesh) {
  // Sums over vertices are trapezoidal rules. At the edge of the contact the pressure vanishes with zero slope. The
  // sums are then of second order if the barrier is so soft that the cells resolve this end. With a stiffer barrier the
  // pressure ends with a square root, as in Hertz's solution, and the order is 3/2. The derivative of the pressure with
  // respect to the depth ends with a kink. The error of a kink is h² times a function of its position between vertices,
  // so the order of the stiffness appears in the mean over several depths.
  const double depths[] = {4.2e-3, 5.0e-3, 5.7e-3, 6.5e-3};
  double squares[2] = {0.0, 0.0};
  for (const double down_by : depths) {
    const Indentation finest = press(48, down_by);
    double force[2], stiffness[2];
    for (int k = 0; k < 2; ++k) {
      const Indentation found = press(12 << k, down_by);
      force[k] = std::abs(found.force / finest.force - 1.0);
      stiffness[k] = std::abs(found.stiffness / finest.stiffness - 1.0);
      squares[k] += stiffness[k] * stiffness[k];
    }
    std::printf("%g m: %.6g N, off by %.5f, %.5f; %.6g N/m, off by %.5f, %.5f; %lld vertices in touch\n", down_by,
                finest.force, force[0], force[1], finest.stiffness, stiffness[0], stiffness[1],
                static_cast<long long>(finest.touching));
    EXPECT_LT(force[1], 7e-4);
    EXPECT_GT(force[0], 3.5 * force[1]);
  }
  // Second-order errors, relative to a mesh twice as fine as the finer one, decrease to a fifth if cells are halved.
  EXPECT_LT(std::sqrt(squares[0] / std::size(depths)), 6e-3);
  EXPECT_GT(std::sqrt(squares[0]), 3.5 * std::sqrt(squares[1]));
}

TEST(indentation, stiffness_is_the_slope_of_the_force_while_the_contact_widens) {
  const double step = 1e-6, shallow = 1e-3, deep = 6e-3;
  EXPECT_LT(press(8, shallow).touching, press(8, deep).touching);
  for (const double at : {shallow, deep}) {
    const double slope = (press(8, at + step).force - press(8, at - step).force) / (2.0 * step);
    EXPECT_NEAR(press(8, at).stiffness, slope, 1e-6 * slope);
  }
}

}  // namespace
}  // namespace diffsim::indentation_test
