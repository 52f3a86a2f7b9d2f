// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Gradients of whole rollouts by every parameter, with every integrator, in every state of contact, each by itself
// against differences of eighth order of rollouts that each rank takes alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "simulation/contact_blocks.hpp"

namespace diffsim {
namespace {

using namespace testing_contact;

constexpr int num_steps = 2;

enum class Touch { nothing, plane, surfaces };

struct Case {
  std::string integrator;
  Touch touch;
  double friction;
};

/// Two blocks, the lower one on a foot that is held, the upper one hung on a lid that moves and turns, nearer to each
/// other than d̂; and an obstacle at their side that moves and turns, a plane or a sheet of two triangles.
DifferentiableSolver make_solver(const Case& which, MPI_Comm comm) {
  const auto mesh = make_mesh(
      {{{0.1, 0.05, 0.1}, {2, 1, 1}, {0.0, 0.0, 0.0}}, {{0.1, 0.05, 0.1}, {1, 1, 1}, {0.013, 0.06, 0.017}, 0.4}}, comm);
  mesh->define_region("foot", BoxShape{{-1.0, -1.0, -1.0}, {1.0, 0.001, 1.0}});
  mesh->define_region("shelf", BoxShape{{-1.0, 0.049, -1.0}, {1.0, 0.051, 1.0}});
  mesh->define_region("lid", BoxShape{{-1.0, 0.109, -1.0}, {1.0, 1.0, 1.0}});
  const bool is_explicit = is_explicit_integrator(which.integrator);
  SolverOptions options{.dt = is_explicit ? 3e-3 : 8e-3,
                        .substeps = 3,
                        .damping = 0.98,
                        .gravity = {0.7, -9.8, 1.1},
                        .integrator = which.integrator};
  options.implicit.newton.tolerance = 1e-13;
  options.implicit.newton.max_cuts = 1;  // far from the parameters as they are, steps fail, and had better fail soon
  options.implicit.linear.tolerance = 1e-13;
  DifferentiableMaterial rubber{"stable_neo_hookean",
                                {{"youngs_modulus", 5e4},
                                 {"poisson_ratio", 0.3},
                                 {"density", 1000.0},
                                 {"viscosity", 60.0},
                                 {"bulk_viscosity", 150.0},
                                 {"rayleigh_damping", 15.0},
                                 {"drag", 2e4}},
                                "all"};
  DifferentiableSolver solver(mesh, {rubber}, options);
  solver.fix("foot");
  solver.move("lid", {0.2, 1.0, 0.1}, {0.06, 0.1, 0.07}, {1.5}, {0.1, -0.2, 0.05});
  solver.add_traction("shelf", {400.0, -200.0, 300.0});
  std::vector<double> load, velocity;
  for (int v = 0; v < mesh->num_owned_vertices(); ++v) {
    const double* X = &mesh->rest_positions()[3 * static_cast<std::size_t>(v)];
    load.insert(load.end(), {0.02 * X[1], 0.05, -0.01});
    velocity.insert(velocity.end(), {0.2 * X[1], X[1] > 0.055 ? -0.2 : 0.1, 0.1 * X[0]});
  }
  solver.add_nodal_load(load);
  solver.set_initial_velocity(velocity);
  if (which.touch == Touch::nothing) return solver;

  ContactOptions contact = soft(which.touch == Touch::surfaces);
  contact.barrier_stiffness = 4e3;
  contact.friction_velocity = 0.5;  // above how fast anything slides, so that it matters
  contact.friction = which.friction;
  const Rotation rotation{{0.2, 0.9, 0.3}, {-0.02, 0.05, 0.03}, 1.0};
  if (which.touch == Touch::plane)
    contact.planes.push_back({.point = {-0.005, 0.0, 0.0},
                              .normal = {1.0, 0.05, 0.03},
                              .velocity = {0.05, 0.0, 0.02},
                              .rotation = rotation});
  if (which.touch == Touch::surfaces) {
    MeshObstacle sheet;
    sheet.mesh.vertices = {{-0.008, -0.1, -0.2}, {-0.009, 0.3, -0.2}, {-0.007, 0.1, 0.3}, {-0.5, 0.1, 0.1}};
    sheet.mesh.triangles = {{0, 1, 2}, {0, 3, 1}};
    sheet.velocity = {0.05, 0.0, 0.02};
    sheet.rotation = rotation;
    contact.meshes.push_back(sheet);
  }
  solver.add_contact(contact);
  return solver;
}

std::vector<std::string> names_for(const Case& which) {
  std::vector<std::string> names{"youngs_modulus", "poisson_ratio",     "density",
                                 "viscosity",      "bulk_viscosity",    "rayleigh_damping",
                                 "drag",           "gravity",           "nodal_load",
                                 "traction:shelf", "velocity:lid",      "angular_velocity:lid",
                                 "rest_positions", "initial_positions", "initial_velocities"};
  if (which.integrator == "quasi_static") std::erase(names, "initial_velocities");
  for (const char* damped : {"symplectic_euler", "explicit_euler"})
    if (which.integrator == damped) names.emplace_back("damping");
  if (which.touch != Touch::nothing)
    names.insert(names.end(), {"barrier_distance", "barrier_stiffness", "obstacle_position:0", "obstacle_velocity:0",
                               "obstacle_angular_velocity:0"});
  if (which.friction > 0.0) names.insert(names.end(), {"friction", "friction_velocity"});
  return names;
}

/// Σₙ Σᵢ wᵢ (d + 2 d²), d = x - X in each component at every step n, w a wave over the body: nothing cancels, and
/// values are as small as displacements.
class Wave : public Loss {
 public:
  explicit Wave(const TetrahedralMesh& mesh)
      : rest_(mesh.rest_positions().begin(), mesh.rest_positions().begin() + 3 * mesh.num_owned_vertices()) {
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const double* X = &rest_[3 * (i / 3)];
      weight_.push_back(std::cos(19.0 * X[0] + 27.0 * X[1] - 14.0 * X[2] + 1.1 * static_cast<double>(i % 3)));
    }
  }
  bool observes(int n) const override { return n > 0; }
  double value(int, const State& state, const ParameterSet&) override {
    const std::vector<double> x = state["positions"].to_host();
    double sum = 0.0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const double d = x[i] - rest_[i];
      sum += weight_[i] * (d + 2.0 * d * d);
    }
    return sum;
  }
  double tangent(int, const State&, const ParameterSet&, const State&, const ParameterSet&) override {
    throw Error("not needed here");
  }
  void add_gradient(int, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) override {
    const std::vector<double> x = state["positions"].to_host();
    std::vector<double> sum = adjoint["positions"].to_host();
    for (std::size_t i = 0; i < rest_.size(); ++i) sum[i] += weight_[i] * (1.0 + 4.0 * (x[i] - rest_[i]));
    adjoint["positions"].from_host(sum);
  }

 private:
  std::vector<double> rest_, weight_;
};

/// Where the entries of x[0] named so are, or nullptr.
const char* field_of_start(const std::string& name) {
  return name == "initial_positions" ? "positions" : name == "initial_velocities" ? "velocities" : nullptr;
}

/// A direction in one parameter, the same on any number of ranks: waves over the places of its entries, of its size.
std::vector<double> direction_of(DifferentiableSolver& solver, const std::string& name) {
  const TetrahedralMesh& mesh = *solver.mesh();
  const char* const in_start = field_of_start(name);
  const State start = solver.initial_state();
  const Field& field = in_start ? start[in_start] : solver.parameters().at(name).field;
  const auto components = static_cast<std::size_t>(field.components());
  const std::vector<double> values = field.to_host();
  double size = 0.0;
  for (const double value : values) size = std::max(size, std::abs(value));
  MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_DOUBLE, MPI_MAX, mesh.comm());
  if (size == 0.0) size = 0.1;
  std::vector<double> direction(values.size());
  for (std::size_t i = 0; i < direction.size(); ++i) {
    const std::size_t entry = i / components;
    double place[3] = {0.0, 0.0, 0.0};
    if (field.on().name() == "cells") {
      for (std::size_t corner = 0; corner < 4; ++corner)
        for (std::size_t c = 0; c < 3; ++c)
          place[c] += 0.25 * mesh.rest_positions()[3 * static_cast<std::size_t>(mesh.cells()[4 * entry + corner]) + c];
    } else if (!field.on().is_one_for_all()) {
      for (std::size_t c = 0; c < 3; ++c) place[c] = mesh.rest_positions()[3 * entry + c];
    }
    direction[i] = size * (1.0 + 0.5 * std::sin(29.0 * place[0] - 13.0 * place[1] + 37.0 * place[2] +
                                                1.7 * static_cast<double>(i % components)));
  }
  return direction;
}

/// Gives a field its values back in the end.
class Restored {
 public:
  explicit Restored(Field& field) : field_(field), values_(field.to_host()) {}
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;
  ~Restored() { field_.from_host(values_); }

 private:
  Field& field_;
  std::vector<double> values_;
};

/// The loss of rollouts of one solver with one parameter moved.
class Rollouts {
 public:
  Rollouts(const Case& which, MPI_Comm comm) : solver_(make_solver(which, comm)), loss_(*solver_.mesh()) {}

  double loss(const std::string& name, const std::vector<double>& direction, double h) {
    State state = solver_.initial_state();
    const char* const in_start = field_of_start(name);
    Field& field = in_start ? state[in_start] : solver_.parameters().at(name).field;
    const Restored restored(field);
    std::vector<double> moved = field.to_host();
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += h * direction[i];
    field.from_host(moved);
    solver_.model().prepare();
    double sum = 0.0;
    for (int n = 0; n < num_steps; ++n) {
      solver_.step(n, state);
      sum += loss_.value(n + 1, state, solver_.parameters());
    }
    return sum;
  }
  DifferentiableSolver& solver() { return solver_; }

 private:
  DifferentiableSolver solver_;
  Wave loss_;
};

struct Difference {
  double value = 0.0;
  double error = std::numeric_limits<double>::infinity();
};

/// Central differences at h, h/2, h/4, h/8 extrapolated to eighth order; the error is told from what one order less
/// gives, both with and without the largest step. Smaller h are tried while the error is too much: kinks of higher
/// derivatives, as contact has them, may lie near, and rollouts fail farther out.
template <class Function>
Difference differentiate(const Function& f) {
  Difference best;
  for (double h = 0.05; h > 1e-6 && best.error > 1e-9 * std::abs(best.value); h *= 0.2) {
    double table[4][4];
    for (int i = 0; i < 4; ++i) {
      const double step = h / (1 << i);
      table[i][0] = (f(step) - f(-step)) / (2.0 * step);
      for (int k = 1; k <= i; ++k)
        table[i][k] = table[i][k - 1] + (table[i][k - 1] - table[i - 1][k - 1]) / (std::pow(4.0, k) - 1.0);
    }
    const double error = std::max(std::abs(table[3][3] - table[3][2]), std::abs(table[3][3] - table[2][2]));
    if (error < best.error) best = {table[3][3], error};
  }
  return best;
}

/// Differences of the loss by every parameter; ranks share the work, each with a body of its own.
std::vector<Difference> differences(const Case& which, const std::vector<std::string>& names) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Rollouts alone(which, MPI_COMM_SELF);
  std::vector<double> flat(2 * names.size(), 0.0);
  for (std::size_t k = static_cast<std::size_t>(rank); k < names.size(); k += static_cast<std::size_t>(ranks())) {
    const std::vector<double> direction = direction_of(alone.solver(), names[k]);
    const Difference result = differentiate([&](double h) {
      try {
        return alone.loss(names[k], direction, h);
      } catch (const Error&) {
        return std::numeric_limits<double>::quiet_NaN();
      }
    });
    flat[2 * k] = result.value;
    flat[2 * k + 1] = result.error;
  }
  MPI_Allreduce(MPI_IN_PLACE, flat.data(), static_cast<int>(flat.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::vector<Difference> all;
  for (std::size_t k = 0; k < names.size(); ++k) all.push_back({flat[2 * k], flat[2 * k + 1]});
  return all;
}

/// Of the states that the steps end with.
std::int64_t most_active_pairs(DifferentiableSolver& solver) {
  solver.model().prepare();
  State state = solver.initial_state();
  std::int64_t most = 0;
  for (int n = 0; n < num_steps; ++n) {
    solver.step(n, state);
    most = std::max(most, solver.contact_state(n + 1, state).active_pairs);
  }
  return most;
}

class EveryParameter : public testing::TestWithParam<Case> {};

TEST_P(EveryParameter, has_the_slope_that_differences_have) {
  const Case& which = GetParam();
  const std::vector<std::string> names = names_for(which);
  DifferentiableSolver solver = make_solver(which, MPI_COMM_WORLD);
  Wave loss(*solver.mesh());
  DifferentiableSimulator simulator(solver);
  std::vector<std::string> of_model = names;
  std::erase_if(of_model, [](const std::string& name) { return field_of_start(name) != nullptr; });
  simulator.require_gradient(of_model);
  if (which.touch != Touch::nothing) {
    EXPECT_GT(most_active_pairs(solver), 2);
  }
  simulator.rollout(num_steps, 2, loss);
  simulator.backward();

  const std::vector<Difference> expected = differences(which, names);
  for (std::size_t k = 0; k < names.size(); ++k) {
    const char* const in_start = field_of_start(names[k]);
    const Field& gradient = in_start ? simulator.initial_gradient()[in_start] : simulator.gradient(names[k]);
    const std::vector<double> g = gradient.to_host(), d = direction_of(solver, names[k]);
    double slope = 0.0;
    for (std::size_t i = 0; i < gradient.owned_size(); ++i) slope += g[i] * d[i];
    MPI_Allreduce(MPI_IN_PLACE, &slope, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double size = std::abs(expected[k].value);
    EXPECT_GT(size, 0.0) << names[k];
    EXPECT_LE(expected[k].error, 1e-8 * size) << names[k];
    EXPECT_NEAR(slope, expected[k].value, 1e-8 * size) << names[k];
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%-28s slope %13.6e off %8.1e of it, differences show %8.1e\n", names[k].c_str(), slope,
                  std::abs(slope - expected[k].value) / size, expected[k].error / size);
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* integrator :
       {"symplectic_euler", "quasi_static", "implicit_euler", "bdf2", "newmark", "generalised_alpha", "explicit_euler",
        "velocity_verlet", "runge_kutta_2", "runge_kutta_4"})
    for (const Touch touch : {Touch::nothing, Touch::plane, Touch::surfaces})
      for (const double friction : {0.0, 0.3})
        if (touch != Touch::nothing || friction == 0.0) all.push_back({integrator, touch, friction});
  return all;
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const char* const touch[] = {"no_contact", "plane", "surfaces"};
  return info.param.integrator + "_" + touch[static_cast<int>(info.param.touch)] +
         (info.param.friction > 0.0 ? "_friction" : "");
}

INSTANTIATE_TEST_SUITE_P(simulation, EveryParameter, testing::ValuesIn(cases()), name_of);

}  // namespace
}  // namespace diffsim
