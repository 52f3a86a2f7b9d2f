// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A slender bar of nearly incompressible rubber under its weight: linear cells lock,
// linear cells with `dilatation: nodal` bend.

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/simulation/scene.hpp"
#include "simulation/simulation_testing.hpp"

namespace diffsim::nodal_bending_test {
namespace {

using testing_simulation::mean_displacement;

constexpr double length = 1.0, depth = 0.1, youngs_modulus = 1e6;  // m, Pa

/// Deflection of the end of a clamped bar under its weight, divided by the deflection of an Euler–Bernoulli beam.
double sag(bool nodal, double poisson_ratio) {
  auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {length, depth, depth}, {12, 2, 2});
  DifferentiableMaterial rubber{
      "neo_hookean",
      {{"youngs_modulus", youngs_modulus}, {"poisson_ratio", poisson_ratio}, {"density", 1000.0}},
      "all"};
  rubber.nodal_dilatation = nodal;
  // The bar comes to rest: its lowest frequency, 3.5 √(E/12ρ) depth/length² = 3.2 rad/s, is damped critically.
  constexpr int num_steps = 600, substeps = 20;
  constexpr double dt = 3e-3;
  DifferentiableScene solver(
      mesh, {rubber},
      {.dt = dt, .substeps = substeps, .damping = 1.0 - 2.0 * 3.2 * dt / substeps, .gravity = {0.0, -0.1, 0.0}});
  solver.fix("x_min");
  solver.model().prepare();
  State state = solver.initial_state();
  for (int n = 0; n < num_steps; ++n) solver.step(n, state);
  const double weight = 1000.0 * 0.1 * depth * depth, inertia = std::pow(depth, 4) / 12.0;
  return -mean_displacement(*mesh, state, "x_max")[1] /
         (weight * std::pow(length, 4) / (8.0 * youngs_modulus * inertia));
}

TEST(nodal_bending, bends_where_linear_cells_lock) {
  const double compressible = sag(false, 0.3), locked = sag(false, 0.49), shared = sag(true, 0.49);
  EXPECT_LT(locked, 0.5 * compressible);
  EXPECT_GT(shared, 0.9 * compressible);
}

}  // namespace
}  // namespace diffsim::nodal_bending_test
