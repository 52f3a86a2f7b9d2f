// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Elastic energy of coarse second-order cells, bent and compressed unevenly, with each available quadrature rule. The
// reference is a rule of high degree on the same deformed cells.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "elastic/neo_hookean.hpp"
#include "statics_testing.hpp"

namespace diffsim::quadrature_test {
namespace {

constexpr double youngs_modulus = 2e4, poisson_ratio = 0.45;

/// Mesh of [0, 1]³ with curved or straight edges.
std::shared_ptr<TetrahedralMesh> body(bool curved, int degree) {
  return mapped_box(
      {2, 2, 2}, 2,
      [curved](const Point& x) {
        const double bend = curved ? 0.2 : 0.0;
        return Point{x[0] + bend * x[1] * x[1], x[1] - bend * x[2] * x[0], x[2] + bend * x[0] * x[1]};
      },
      degree);
}

/// Positions of the local vertices: twisted, bent, and compressed most where z is small.
std::vector<double> deformed(const TetrahedralMesh& mesh) {
  std::vector<double> x = mesh.rest_positions();
  for (std::size_t i = 0; i < x.size(); i += 3) {
    const double angle = 0.8 * x[i + 2], squeeze = 1.0 - 0.3 * std::exp(-3.0 * x[i + 2]);
    const double X = squeeze * x[i], Y = x[i + 1] + 0.2 * std::sin(2.0 * x[i]);
    x[i] = std::cos(angle) * X - std::sin(angle) * Y;
    x[i + 1] = std::sin(angle) * X + std::cos(angle) * Y;
    x[i + 2] *= 1.0 + 0.25 * x[i] * x[i + 2];
  }
  return x;
}

double energy(bool curved, int degree) {
  const auto mesh = body(curved, degree);
  DifferentiableScene solver(
      mesh, {{"neo_hookean", {{"youngs_modulus", youngs_modulus}, {"poisson_ratio", poisson_ratio}}, "all"}},
      {.dt = 1e-3, .substeps = 1, .gravity = {0.0, 0.0, 0.0}});
  solver.model().prepare();
  State state = solver.initial_state();
  state["positions"].from_host(deformed(*mesh));
  return solver.system().potential_energy(state, 0);
}

/// Energy by a Gauss–Legendre rule with `n` points along each side of the collapsed cube.
double reference(bool curved, int n) {
  const auto mesh = body(curved, 2);
  const std::vector<double> x = deformed(*mesh);
  const double parameters[2] = {youngs_modulus, poisson_ratio};
  double moduli[2], sum = 0.0;
  NeoHookean::moduli(parameters, moduli);
  for (const auto& point : quadrature(n)) {
    const ShapeFunctions shape = shape_at(10, point);
    for (int cell = 0; cell < mesh->num_cells(); ++cell) {
      const AtPoint at = interpolate(*mesh, cell, shape, x);
      sum += point[3] * at.volume * NeoHookean::energy(at.gradient, moduli);
    }
  }
  return sum_over_ranks(sum);
}

class Rules : public testing::TestWithParam<bool> {};

TEST_P(Rules, degree_five_is_far_closer) {
  const bool curved = GetParam();
  const double exact = reference(curved, 10);
  ASSERT_NEAR(reference(curved, 8), exact, 1e-8 * exact);
  const double two = std::abs(energy(curved, 2) / exact - 1.0), five = std::abs(energy(curved, 5) / exact - 1.0);
  if (std::getenv("DIFFSIM_VERBOSE")) std::printf("curved %d: errors %.2e and %.2e\n", curved, two, five);
  EXPECT_GT(two, 3e-4);
  EXPECT_LT(five, two / 200.0);
}

INSTANTIATE_TEST_SUITE_P(quadrature, Rules, testing::Bool());

}  // namespace
}  // namespace diffsim::quadrature_test
