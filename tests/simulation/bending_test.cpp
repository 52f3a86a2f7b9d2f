// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A slender bar of nearly incompressible rubber, bent by a force at its end: linear cells lock, quadratic cells agree
// with beam theory.

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/core/error.hpp"
#include "diffsim/simulation/scene.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::bending_test {
namespace {

using testing_simulation::mean_displacement;

constexpr double length = 1.0, depth = 0.1, width = 0.1, youngs_modulus = 1e6, shear = 20.0;  // m, Pa

/// Deflection of the end divided by that of beam theory: F L³/(3 E I) plus the shear deflection of Timoshenko's beam.
double deflection(int order, double poisson_ratio, std::array<int, 3> cells) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {length, depth, width}, cells, order);
  DifferentiableMaterial rubber{
      "neo_hookean", {{"youngs_modulus", youngs_modulus}, {"poisson_ratio", poisson_ratio}}, "all"};
  DifferentiableSolver options{.dt = 1.0, .gravity = {0.0, 0.0, 0.0}, .integrator = Integrator::quasi_static};
  DifferentiableScene solver(mesh, {rubber}, options);
  solver.fix("x_min");
  solver.add_traction("x_max", {0.0, -shear, 0.0});
  State state = solver.initial_state();
  solver.model().prepare();
  solver.step(0, state);
  const double force = shear * depth * width, inertia = width * std::pow(depth, 3) / 12.0;
  const double shear_modulus = youngs_modulus / (2.0 * (1.0 + poisson_ratio));
  const double beam = force * std::pow(length, 3) / (3.0 * youngs_modulus * inertia) +
                      1.2 * force * length / (shear_modulus * depth * width);
  return -mean_displacement(*mesh, state, "x_max")[1] / beam;
}

TEST(bending, quadratic_cells_follow_beam_theory_and_do_not_lock) {
  EXPECT_NEAR(deflection(2, 0.3, {12, 2, 2}), 1.0, 0.03);
  // The clamped end of an incompressible bar is stiffer than in beam theory.
  const double coarse = deflection(2, 0.499, {12, 2, 2}), fine = deflection(2, 0.499, {18, 3, 3});
  EXPECT_GT(coarse, 0.88);
  EXPECT_GT(fine, 0.93);
  EXPECT_NEAR(deflection(2, 0.4999, {12, 2, 2}), coarse, 0.01);
}

TEST(bending, linear_cells_are_stiff_and_lock) {
  const double compressible = deflection(1, 0.3, {12, 2, 2}), locked = deflection(1, 0.499, {12, 2, 2});
  EXPECT_LT(compressible, 0.6);
  EXPECT_LT(locked, 0.1 * compressible);
}

}  // namespace
}  // namespace diffsim::bending_test
