// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A user-defined force between two vertices in whole rollouts. Only the energy of the force is written by hand.

#include <gtest/gtest.h>

#include "diffsim/core/stencil_term_impl.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::own_spring_test {
namespace {

using namespace testing_simulation;

/// Spring between two vertices, which without forces is s times as long as in the rest shape:
/// E = k/2 (|x1 - x0| - s |X1 - X0|)².
struct Spring {
  static constexpr int num_nodes = 2, num_values = 2;  // k, s
  static constexpr bool uses_rest = true;

  template <class T>
  DIFFSIM_FUNCTION T energy(const StencilValues<T, num_nodes, num_values>& at) const {
    using std::sqrt;
    const Vec3<T> way = at.x[1] - at.x[0], rest = at.X[1] - at.X[0];
    const T stretch = sqrt(dot(way, way)) - at.p[1] * sqrt(dot(rest, rest));
    return 0.5 * at.p[0] * stretch * stretch;
  }
};

DifferentiableScene make_bar(const std::string& integrator) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {0.6, 0.3, 0.2}, {3, 2, 1});
  DifferentiableSolver options{
      .dt = 0.004, .substeps = 4, .gravity = {0.5, -9.8, 1.0}, .integrator = integrator_named(integrator)};
  DifferentiableScene solver = make_soft_solver(mesh, 2e4, options);
  solver.fix("x_min");
  return solver;
}

/// Adds a spring for each cell. `ends`: end vertices of the springs. Each spring has its own stiffness.
void add_springs(DifferentiableScene& solver, const std::vector<int>& ends) {
  const auto& mesh = solver.mesh();
  std::vector<double> stiffness;
  for (int cell = 0; cell < mesh->num_cells(); ++cell) stiffness.push_back(200.0 + 50.0 * (cell % 5));
  solver.parameters().add("spring_stiffness", mesh->cell_entities()).field.from_host(stiffness);
  solver.parameters().add("spring_slack", Entities::one_for_all(mesh->comm())).field.from_host({0.7});
  solver.system().add_term(std::make_unique<StencilTerm<Spring>>(
      "springs", Spring(), std::vector<PointParameter>{{"spring_stiffness"}, {"spring_slack"}}, ends));
}

/// Scene of a bar with a spring along one edge of each cell.
DifferentiableScene make_solver(const std::string& integrator) {
  DifferentiableScene solver = make_bar(integrator);
  std::vector<int> ends;
  for (int cell = 0; cell < solver.mesh()->num_cells(); ++cell)
    for (const int corner : {0, 3}) ends.push_back(solver.mesh()->cells()[static_cast<std::size_t>(4 * cell + corner)]);
  add_springs(solver, ends);
  return solver;
}

/// Returns end vertices of springs between distant cells of this rank, which no cell couples.
std::vector<int> distant_ends(const TetrahedralMesh& mesh) {
  std::vector<int> ends;
  for (int cell = 0; cell < mesh.num_cells(); ++cell) {
    const int* const here = &mesh.cells()[static_cast<std::size_t>(4 * cell)];
    const int* const there = &mesh.cells()[static_cast<std::size_t>(4 * (mesh.num_cells() - 1 - cell))];
    ends.insert(ends.end(), {here[0], there[3] == here[0] ? there[1] : there[3]});
  }
  return ends;
}

const std::vector<std::string> names{"spring_stiffness", "spring_slack", "initial_positions"};

class OwnSpring : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(integrators, OwnSpring,
                         testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler", "newmark"));

TEST_P(OwnSpring, derivatives_by_its_parameters_and_the_shape_at_rest) {
  DifferentiableScene solver = make_solver(GetParam());
  std::vector<std::string> all = names;
  all.emplace_back("rest_positions");
  expect_derivatives(solver, 4, {{"x_max", {0.5, 0.2, 0.1}, 4}}, unknowns_of(all, {}));
}

/// The Jacobian of implicit steps gets the couplings of the new term.
TEST_P(OwnSpring, may_be_added_after_steps) {
  const auto end = [&](bool steps_before) {
    DifferentiableScene solver = make_bar(GetParam());
    State state = solver.initial_state();
    if (steps_before) solver.step(0, state);
    add_springs(solver, distant_ends(*solver.mesh()));
    state = solver.initial_state();
    for (int n = 0; n < 3; ++n) solver.step(n, state);
    return state["positions"].to_host();
  };
  const std::vector<double> x = end(true), expected = end(false);
  ASSERT_EQ(x.size(), expected.size());
  // Explicit steps are bitwise identical. Newton's method converges quadratically below its tolerance.
  const double tolerance = is_explicit(integrator_named(GetParam())) ? 0.0 : 1e-7;
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], tolerance);
}

TEST_P(OwnSpring, products_with_the_hessian) {
  DifferentiableScene solver = make_solver(GetParam());
  expect_hessian(solver, 2, {"x_max", {0.5, 0.2, 0.1}, 2}, unknowns_of(names, {}));
}

}  // namespace
}  // namespace diffsim::own_spring_test
