// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Statics compared with a manufactured solution: convergence orders of displacements and of their gradients.

#include <gtest/gtest.h>

#include <cmath>

#include "core/exchange.hpp"
#include "statics_testing.hpp"

namespace diffsim::manufactured_test {
namespace {

constexpr double youngs_modulus = 1.0, poisson_ratio = 0.3;
constexpr double mu = youngs_modulus / (2.0 * (1.0 + poisson_ratio));
constexpr double lambda = youngs_modulus * poisson_ratio / ((1.0 + poisson_ratio) * (1.0 - 2.0 * poisson_ratio));

// u_k = a_k exp(c_k · X), so derivatives are multiples of u_k.
constexpr double amplitude[3] = {0.1, -0.07, 0.05};
constexpr double exponent[3][3] = {{0.8, 0.9, -0.6}, {-0.9, 0.7, 1.1}, {1.0, -0.5, 0.8}};

double displacement(const Point& x, std::size_t k) {
  return amplitude[k] * std::exp(exponent[k][0] * x[0] + exponent[k][1] * x[1] + exponent[k][2] * x[2]);
}
/// Body force -div σ with σ = λ tr ε I + 2 µ ε.
double body_force(const Point& x, std::size_t i) {
  double div = 0.0, laplace = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    div += exponent[k][i] * exponent[k][k] * displacement(x, k);
    laplace += exponent[i][k] * exponent[i][k];
  }
  return -(lambda + mu) * div - mu * laplace * displacement(x, i);
}

struct Errors {
  double L2, H1;
};

Errors errors_on(int n, int order) {
  // A box of bricks of different shapes.
  const auto mesh = mapped_box({n, n, n}, order, [](const Point& x) {
    return Point{x[0] + 0.05 * x[0] * x[1], x[1] - 0.04 * x[1] * x[2], x[2] + 0.06 * x[2] * x[0]};
  });
  DifferentiableMaterial material{
      "linear_elastic", {{"youngs_modulus", youngs_modulus}, {"poisson_ratio", poisson_ratio}}, "all"};
  DifferentiableScene solver(mesh, {material},
                             {.dt = 1.0, .gravity = {0, 0, 0}, .integrator = Integrator::quasi_static});
  for (const char* side : {"x_min", "x_max", "y_min", "y_max", "z_min", "z_max"}) solver.fix(side);

  const int nodes = mesh->nodes_per_cell();
  const std::vector<double>& X = mesh->rest_positions();
  std::vector<ShapeFunctions> shapes;
  const auto points = quadrature(order + 2);
  for (const auto& point : points) shapes.push_back(shape_at(nodes, point));
  std::vector<double> load(X.size(), 0.0), start(3 * static_cast<std::size_t>(mesh->num_owned_vertices()));
  for (std::size_t i = 0; i < start.size(); ++i) {
    const std::size_t v = 3 * (i / 3);
    start[i] = displacement({X[v], X[v + 1], X[v + 2]}, i % 3);
  }
  for (int cell = 0; cell < mesh->num_cells(); ++cell)
    for (std::size_t q = 0; q < points.size(); ++q) {
      const AtPoint at = interpolate(*mesh, cell, shapes[q], X);
      const Point x{at.value[0], at.value[1], at.value[2]};
      const Point force{body_force(x, 0), body_force(x, 1), body_force(x, 2)};
      for (int a = 0; a < nodes; ++a) {
        const auto v = static_cast<std::size_t>(mesh->cells()[static_cast<std::size_t>(nodes * cell + a)]);
        const double weight = points[q][3] * at.volume * shapes[q].value[static_cast<std::size_t>(a)];
        for (std::size_t c = 0; c < 3; ++c) load[3 * v + c] += weight * force[c];
      }
    }
  Field field("load", mesh->vertex_entities(), 3);
  field.from_host(load);
  mesh->vertex_exchange().add_to_owners(field);
  load = field.to_host();
  load.resize(start.size());
  solver.add_nodal_load(load);
  solver.set_initial_displacement(start);  // fixed vertices keep these displacements

  std::vector<double> u = equilibrium(solver);
  for (std::size_t i = 0; i < u.size(); ++i) u[i] -= X[i];
  double L2 = 0.0, H1 = 0.0;
  for (int cell = 0; cell < mesh->num_cells(); ++cell)
    for (std::size_t q = 0; q < points.size(); ++q) {
      const AtPoint x = interpolate(*mesh, cell, shapes[q], X), at = interpolate(*mesh, cell, shapes[q], u);
      for (int i = 0; i < 3; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const double exact = displacement({x.value[0], x.value[1], x.value[2]}, k);
        L2 += points[q][3] * x.volume * std::pow(at.value[i] - exact, 2);
        for (int j = 0; j < 3; ++j)
          H1 += points[q][3] * x.volume *
                std::pow(at.gradient(i, j) - exponent[k][static_cast<std::size_t>(j)] * exact, 2);
      }
    }
  return {std::sqrt(sum_over_ranks(L2)), std::sqrt(sum_over_ranks(H1))};
}

class Manufactured : public testing::TestWithParam<int> {};

TEST_P(Manufactured, converges_at_the_order_of_its_cells) {
  const int order = GetParam();
  const std::vector<int> sizes = order == 1 ? std::vector<int>{4, 8, 12} : std::vector<int>{2, 4, 6};
  std::vector<Errors> errors;
  for (const int n : sizes) {
    errors.push_back(errors_on(n, order));
    if (errors.size() == 1) continue;
    const Errors &fine = errors.back(), &coarse = errors[errors.size() - 2];
    const double ratio = std::log(static_cast<double>(n) / sizes[errors.size() - 2]);
    const double L2 = std::log(coarse.L2 / fine.L2) / ratio, H1 = std::log(coarse.H1 / fine.H1) / ratio;
    RecordProperty("orders_at_" + std::to_string(n), std::to_string(L2) + " " + std::to_string(H1));
    if (std::getenv("DIFFSIM_VERBOSE"))
      printf("order %d, n %d: L2 %.3e (%.3f) H1 %.3e (%.3f)\n", order, n, fine.L2, L2, fine.H1, H1);
    if (n != sizes.back()) continue;
    EXPECT_NEAR(L2, order + 1.0, 0.1);
    EXPECT_NEAR(H1, order, 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(statics, Manufactured, testing::Values(1, 2));

}  // namespace
}  // namespace diffsim::manufactured_test
