// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Statics on quadratic cells: Cook's membrane and NAFEMS LE10, compared with published values, and a hyperelastic cube.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/file_order.hpp"
#include "dynamics/time/implicit_model.hpp"
#include "statics_testing.hpp"

namespace diffsim::statics_benchmarks_test {
namespace {

bool verbose() { return std::getenv("DIFFSIM_VERBOSE") != nullptr; }

/// Value of a field [local vertices, 3] at the vertex nearest to `place`, on every rank. Collective.
Vec3<double> value_at(const TetrahedralMesh& mesh, const std::vector<double>& field, const Point& place) {
  struct {
    double distance;
    int rank;
  } mine{1e300, 0}, nearest;
  MPI_Comm_rank(MPI_COMM_WORLD, &mine.rank);
  std::size_t vertex = 0;
  for (std::size_t v = 0; v < static_cast<std::size_t>(mesh.num_owned_vertices()); ++v) {
    const double* const x = &mesh.rest_positions()[3 * v];
    const double distance = std::hypot(x[0] - place[0], x[1] - place[1], x[2] - place[2]);
    if (distance >= mine.distance) continue;
    mine.distance = distance;
    vertex = v;
  }
  MPI_Allreduce(&mine, &nearest, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  EXPECT_LT(nearest.distance, 1e-9);
  double value[3] = {field[3 * vertex], field[3 * vertex + 1], field[3 * vertex + 2]};
  MPI_Bcast(value, 3, MPI_DOUBLE, nearest.rank, MPI_COMM_WORLD);
  return {{value[0], value[1], value[2]}};
}

DifferentiableMaterial linear(double youngs_modulus, double poisson_ratio) {
  return {"linear_elastic", {{"youngs_modulus", youngs_modulus}, {"poisson_ratio", poisson_ratio}}, "all"};
}

// Cook (1974), plane strain: panel with the corners (0,0), (48,44), (48,60), (0,44) mm, E = 70 MPa, ν = 1/3, under a
// shear traction of 6.25 MPa on its right side. The upper right corner rises by 32.2 to 32.3 mm.
TEST(cook_membrane, tip_rises) {
  const auto mesh = mapped_box({32, 32, 1}, 2, [](const Point& x) {
    return Point{0.048 * x[0], 0.044 * x[0] + (0.044 - 0.028 * x[0]) * x[1], 0.002 * x[2]};
  });
  DifferentiableSolver options{.dt = 1.0, .gravity = {0, 0, 0}, .integrator = Integrator::quasi_static};
  options.implicit.linear.direct_below = 50000;
  DifferentiableScene solver(mesh, {linear(70e6, 1.0 / 3.0)}, options);
  solver.fix("x_min");
  solver.fix("all", {false, false, true});
  solver.add_traction("x_max", {0.0, 6.25e6, 0.0});
  const double rise = value_at(*mesh, equilibrium(solver), {0.048, 0.06, 0.0})[1] - 0.06;
  if (verbose()) printf("Cook: %.5f mm\n", 1e3 * rise);
  EXPECT_GE(1e3 * rise, 32.2);
  EXPECT_LE(1e3 * rise, 32.3);
}

// NAFEMS LE10: thick elliptic plate under 1 MPa on its upper face; σ_yy = -5.38 MPa at D = (2, 0, 0.6) m.
TEST(nafems_le10, stress_at_d) {
  // The cells are finer towards D.
  constexpr int around = 10, outward = 8, through = 4;
  const double half_pi = std::acos(0.0);
  const auto mesh = mapped_box({outward, around, through}, 2, [&](const Point& x) {
    const double angle = half_pi * graded(x[1], around, 1.5), part = graded(x[0], outward, 1.5);
    const double c = std::cos(angle), s = std::sin(angle);
    const double inner[2] = {2.0 * c, 1.0 * s}, outer[2] = {3.25 * c, 2.75 * s};
    return Point{inner[0] + part * (outer[0] - inner[0]), inner[1] + part * (outer[1] - inner[1]), 0.6 * x[2]};
  });
  constexpr double E = 210e9, nu = 0.3;
  DifferentiableScene solver(mesh, {linear(E, nu)},
                             {.dt = 1.0, .gravity = {0, 0, 0}, .integrator = Integrator::quasi_static});
  solver.fix("y_min", {false, true, false});
  solver.fix("y_max", {true, false, false});
  solver.fix("x_max", {true, true, false});
  // In the middle plane only the outer edge is fixed vertically.
  std::vector<std::int64_t> outer;
  const Region& rim = mesh->region("x_max");
  std::vector<double> marks(static_cast<std::size_t>(mesh->num_owned_vertices()), 0.0), block;
  for (const int v : rim.vertices)
    if (v < mesh->num_owned_vertices() &&
        std::abs(mesh->rest_positions()[3 * static_cast<std::size_t>(v) + 2] - 0.3) < 1e-9)
      marks[static_cast<std::size_t>(v)] = 1.0;
  block.assign(static_cast<std::size_t>(mesh->vertex_order().block_size()), 0.0);
  mesh->vertex_order().to_file(marks, 1, block);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ASSERT_EQ(ranks, 1);
  for (std::size_t i = 0; i < block.size(); ++i)
    if (block[i] > 0.0) outer.push_back(static_cast<std::int64_t>(i));
  mesh->define_region("outer_edge", VertexList{outer});
  solver.fix("outer_edge", {false, false, true});
  solver.add_traction("z_max", {0.0, 0.0, -1e6});
  std::vector<double> u = equilibrium(solver);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] -= mesh->rest_positions()[i];

  // σ_yy at D, averaged over the cells that contain D.
  double sum = 0.0;
  int count = 0;
  for (int cell = 0; cell < mesh->num_cells(); ++cell)
    for (std::size_t a = 0; a < 4; ++a) {
      const double* const x =
          &mesh->rest_positions()[3 * static_cast<std::size_t>(mesh->cells()[10 * static_cast<std::size_t>(cell) + a])];
      if (std::hypot(x[0] - 2.0, x[1], x[2] - 0.6) > 1e-9) continue;
      const std::array<double, 4> corner{a == 1 ? 1.0 : 0.0, a == 2 ? 1.0 : 0.0, a == 3 ? 1.0 : 0.0, 0.0};
      const Mat3<double> gradient = interpolate(*mesh, cell, shape_at(10, corner), u).gradient;
      const double mu = E / (2.0 * (1.0 + nu)), lambda = E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
      sum += lambda * trace(gradient) + 2.0 * mu * gradient(1, 1);
      ++count;
    }
  const double stress = sum / count;
  if (verbose()) printf("LE10: %.4f MPa over %d cells\n", 1e-6 * stress, count);
  EXPECT_NEAR(1e-6 * stress, -5.38, 0.02 * 5.38);
}

// Unit cube with E = 2.8, ν = 0.4, clamped at x = 0, under a dead traction (0, 0, -0.5) at x = 1, with large bending.
// `cells`: even number of cells along each edge; `part`: part of the traction; `power`: the cells at a distance d from
// the edges of the clamp have sizes proportional to d^(1 - 1/power).
DifferentiableScene bent_cube(int cells, double part, double tolerance, double power = 1.0) {
  const auto from_both_ends = [=](double y) {
    const double from_end = 0.5 * graded(2.0 * std::min(y, 1.0 - y), cells / 2, power);
    return y < 0.5 ? from_end : 1.0 - from_end;
  };
  const auto mesh = mapped_box({cells, cells, cells}, 2, [&](const Point& x) {
    return Point{graded(x[0], cells, power), from_both_ends(x[1]), from_both_ends(x[2])};
  });
  DifferentiableMaterial rubber{"neo_hookean", {{"youngs_modulus", 2.8}, {"poisson_ratio", 0.4}}, "all"};
  DifferentiableSolver options{.dt = 1.0, .gravity = {0, 0, 0}, .integrator = Integrator::quasi_static};
  options.implicit.newton.tolerance = tolerance;
  DifferentiableScene solver(mesh, {rubber}, options);
  solver.fix("x_min");
  solver.add_traction("x_max", {0.0, 0.0, -0.5 * part});
  return solver;
}

/// Energy of one of a scene's terms (the elastic law is the first, the traction the second), summed over ranks.
double energy_of(DifferentiableScene& solver, std::size_t term, const State& state) {
  return sum_over_ranks(solver.system().terms()[term]->energy({state["positions"]}, solver.parameters()));
}

// Strain energy on refined meshes, and residuals of Newton's method. The edges of the clamp are singular, and under the
// whole load the energy rises by nearly the same amount from each mesh to the next.
TEST(neo_hookean_cube, strain_energy_settles) {
  std::vector<double> energies;
  for (const int n : {2, 3, 4, 5}) {
    DifferentiableScene solver = bent_cube(n, 1.0, 1e-10);
    State state = solver.initial_state();
    solver.model().prepare();
    solver.step(0, state);
    energies.push_back(energy_of(solver, 0, state));
    const auto& model = dynamic_cast<const ImplicitModel&>(solver.model());
    const std::vector<double>& residuals = model.last_residuals();
    if (verbose()) {
      printf("cube n %d: energy %.8f, residuals", n, energies.back());
      for (const double r : residuals) printf(" %.2e", r);
      printf("\n");
    }
    // Quadratic convergence at the end: the last residual is at most 100 times the squared previous one, or 1e-12,
    // where rounding errors dominate.
    ASSERT_GE(residuals.size(), 3u);
    const std::size_t last = residuals.size() - 1;
    EXPECT_LE(residuals[last], std::max(1e-12, 100.0 * residuals[last - 1] * residuals[last - 1]));
  }
  for (std::size_t k = 1; k < energies.size(); ++k) {
    EXPECT_GT(energies[k], energies[k - 1]);
    EXPECT_LT(energies[k], 1.002 * energies[k - 1]);
  }
}

// Strain energy under a tenth of the load on graded meshes with n cells along each edge. The stress at the edges of the
// clamp is singular. On graded meshes the error of the energy is nevertheless proportional to n^-p, so the limit can be
// extrapolated (Richardson).
TEST(neo_hookean_cube, strain_energy_converges_to_a_limit) {
  std::map<int, double> energies;
  for (const int n : {2, 4, 6, 8}) {
    DifferentiableScene solver = bent_cube(n, 0.1, 1e-10, 2.0);
    State state = solver.initial_state();
    solver.model().prepare();
    solver.step(0, state);
    energies[n] = energy_of(solver, 0, state);
  }
  const double order = std::log2((energies[4] - energies[2]) / (energies[8] - energies[4])),
               limit = energies[8] + (energies[8] - energies[4]) / (std::pow(2.0, order) - 1.0),
               at_6 = limit - (limit - energies[8]) * std::pow(8.0 / 6.0, order);
  if (verbose())
    printf("cube: %.9f, %.9f, %.9f, %.9f; order %.3f, limit %.9f, at n = 6 %.9f\n", energies[2], energies[4],
           energies[6], energies[8], order, limit, at_6);
  EXPECT_GT(order, 1.5);
  EXPECT_NEAR(energies[6], at_6, 0.03 * (limit - energies[6]));
}

// With u(s) the equilibrium under the part s of the traction f, the strain energy is the load's work,
// W = ∫₀¹ s f·u'(s) ds = f·u(1) - ∫₀¹ f·u(s) ds. This value does not use the energy of the law.
TEST(neo_hookean_cube, strain_energy_is_the_work_of_the_load) {
  double energy = 0.0;
  /// f·u(s), from the energy -s f·x of the load.
  const auto load_times_displacement = [&](double part) {
    DifferentiableScene solver = bent_cube(2, part, 1e-12);
    State state = solver.initial_state();
    solver.model().prepare();
    const double before = energy_of(solver, 1, state), stored = energy_of(solver, 0, state);
    solver.step(0, state);
    energy = energy_of(solver, 0, state) - stored;
    return (before - energy_of(solver, 1, state)) / part;
  };
  double work = 0.0;
  for (const auto& [part, weight] : gauss_legendre(12)) work -= weight * load_times_displacement(part);
  work += load_times_displacement(1.0);
  if (verbose()) printf("cube: energy %.12f, work off by %.1e of it\n", energy, work / energy - 1.0);
  EXPECT_NEAR(energy, work, 1e-11 * work);
}

}  // namespace
}  // namespace diffsim::statics_benchmarks_test
