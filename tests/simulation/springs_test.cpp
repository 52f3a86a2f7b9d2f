// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Mass–spring systems: a triangle of springs compared with a program in complex numbers, and gradients with respect to
// every parameter with every integrator.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdlib>

#include "core/file_order.hpp"
#include "diffsim/simulation/simulator.hpp"
#include "simulation/parameter_specs.hpp"
#include "simulation/spring_bodies.hpp"
#include "simulation/whole_gradient_testing.hpp"

namespace diffsim::springs_test {
namespace {

using namespace testing_spring;
using Complex = std::complex<double>;

// ---- three points and three springs ----

constexpr int num_steps = 1023;
constexpr double dt = 1e-3, friction = 20.0, target_area = 0.1;

/// Values on which the loss of the triangle depends.
template <class T>
struct Triangle {
  T x[3][2] = {{0.3, 0.5}, {0.3, 0.4}, {0.4, 0.4}};
  T stiffness[3] = {10.0, 10.0, 10.0};
  T length[3] = {0.1, 0.1, 0.1 * std::sqrt(2.0)};
  T softening[3] = {1e-4, 1e-4, 1e-4};
  T mass[3] = {1.0, 1.0, 1.0};
};
constexpr int ends_of[3][2] = {{0, 1}, {1, 2}, {2, 0}};

/// Loss (area - target)² after the steps, implemented independently of the library.
template <class T>
T loss_of(const Triangle<T>& start) {
  T x[3][2], v[3][2] = {};
  for (int i = 0; i < 6; ++i) x[i / 2][i % 2] = start.x[i / 2][i % 2];
  for (int n = 0; n < num_steps; ++n) {
    T f[3][2] = {};
    for (int s = 0; s < 3; ++s) {
      const int a = ends_of[s][0], b = ends_of[s][1];
      const T d[2] = {x[b][0] - x[a][0], x[b][1] - x[a][1]};
      const T l = std::sqrt(d[0] * d[0] + d[1] * d[1]) + start.softening[s];
      for (int c = 0; c < 2; ++c) {
        const T force = start.stiffness[s] * (l - start.length[s]) * d[c] / l;
        f[a][c] += force;
        f[b][c] -= force;
      }
    }
    for (int i = 0; i < 6; ++i) {
      const int a = i / 2, c = i % 2;
      v[a][c] = std::exp(-friction * dt) * v[a][c] + dt * f[a][c] / start.mass[a];
      x[a][c] += dt * v[a][c];
    }
  }
  const T area = 0.5 * ((x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) - (x[1][1] - x[0][1]) * (x[2][0] - x[0][0]));
  return (area - target_area) * (area - target_area);
}

/// Derivative of the loss with respect to one value of the start, by a complex step. `number` selects the value.
template <class Number>
double slope_by(const Number& number) {
  Triangle<Complex> start;
  number(start) += Complex(0.0, 1e-30);
  return loss_of(start).imag() / 1e-30;
}

/// Loss (area of the triangle - target)² at the last step, for a mesh whose vertices are all on one rank.
class AreaLoss : public Loss {
 public:
  explicit AreaLoss(const TetrahedralMesh& mesh) {
    for (int v = 0; v < mesh.num_owned_vertices(); ++v)
      place_[static_cast<std::size_t>(mesh.vertex_order().file_index()[static_cast<std::size_t>(v)])] = 3 * v;
    here_ = mesh.num_owned_vertices() == 3;
  }
  bool observes(int n) const override { return n == num_steps; }
  double value(int, const State& state, const ParameterSet&) override {
    if (!here_) return 0.0;
    const double off = area(state) - target_area;
    return off * off;
  }
  double tangent(int, const State&, const ParameterSet&, const State&, const ParameterSet&) override {
    throw Error("not needed here");
  }
  void add_gradient(int, const State& state, const ParameterSet&, State& adjoint, ParameterSet&) override {
    if (!here_) return;
    const std::vector<double> x = state["positions"].to_host();
    std::vector<double> sum = adjoint["positions"].to_host();
    const double factor = 2.0 * (area(state) - target_area);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto next = static_cast<std::size_t>(place_[(i + 1) % 3]),
                 last = static_cast<std::size_t>(place_[(i + 2) % 3]);
      const auto here = static_cast<std::size_t>(place_[i]);
      sum[here] += factor * 0.5 * (x[next + 1] - x[last + 1]);
      sum[here + 1] += factor * 0.5 * (x[last] - x[next]);
    }
    adjoint["positions"].from_host(sum);
  }

 private:
  double area(const State& state) const {
    const std::vector<double> x = state["positions"].to_host();
    const auto at = [&](std::size_t i, std::size_t c) { return x[static_cast<std::size_t>(place_[i]) + c]; };
    return 0.5 * ((at(1, 0) - at(0, 0)) * (at(2, 1) - at(0, 1)) - (at(1, 1) - at(0, 1)) * (at(2, 0) - at(0, 0)));
  }
  std::array<int, 3> place_{};
  bool here_ = false;
};

/// Scene of the triangle. The scene's damping factor multiplies the new velocity, whereas `loss_of` multiplies the old
/// one. The stiffness of the springs is therefore divided by the factor.
DifferentiableScene make_triangle(bool length_by_step) {
  const Triangle<double> start;
  std::vector<std::array<double, 3>> points;
  for (const auto& x : start.x) points.push_back({x[0], x[1], 0.0});
  auto mesh =
      std::make_shared<TetrahedralMesh>(MPI_COMM_SELF, segments(MPI_COMM_SELF, points, {{0, 1}, {1, 2}, {2, 0}}));
  const double factor = std::exp(-friction * dt);
  std::vector<double> lengths(3);
  for (std::size_t s = 0; s < 3; ++s) lengths[s] = start.length[mesh->cell_order(CellKind::segment).file_index()[s]];
  std::vector<double> of_steps;
  for (int n = 0; n < (length_by_step ? num_steps : 1); ++n)
    of_steps.insert(of_steps.end(), lengths.begin(), lengths.end());
  const DifferentiableMaterial springs{
      "springs",
      {{"spring_stiffness", 10.0 / factor}, {"rest_length", of_steps}, {"spring_softening", 1e-4}, {"point_mass", 1.0}},
      "all"};
  return {mesh, {springs}, {.dt = dt, .substeps = 1, .damping = factor, .gravity = {0.0, 0.0, 0.0}}};
}

TEST(TriangleOfSprings, has_the_loss_and_the_gradient_of_a_program_in_complex_numbers) {
  DifferentiableScene solver = make_triangle(false);
  AreaLoss loss(*solver.mesh());
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"rest_length", "spring_stiffness", "spring_softening", "point_mass"});
  EXPECT_NEAR(simulator.rollout(num_steps, 40, loss), 0.009026401980, 1e-10);
  simulator.backward();

  const TetrahedralMesh& mesh = *solver.mesh();
  const double factor = std::exp(-friction * dt);
  const auto expect = [&](const std::string& name, const Field& gradient, std::size_t entry, double expected) {
    const double found = gradient.to_host()[entry];
    EXPECT_NEAR(found, expected, 1e-10 * std::abs(expected)) << name << " " << entry;
    if (std::getenv("DIFFSIM_VERBOSE"))
      std::printf("%-20s %23.15e off %8.1e of it\n", name.c_str(), found, std::abs(found / expected - 1.0));
  };
  for (std::size_t s = 0; s < 3; ++s) {
    const auto k = static_cast<int>(mesh.cell_order(CellKind::segment).file_index()[s]);
    expect("rest_length", simulator.gradient("rest_length"), s,
           slope_by([k](auto& of) -> Complex& { return of.length[k]; }));
    expect("spring_stiffness", simulator.gradient("spring_stiffness"), s,
           factor * slope_by([k](auto& of) -> Complex& { return of.stiffness[k]; }));
    expect("spring_softening", simulator.gradient("spring_softening"), s,
           slope_by([k](auto& of) -> Complex& { return of.softening[k]; }));
  }
  for (std::size_t v = 0; v < 3; ++v) {
    const auto k = static_cast<int>(mesh.vertex_order().file_index()[v]);
    expect("point_mass", simulator.gradient("point_mass"), v,
           slope_by([k](auto& of) -> Complex& { return of.mass[k]; }));
    for (int c = 0; c < 2; ++c)
      expect("positions", simulator.initial_gradient()["positions"], 3 * v + static_cast<std::size_t>(c),
             slope_by([k, c](auto& of) -> Complex& { return of.x[k][c]; }));
  }
}

TEST(TriangleOfSprings, has_a_gradient_by_the_lengths_of_each_step_that_adds_up) {
  std::vector<double> sums(3, 0.0);
  {
    DifferentiableScene solver = make_triangle(true);
    AreaLoss loss(*solver.mesh());
    DifferentiableSimulator simulator(solver);
    simulator.require_gradient({"rest_length"});
    EXPECT_NEAR(simulator.rollout(num_steps, 40, loss), 0.009026401980, 1e-10);
    simulator.backward();
    const std::vector<double> by_step = simulator.gradient("rest_length").to_host();
    ASSERT_EQ(by_step.size(), 3u * num_steps);
    for (std::size_t i = 0; i < by_step.size(); ++i) sums[i % 3] += by_step[i];
    EXPECT_NE(by_step[0], by_step[300]);
  }
  DifferentiableScene solver = make_triangle(false);
  for (std::size_t s = 0; s < 3; ++s) {
    const auto k = static_cast<int>(solver.mesh()->cell_order(CellKind::segment).file_index()[s]);
    const double expected = slope_by([k](auto& of) -> Complex& { return of.length[k]; });
    EXPECT_NEAR(sums[s], expected, 1e-10 * std::abs(expected));
  }
}

// ---- a net ----

const std::vector<std::string> of_springs{"spring_stiffness", "spring_stiffness_2", "spring_stiffness_3",
                                          "spring_damping",   "rest_length",        "spring_softening",
                                          "point_mass"};

DifferentiableScene make_net(const std::string& integrator, MPI_Comm comm) {
  auto mesh = std::make_shared<TetrahedralMesh>(comm, net(comm, 4, 3, 0.1));
  mesh->define_region("corners", VertexList{{0, 4}});
  DifferentiableSolver options{.dt = 0.004,
                               .substeps = 2,
                               .damping = 0.99,
                               .gravity = {0.3, -9.8, 0.4},
                               .integrator = integrator_named(integrator)};
  testing_gradient::solve_to_rounding(options);
  DifferentiableMaterial springs{"springs", {}, "all"};
  for (const std::string& name : of_springs) springs.values[name] = find_parameter_spec(name)->sample;
  DifferentiableScene solver(mesh, {springs}, options);
  solver.fix("corners");
  return solver;
}

class Net : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(integrators, Net,
                         testing::Values("symplectic_euler", "velocity_verlet", "implicit_euler", "bdf2", "newmark"));

TEST_P(Net, gradients_have_the_slopes_that_differences_have) {
  const std::string integrator = GetParam();
  std::vector<std::string> names = of_springs;
  names.insert(names.end(), {"gravity", "initial_positions", "initial_velocities"});
  testing_gradient::expect_slopes([&](MPI_Comm comm) { return make_net(integrator, comm); }, 12, names);
}

TEST_P(Net, derivatives_pass_the_check) {
  DifferentiableScene solver = make_net(GetParam(), MPI_COMM_WORLD);
  solver.mesh()->define_region("hem", VertexList{{15, 16, 17, 18, 19}});
  testing_simulation::expect_checked(solver, {"hem", {0.3, 0.2, 0.1}, 6},
                                     testing_simulation::unknowns_of(of_springs, {}));
}

TEST_P(Net, products_with_the_hessian) {
  DifferentiableScene solver = make_net(GetParam(), MPI_COMM_WORLD);
  testing_simulation::expect_hessian(solver, 3, {"all", {0.5, 0.2, 0.1}, 3},
                                     testing_simulation::unknowns_of(of_springs, {}));
}

}  // namespace
}  // namespace diffsim::springs_test
