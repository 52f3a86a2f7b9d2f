// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Gradient with respect to the rest shape, compared with finite differences of runs on new meshes with displaced
// vertices.

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/core/error.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "mesh/elevate.hpp"

namespace diffsim::shape_test {
namespace {

constexpr int num_steps = 36;  // more than the 32 steps over which a sweep accumulates derivatives

std::array<double, 3> shape_direction(const double* X) {
  return {0.3 * X[0] * X[1] + 0.1 * X[2], 0.2 * std::sin(4.0 * X[0]), 0.1 * std::cos(3.0 * X[1]) + 0.2 * X[2] * X[0]};
}

/// Makes a box with vertices displaced by `amount` along the direction, as a new mesh. `degree` of the quadrature: 1
/// for linear cells, 2 or 5 for second-order cells.
std::shared_ptr<TetrahedralMesh> moved_box(int degree, double amount) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MeshData data = box_mesh({0.6, 0.3, 0.2}, {3, 2, 1}, rank, ranks);
  if (degree > 1) elevate(MPI_COMM_WORLD, data);
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3) {
    const auto direction = shape_direction(&data.coordinates[i]);
    for (std::size_t c = 0; c < 3; ++c) data.coordinates[i + c] += amount * direction[c];
  }
  return std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, data, degree > 1 ? std::optional(degree) : std::nullopt);
}

struct Pull {
  DifferentiableScene solver;
  std::unique_ptr<Loss> loss;

  Pull(const std::shared_ptr<TetrahedralMesh>& mesh, const std::string& integrator)
      : solver(mesh,
               {{"neo_hookean",
                 {{"youngs_modulus", 2e4},
                  {"poisson_ratio", 0.35},
                  {"density", 800.0},
                  {"viscosity", 2.0},
                  {"drag", 100.0}},
                 "all"}},
               {.dt = 0.002,
                .substeps = 4,
                .damping = 0.99,
                .gravity = {0.0, -9.8, 1.0},
                .integrator = integrator_named(integrator)}) {
    solver.fix("x_min");
    solver.add_traction("x_max", {100.0, 30.0, -20.0});
    loss = std::make_unique<TargetPositionLoss>(*mesh, mesh->region("x_max"), std::array<double, 3>{0.8, 0.2, 0.1},
                                                num_steps);
  }
};

double loss_at(int degree, const std::string& integrator, double amount) {
  Pull run(moved_box(degree, amount), integrator);
  DifferentiableSimulator simulator(run.solver);
  return simulator.rollout(num_steps, 0, *run.loss);
}

class EveryMesh : public testing::TestWithParam<std::tuple<int, const char*>> {};

TEST_P(EveryMesh, gradient_by_the_rest_shape_is_that_of_other_meshes) {
  const auto [degree, integrator] = GetParam();
  Pull run(moved_box(degree, 0.0), integrator);
  DifferentiableSimulator simulator(run.solver);
  simulator.require_gradient({"rest_positions"});
  simulator.rollout(num_steps, 0, *run.loss);
  simulator.backward();
  const std::vector<double> by_rest = simulator.gradient("rest_positions").to_host();
  const std::vector<double> by_start = simulator.initial_gradient()["positions"].to_host();
  double slope = 0.0;
  for (std::size_t v = 0; v < static_cast<std::size_t>(run.solver.mesh()->num_owned_vertices()); ++v) {
    const auto direction = shape_direction(&run.solver.mesh()->rest_positions()[3 * v]);
    for (std::size_t c = 0; c < 3; ++c) slope += (by_rest[3 * v + c] + by_start[3 * v + c]) * direction[c];
  }
  MPI_Allreduce(MPI_IN_PLACE, &slope, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  // Central differences, extrapolated to fourth order.
  const auto difference = [&, &by_degree = degree, &by_integrator = integrator](double h) {
    return (loss_at(by_degree, by_integrator, h) - loss_at(by_degree, by_integrator, -h)) / (2.0 * h);
  };
  const double h = 2e-3, reference = (4.0 * difference(h / 2.0) - difference(h)) / 3.0;
  EXPECT_NEAR(slope, reference, 1e-6 * std::abs(reference));
}

INSTANTIATE_TEST_SUITE_P(shape, EveryMesh,
                         testing::Combine(testing::Values(1, 2), testing::Values("symplectic_euler", "newmark")));
INSTANTIATE_TEST_SUITE_P(quadrature, EveryMesh, testing::Values(std::tuple(5, "symplectic_euler")));

}  // namespace
}  // namespace diffsim::shape_test
