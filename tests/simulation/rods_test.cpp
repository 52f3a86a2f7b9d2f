// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Rods and beams: gradients with respect to every parameter with every integrator, and conserved quantities.

#include <gtest/gtest.h>

#include <cmath>

#include "core/file_order.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "mesh/directors.hpp"
#include "simulation/parameter_specs.hpp"
#include "simulation/spring_bodies.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::rods_test {
namespace {

const std::vector<std::string> of_rod{"rod_youngs_modulus", "rod_poisson_ratio", "rod_radius",
                                      "rod_rest_curvature", "rod_rest_twist",    "rod_density"};
const std::vector<std::string> of_beam{"beam_axial_stiffness",
                                       "beam_bending_stiffness1",
                                       "beam_bending_stiffness2",
                                       "beam_torsional_stiffness",
                                       "beam_rest_curvature",
                                       "beam_rest_twist",
                                       "beam_density",
                                       "beam_rotary_inertia"};

/// Support of a rod at its start: none, a clamp, a wall of two vertices, or a wall that rotates and moves.
enum class Hold { none, clamp, wall, motion };

/// Scene of a rod of 10 segments. `model`: rod or beam.
DifferentiableScene make_rod(const std::string& model, const std::string& integrator, Hold hold, MPI_Comm comm) {
  MeshData data = testing_spring::curved_line(comm, 10);
  add_directors(comm, data);
  auto mesh = std::make_shared<TetrahedralMesh>(comm, std::move(data));
  mesh->define_region("first", VertexList{{0}});
  mesh->define_region("held", VertexList{{0, 1}});
  mesh->define_region("last", VertexList{{9, 10}});
  DifferentiableSolver options{.dt = 0.002,
                               .substeps = 4,
                               .damping = 0.99,
                               .gravity = {0.3, -4.8, -9.4},
                               .integrator = integrator_named(integrator)};
  testing_gradient::solve_to_rounding(options);
  DifferentiableMaterial rod{model, {}, "all"};
  for (const std::string& name : model == "rod" ? of_rod : of_beam)
    rod.values[name] = find_parameter_spec(name)->sample;
  DifferentiableScene solver(mesh, {rod}, options);
  if (hold == Hold::clamp) solver.clamp("first");
  if (hold == Hold::wall) solver.fix("held");
  if (hold == Hold::motion) solver.move("held", {0.6, 0.2, 0.9}, {0.1, -0.1, 0.2}, {7.0}, {0.2, 0.5, -0.3});
  solver.add_moment("last", {0.002, -0.003, 0.001});
  // The rod also rotates about its axis.
  std::vector<double> velocity(3 * static_cast<std::size_t>(mesh->num_owned_vertices()));
  for (std::size_t i = 0; i < velocity.size(); ++i)
    velocity[i] = 0.1 * std::sin(5.0 * static_cast<double>(mesh->vertex_order().file_index()[i / 3]) +
                                 2.0 * static_cast<double>(i % 3));
  solver.set_initial_velocity(velocity);
  return solver;
}

struct Case {
  const char* integrator;
  const char* model;
  Hold hold;
};

std::string name_of(const ::testing::TestParamInfo<Case>& of) {
  const char* const holds[] = {"none", "clamp", "wall", "motion"};
  return std::string(of.param.integrator) + "_" + of.param.model + "_" + holds[static_cast<int>(of.param.hold)];
}

class Rods : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(cases, Rods,
                         ::testing::Values(Case{"symplectic_euler", "rod", Hold::clamp},
                                           Case{"symplectic_euler", "beam", Hold::motion},
                                           Case{"velocity_verlet", "beam", Hold::none},
                                           Case{"implicit_euler", "rod", Hold::motion},
                                           Case{"implicit_euler", "beam", Hold::clamp}, Case{"bdf2", "rod", Hold::wall},
                                           Case{"newmark", "beam", Hold::none}),
                         name_of);

TEST_P(Rods, gradients_have_the_slopes_that_differences_have) {
  const Case of = GetParam();
  std::vector<std::string> names = std::string(of.model) == "rod" ? of_rod : of_beam;
  names.insert(names.end(), {"gravity", "moment:last", "rest_positions", "initial_positions", "initial_velocities"});
  if (of.hold == Hold::motion) names.insert(names.end(), {"angular_velocity:held", "velocity:held"});
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_rod(of.model, of.integrator, of.hold, comm); }, 10,
                                  names);
}

TEST_P(Rods, derivatives_pass_the_check) {
  const Case of = GetParam();
  const std::vector<std::string>& names = std::string(of.model) == "rod" ? of_rod : of_beam;
  DifferentiableScene solver = make_rod(of.model, of.integrator, of.hold, MPI_COMM_WORLD);
  testing_simulation::expect_checked(solver, {"last", {0.3, 0.2, 0.1}, 6}, testing_simulation::unknowns_of(names, {}));
}

TEST_P(Rods, products_with_the_hessian) {
  const Case of = GetParam();
  const std::vector<std::string>& names = std::string(of.model) == "rod" ? of_rod : of_beam;
  DifferentiableScene solver = make_rod(of.model, of.integrator, of.hold, MPI_COMM_WORLD);
  testing_simulation::expect_hessian(solver, 3, {"last", {0.5, 0.2, 0.1}, 3},
                                     testing_simulation::unknowns_of(names, {}));
}

TEST(Rods, keep_their_momenta_where_nothing_holds_them) {
  // Without gravity and moments, the linear momentum and the angular momentum about the origin are conserved. The
  // angular momentum includes that of the directors, which represent rotating cross-sections.
  DifferentiableScene solver = make_rod("beam", "velocity_verlet", Hold::none, MPI_COMM_WORLD);
  solver.parameters().at("gravity").field.from_host({0.0, 0.0, 0.0});
  solver.parameters().at("moment:last").field.from_host({0.0, 0.0, 0.0});
  if (Parameter* const damping = solver.parameters().find("damping")) damping->field.fill(1.0);
  const TetrahedralMesh& mesh = *solver.mesh();
  State state = solver.initial_state();
  solver.model().prepare();
  const std::vector<double> m = solver.system().mass().to_host();
  const auto momenta = [&] {
    const std::vector<double> x = state["positions"].to_host(), v = state["velocities"].to_host();
    std::array<double, 6> sum{};
    for (std::size_t i = 0; i < m.size(); ++i)
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t a = (c + 1) % 3, b = (c + 2) % 3;
        if (mesh.is_director()[i] == 0) sum[c] += m[i] * v[3 * i + c];
        sum[3 + c] += m[i] * (x[3 * i + a] * v[3 * i + b] - x[3 * i + b] * v[3 * i + a]);
      }
    MPI_Allreduce(MPI_IN_PLACE, sum.data(), 6, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  };
  const std::array<double, 6> before = momenta();
  for (int n = 0; n < 50; ++n) solver.step(n, state);
  const std::array<double, 6> after = momenta();
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(after[k], before[k], 1e-14) << k;
}

TEST(Rods, fall_freely_without_turning) {
  // Gravity acts on vertices and not on directors.
  DifferentiableScene solver = make_rod("rod", "velocity_verlet", Hold::none, MPI_COMM_WORLD);
  solver.parameters().at("moment:last").field.from_host({0.0, 0.0, 0.0});
  solver.parameters().at("rod_rest_curvature").field.fill(0.0);
  solver.parameters().at("rod_rest_twist").field.fill(0.0);
  solver.set_initial_velocity(std::vector<double>(3 * static_cast<std::size_t>(solver.mesh()->num_owned_vertices())));
  State state = solver.initial_state();
  const std::vector<double> X = state["positions"].to_host();
  solver.model().prepare();
  const int steps = 20;
  for (int n = 0; n < steps; ++n) solver.step(n, state);
  const std::vector<double> x = state["positions"].to_host();
  const double t = 0.002 * steps, g[] = {0.3, -4.8, -9.4};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool falls = solver.mesh()->is_director()[i / 3] == 0;
    EXPECT_NEAR(x[i] - X[i], falls ? 0.5 * g[i % 3] * t * t : 0.0, 1e-12);
  }
}

}  // namespace
}  // namespace diffsim::rods_test
