// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Priors: derivatives against differences, values against formulas and against one rank, and the covariance of Matérn
// fields against its formula.

#include "diffsim/inverse/prior.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::prior_test {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b, MPI_Comm comm) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum_over_ranks(sum, comm);
}

std::vector<double> moved(std::vector<double> a, double h, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += h * b[i];
  return a;
}

/// Eighth-order central difference of f at 0.
double slope(const std::function<double(double)>& f, double h) {
  constexpr double weights[4] = {4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0};
  double sum = 0.0;
  for (int k = 1; k <= 4; ++k) sum += weights[k - 1] * (f(k * h) - f(-k * h));
  return sum / h;
}

enum class On { cells, vertices, second_order_vertices, steps };

/// Values of an unknown on a box or on steps: a function of the position, or of the time, in each component.
struct Values {
  using Function = std::function<double(double x, double y, double z, int component)>;
  static constexpr int num_steps = 17;
  static constexpr double dt = 0.05;

  Values(On on_, MPI_Comm comm_, std::array<int, 3> cells = {5, 4, 3}) : on(on_), comm(comm_) {
    if (on != On::steps) mesh = TetrahedralMesh::box(comm, size, cells, on == On::second_order_vertices ? 2 : 1);
    components = on == On::cells ? 1 : on == On::steps ? 2 : 3;
  }
  ValueGradient gradient() const {
    if (on == On::cells) return ValueGradient::of_cells(*mesh);
    if (on == On::steps) return ValueGradient::of_steps(comm, num_steps, components, dt);
    return ValueGradient::of_vertices(*mesh, components);
  }
  /// Gradient for the total variation.
  ValueGradient variation() const { return on == On::cells ? ValueGradient::across_faces(*mesh) : gradient(); }
  std::vector<double> operator()(const Function& function) const {
    std::vector<double> result;
    const auto add = [&](double x, double y, double z) {
      for (int c = 0; c < components; ++c) result.push_back(function(x, y, z, c));
    };
    if (on == On::steps) {
      for (int n = 0; n < num_steps && is_first_rank(comm); ++n) add(dt * n, 0.0, 0.0);
      return result;
    }
    const std::vector<double>& X = mesh->rest_positions();
    if (on == On::cells) {
      for (std::size_t cell = 0; cell < static_cast<std::size_t>(mesh->num_cells()); ++cell) {
        double centroid[3] = {};
        for (std::size_t i = 0; i < 4; ++i)
          for (std::size_t d = 0; d < 3; ++d)
            centroid[d] += 0.25 * X[3 * static_cast<std::size_t>(mesh->cells()[4 * cell + i]) + d];
        add(centroid[0], centroid[1], centroid[2]);
      }
      return result;
    }
    for (std::size_t v = 0; v < static_cast<std::size_t>(mesh->num_owned_vertices()); ++v)
      add(X[3 * v], X[3 * v + 1], X[3 * v + 2]);
    return result;
  }

  static constexpr std::array<double, 3> size = {1.0, 0.7, 0.4};
  On on;
  MPI_Comm comm;
  std::shared_ptr<TetrahedralMesh> mesh;
  int components = 1;
};

double wavy(double x, double y, double z, int c) { return 1.3 + std::sin(3.0 * x + 2.0 * y - z + 0.7 * c); }
double waves_of_direction(double x, double y, double z, int c) {
  return std::cos(5.0 * x - 4.0 * y + 2.0 * z + 0.3 * c);
}

struct Case {
  const char* name;
  std::function<std::unique_ptr<Prior>(const Values&)> make;
};

std::vector<Case> all_cases() {
  const auto mean = [](const Values& values) { return values([](double x, double, double, int) { return 1.0 + x; }); };
  return {
      {"normal",
       [=](const Values& values) {
         return make_normal_prior(values.comm, mean(values),
                                  values([](double x, double, double, int) { return 0.1 + x * x; }));
       }},
      {"smooth", [](const Values& values) { return make_smooth_prior(values.gradient(), 0.7); }},
      {"total_variation",
       [](const Values& values) {
         return make_total_variation_prior(values.variation(), 0.7, 3.0, values(waves_of_direction));
       }},
      {"matern", [=](const Values& values) { return make_matern_prior(values.gradient(), mean(values), 0.3, 0.5); }},
  };
}

class EveryPrior : public testing::TestWithParam<On> {};

TEST_P(EveryPrior, has_the_derivatives_of_its_value) {
  const Values values(GetParam(), MPI_COMM_WORLD);
  constexpr double step = 5e-3;
  const std::vector<double> u = values(wavy), v = values(waves_of_direction);
  const std::vector<double> w = values([](double x, double y, double z, int c) { return 0.2 + x - y * z + 0.5 * c; });
  for (const Case& one : all_cases()) {
    const std::unique_ptr<Prior> prior = one.make(values);
    std::vector<double> gradient(u.size(), 0.0), product(u.size(), 0.0);
    prior->add_gradient(u, gradient);
    prior->add_product(u, v, product);
    const double by_gradient = dot(gradient, v, values.comm), by_product = dot(product, w, values.comm);
    const double by_values = slope([&](double h) { return prior->value(moved(u, h, v)); }, step);
    const double by_gradients = slope(
        [&](double h) {
          std::vector<double> at(u.size(), 0.0);
          prior->add_gradient(moved(u, h, v), at);
          return dot(at, w, values.comm);
        },
        step);
    EXPECT_NE(by_gradient, 0.0) << one.name;
    EXPECT_NEAR(by_gradient, by_values, 1e-9 * std::abs(by_gradient)) << one.name;
    EXPECT_NEAR(by_product, by_gradients, 1e-9 * std::abs(by_product)) << one.name;
  }
}

TEST_P(EveryPrior, is_the_same_on_any_number_of_ranks) {
  if (num_ranks(MPI_COMM_WORLD) == 1) GTEST_SKIP() << "one rank is what others are compared with";
  const Values values(GetParam(), MPI_COMM_WORLD), alone(GetParam(), MPI_COMM_SELF);
  for (const Case& one : all_cases()) {
    const std::unique_ptr<Prior> prior = one.make(values), of_one = one.make(alone);
    EXPECT_NEAR(prior->value(values(wavy)), of_one->value(alone(wavy)), 1e-12 * of_one->value(alone(wavy))) << one.name;
    const auto product = [](const Prior& of, const Values& on) {
      std::vector<double> result(on(wavy).size(), 0.0);
      of.add_product(on(wavy), on(waves_of_direction), result);
      return dot(result, on(wavy), on.comm);
    };
    EXPECT_NEAR(product(*prior, values), product(*of_one, alone), 1e-11 * std::abs(product(*of_one, alone)))
        << one.name;
  }
}

TEST_P(EveryPrior, has_the_covariance_that_is_the_inverse_of_its_second_derivative) {
  const Values values(GetParam(), MPI_COMM_WORLD);
  const std::vector<double> u = values(wavy), v = values(waves_of_direction);
  const auto length = [&](const std::vector<double>& a) { return std::sqrt(dot(a, a, values.comm)); };
  int covariances = 0;
  for (const Case& one : all_cases()) {
    const std::unique_ptr<Prior> prior = one.make(values);
    if (!prior->has_covariance()) {
      EXPECT_THROW(prior->covariance_product(v), Error) << one.name;
      continue;
    }
    ++covariances;
    std::vector<double> product(u.size(), 0.0);
    prior->add_product(u, v, product);
    const std::vector<double> back = prior->covariance_product(product);
    EXPECT_LT(length(moved(back, -1.0, v)), 1e-7 * length(v)) << one.name;
  }
  EXPECT_EQ(covariances, 2);  // normal and Matérn
}

/// Returns F Fᵀ b for the factor F of a prior's covariance matrix, from one product with F per unknown value.
std::vector<double> square_of_factor(const Prior& prior, const std::vector<double>& b, MPI_Comm comm) {
  const auto mine = static_cast<std::int64_t>(b.size());
  std::int64_t before = 0;
  MPI_Exscan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, comm);
  if (is_first_rank(comm)) before = 0;
  std::vector<double> result(b.size(), 0.0);
  const std::int64_t all = sum_over_ranks(mine, comm);
  for (std::int64_t j = 0; j < all; ++j) {
    std::vector<double> unit(b.size(), 0.0);
    if (j >= before && j < before + mine) unit[static_cast<std::size_t>(j - before)] = 1.0;
    const std::vector<double> column = prior.covariance_factor_product(unit);
    result = moved(result, dot(column, b, comm), column);
  }
  return result;
}

TEST_P(EveryPrior, has_a_factor_of_its_covariance) {
  const Values values(GetParam(), MPI_COMM_WORLD, {2, 1, 1});
  const std::vector<double> b = values(waves_of_direction);
  for (const Case& one : all_cases()) {
    const std::unique_ptr<Prior> prior = one.make(values);
    if (!prior->has_covariance()) {
      EXPECT_THROW(prior->covariance_factor_product(b), Error) << one.name;
      continue;
    }
    const std::vector<double> expected = prior->covariance_product(b),
                              error = moved(square_of_factor(*prior, b, values.comm), -1.0, expected);
    EXPECT_LT(dot(error, error, values.comm), 1e-14 * dot(expected, expected, values.comm)) << one.name;
  }
}

TEST(prior, with_a_covariance_matrix_has_this_covariance) {
  const std::unique_ptr<Prior> prior =
      make_normal_prior_with_covariance(MPI_COMM_WORLD, {0.0, 1.0}, {4.0, 1.0, 1.0, 2.0});
  const bool first = is_first_rank(MPI_COMM_WORLD);
  const std::vector<double> result =
      prior->covariance_product(first ? std::vector<double>{1.0, -2.0} : std::vector<double>{});
  const std::vector<double> square =
      square_of_factor(*prior, first ? std::vector<double>{1.0, -2.0} : std::vector<double>{}, MPI_COMM_WORLD);
  if (first) {
    EXPECT_EQ(result, (std::vector<double>{2.0, -3.0}));
    EXPECT_NEAR(square[0], 2.0, 1e-14);
    EXPECT_NEAR(square[1], -3.0, 1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(on, EveryPrior,
                         testing::Values(On::cells, On::vertices, On::second_order_vertices, On::steps));

TEST(prior, of_a_linear_field_is_that_of_its_slope) {
  const auto linear = [](double x, double y, double z, int c) { return 2.0 * x - y + 0.5 * z + 3.0 * c * x; };
  // |∇u|² over the components of a field on vertices.
  const double square = (4.0 + 25.0 + 64.0) + 3.0 * (1.0 + 0.25), volume = 1.0 * 0.7 * 0.4;
  for (const On on : {On::vertices, On::second_order_vertices}) {
    const Values values(on, MPI_COMM_WORLD);
    EXPECT_NEAR(make_smooth_prior(values.gradient(), 2.0)->value(values(linear)), square * volume, 1e-12);
    EXPECT_NEAR(make_total_variation_prior(values.gradient(), 1.0, 1e-9)->value(values(linear)),
                std::sqrt(square) * volume, 1e-12);
  }
  const Values signal(On::steps, MPI_COMM_WORLD);
  EXPECT_NEAR(make_smooth_prior(signal.gradient(), 2.0)->value(signal(linear)), (4.0 + 25.0) * 16 * Values::dt, 1e-12);
}

TEST(prior, of_a_linear_field_on_cells_is_that_of_its_slope_in_every_direction) {
  // Next to the corners with one or two tetrahedra the fits are constants. The part of these cells decreases as 1/n³.
  const std::array<std::array<double, 3>, 4> slopes = {{{1, 0, 0}, {1, 1, 1}, {1, -1, 0}, {-1, 0.5, 2}}};
  for (const std::array<double, 3>& g : slopes) {
    const auto linear = [&](double x, double y, double z, int) { return 0.3 + g[0] * x + g[1] * y + g[2] * z; };
    const double expected = (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * 0.28;
    double previous = 1.0;
    for (const int n : {4, 8}) {
      const Values values(On::cells, MPI_COMM_WORLD, {n, n, n});
      const double error = std::abs(make_smooth_prior(values.gradient(), 2.0)->value(values(linear)) / expected - 1.0);
      EXPECT_LT(error, std::min(0.1, 0.3 * previous)) << n << " along " << g[0] << ' ' << g[1] << ' ' << g[2];
      previous = error;
    }
  }
}

TEST(prior, of_a_linear_field_on_flat_cells_is_that_of_its_slope) {
  // Bricks 10 times as wide as high, in two layers. The error is that of the fits at the four corners.
  const auto mesh = TetrahedralMesh::box(MPI_COMM_WORLD, {2.0, 2.0, 0.02}, {20, 20, 2});
  std::vector<double> u;
  for (std::size_t cell = 0; cell < static_cast<std::size_t>(mesh->num_cells()); ++cell) {
    double sum = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      const double* const x = mesh->rest_positions().data() + 3 * mesh->cells()[4 * cell + i];
      sum += 0.25 * (x[0] - 2.0 * x[1] + 3.0 * x[2]);
    }
    u.push_back(sum);
  }
  EXPECT_NEAR(make_smooth_prior(ValueGradient::of_cells(*mesh), 2.0)->value(u), 14.0 * 0.08, 0.05 * 14.0 * 0.08);
}

TEST(prior, of_a_field_on_cells_resists_oscillations) {
  // A field that alternates between the two values ±1 has a small gradient of the fits, but large differences.
  const Values values(On::cells, MPI_COMM_WORLD, {6, 6, 6});
  const auto smooth = make_smooth_prior(values.gradient(), 2.0);
  std::vector<double> alternating(values(wavy).size());
  const std::vector<PetscInt>& numbers = values.mesh->cell_order().file_index();
  for (std::size_t i = 0; i < alternating.size(); ++i) alternating[i] = numbers[i] % 2 == 0 ? 1.0 : -1.0;
  EXPECT_GT(smooth->value(alternating), 20.0 * smooth->value(values(wavy)));
}

TEST(prior, total_variation_on_cells_is_the_area_of_a_jump) {
  const Values values(On::cells, MPI_COMM_WORLD, {5, 4, 3});
  const auto variation = make_total_variation_prior(ValueGradient::across_faces(*values.mesh), 2.0, 1e-9);
  const auto step = [](double x, double, double, int) { return x > 0.4 ? 3.0 : 0.0; };
  EXPECT_NEAR(variation->value(values(step)), 2.0 * 3.0 * 0.7 * 0.4, 1e-6);
  EXPECT_THROW(make_total_variation_prior(values.gradient(), 2.0, 1e-9), Error);
}

TEST(prior, total_variation_permits_a_jump) {
  // A ramp and a jump of the same height have the same total variation, but the jump has more energy of the slope.
  const Values values(On::steps, MPI_COMM_WORLD);
  const auto ramp = values([](double t, double, double, int c) { return c == 0 ? t : 0.0; });
  const auto jump = values([](double t, double, double, int c) { return c == 0 && t > 0.41 ? 16 * Values::dt : 0.0; });
  const auto variation = make_total_variation_prior(values.gradient(), 1.0, 1e-9);
  EXPECT_NEAR(variation->value(jump), variation->value(ramp), 1e-7);
  const auto smooth = make_smooth_prior(values.gradient(), 1.0);
  EXPECT_NEAR(smooth->value(jump), 16.0 * smooth->value(ramp), 1e-12);
}

/// Solves P x = b with the Hessian P of a quadratic prior by the conjugate gradient method.
std::vector<double> solve(const Prior& prior, const std::vector<double>& b, MPI_Comm comm) {
  std::vector<double> x(b.size(), 0.0), r = b, p = b;
  double square = dot(r, r, comm);
  const double first = square;
  for (int i = 0; i < 20000 && square > 1e-20 * first; ++i) {
    std::vector<double> product(b.size(), 0.0);
    prior.add_product(x, p, product);
    const double alpha = square / dot(p, product, comm);
    x = moved(x, alpha, p);
    r = moved(r, -alpha, product);
    const double next = dot(r, r, comm);
    p = moved(r, next / square, p);
    square = next;
  }
  EXPECT_LE(square, 1e-20 * first);
  return x;
}

TEST(prior, matern_of_a_constant_is_that_of_its_mass) {
  // P = τ² κ⁴/2 ∫ c², with τ² = 1/(8π κ σ²) in space and 1/(4 κ³ σ²) in time.
  constexpr double sigma = 0.3, length = 0.5, c = 1.7;
  for (const On on : {On::cells, On::vertices, On::second_order_vertices, On::steps}) {
    const Values values(on, MPI_COMM_WORLD);
    const std::vector<double> u = values([](double, double, double, int) { return c; });
    const auto prior = make_matern_prior(values.gradient(), std::vector<double>(u.size(), 0.0), sigma, length);
    const bool in_time = on == On::steps;
    const double kappa = (in_time ? std::sqrt(12.0) : 2.0) / length;
    const double tau2 = 1.0 / (sigma * sigma * (in_time ? 4.0 * std::pow(kappa, 3) : 8.0 * std::numbers::pi * kappa));
    const double size = in_time ? Values::num_steps * Values::dt : 1.0 * 0.7 * 0.4;
    const double expected = 0.5 * tau2 * std::pow(kappa, 4) * c * c * size * values.components;
    EXPECT_NEAR(prior->value(u), expected, 1e-10 * expected);
  }
}

TEST(prior, matern_signal_has_its_covariance) {
  // ν = 3/2: σ² (1 + κ r) exp(-κ r) with κ = √12/length.
  constexpr int steps = 401;
  constexpr double dt = 0.01, length = 0.6, sigma = 0.3;
  const bool first = is_first_rank(MPI_COMM_WORLD);
  const std::vector<double> zeros(first ? steps : 0, 0.0);
  const auto prior = make_matern_prior(ValueGradient::of_steps(MPI_COMM_WORLD, steps, 1, dt), zeros, sigma, length);
  std::vector<double> unit = zeros;
  if (first) unit[200] = 1.0;
  const std::vector<double> covariance = solve(*prior, unit, MPI_COMM_WORLD);
  if (!first) return;
  for (const int offset : {0, 10, 30, 60, 100}) {
    const double s = std::sqrt(12.0) / length * dt * offset;
    EXPECT_NEAR(covariance[static_cast<std::size_t>(200 + offset)], sigma * sigma * (1.0 + s) * std::exp(-s),
                2e-3 * sigma * sigma)
        << offset;
  }
}

/// Covariance, over σ², at a distance of `offset` vertices along an axis of an endless grid of spacing h, on which
/// linear tetrahedra have the stiffness matrix of the seven-point stencil: the integral over all waves. Tends to exp(-κ
/// r).
double covariance_on_grid(double h, double kappa, int offset) {
  constexpr int n = 96;  // waves per axis
  std::vector<double> square(n), phase(n);
  for (int i = 0; i < n; ++i) {
    const double t = 2.0 * std::numbers::pi * (i + 0.5) / n;
    square[static_cast<std::size_t>(i)] = 2.0 * (1.0 - std::cos(t)) / (h * h);
    phase[static_cast<std::size_t>(i)] = std::cos(t * offset);
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k)
        sum += phase[i] / std::pow(kappa * kappa + square[i] + square[j] + square[k], 2);
  return sum / std::pow(n * h, 3) * 8.0 * std::numbers::pi * kappa;
}

TEST(prior, matern_field_has_its_covariance) {
  // ν = 1/2: σ² exp(-κ r) with κ = 2/length, at the middle of a cube and at a distance r of a sixth of the edge. The
  // walls add 0.8 % of the variance.
  constexpr double sigma = 0.3, length = 0.3, kappa = 2.0 / length;
  for (const int n : {6, 12, 18}) {
    const auto mesh = TetrahedralMesh::create_cube(MPI_COMM_WORLD, n);
    const auto owned = static_cast<std::size_t>(mesh->num_owned_vertices());
    const auto prior =
        make_matern_prior(ValueGradient::of_vertices(*mesh, 1), std::vector<double>(owned, 0.0), sigma, length);
    std::vector<double> unit(owned, 0.0), beside(owned, 0.0);
    for (std::size_t v = 0; v < owned; ++v) {
      const double* const x = mesh->rest_positions().data() + 3 * v;
      if (std::abs(x[1] - 0.5) > 1e-9 || std::abs(x[2] - 0.5) > 1e-9) continue;
      if (std::abs(x[0] - 0.5) < 1e-9) unit[v] = 1.0;
      if (std::abs(x[0] - (0.5 + 1.0 / 6.0)) < 1e-9) beside[v] = 1.0;
    }
    const std::vector<double> covariance = solve(*prior, unit, MPI_COMM_WORLD);
    EXPECT_NEAR(dot(covariance, unit, MPI_COMM_WORLD) / (sigma * sigma), covariance_on_grid(1.0 / n, kappa, 0), 0.015);
    EXPECT_NEAR(dot(covariance, beside, MPI_COMM_WORLD) / (sigma * sigma), covariance_on_grid(1.0 / n, kappa, n / 6),
                0.015);
  }
  EXPECT_NEAR(covariance_on_grid(1.0 / 60.0, kappa, 0), 1.0, 0.035);
  EXPECT_NEAR(covariance_on_grid(1.0 / 60.0, kappa, 10), std::exp(-kappa / 6.0), 2e-3);
}

TEST(prior, matern_field_on_cells_has_its_covariance_in_every_direction) {
  // At the middle of a cube, and at nearby bricks along an axis and along diagonals. The correlation length is that of
  // three bricks, so the errors of the discretisation are 10 to 25 %.
  constexpr double sigma = 0.3, length = 0.25, kappa = 2.0 / length;
  constexpr int n = 11;
  const auto mesh = TetrahedralMesh::create_cube(MPI_COMM_WORLD, n);
  const auto num_cells = static_cast<std::size_t>(mesh->num_cells());
  const auto prior =
      make_matern_prior(ValueGradient::of_cells(*mesh), std::vector<double>(num_cells, 0.0), sigma, length);
  // Means over the six cells of a brick.
  const auto brick = [&](std::array<int, 3> at) {
    std::vector<double> mean(num_cells, 0.0);
    const std::int64_t first = 6 * (at[0] + n * (at[1] + n * static_cast<std::int64_t>(at[2])));
    for (std::size_t cell = 0; cell < num_cells; ++cell) {
      const std::int64_t number = mesh->cell_order().file_index()[cell];
      if (number >= first && number < first + 6) mean[cell] = 1.0 / 6.0;
    }
    return mean;
  };
  const std::vector<double> covariance = solve(*prior, brick({5, 5, 5}), MPI_COMM_WORLD);
  const auto at = [&](std::array<int, 3> place) {
    return dot(covariance, brick(place), MPI_COMM_WORLD) / (sigma * sigma);
  };
  EXPECT_NEAR(at({5, 5, 5}), 1.0, 0.2);
  // Distances 2 h, √3 h twice, and √2 h, each scaled to the covariance at the distance 2 h.
  const auto scaled = [&](std::array<int, 3> place, double distance) {
    return at(place) * std::exp(-kappa * (2.0 - distance) / n);
  };
  const double found[4] = {scaled({7, 5, 5}, 2.0), scaled({6, 6, 6}, std::sqrt(3.0)), scaled({6, 4, 6}, std::sqrt(3.0)),
                           scaled({6, 6, 5}, std::sqrt(2.0))};
  const double expected = std::exp(-kappa * 2.0 / n);
  for (const double value : found) EXPECT_NEAR(value, expected, 0.25 * expected);
  EXPECT_LT(*std::max_element(found, found + 4), 1.25 * *std::min_element(found, found + 4));
}

TEST(prior, with_a_covariance_matrix) {
  const bool first = is_first_rank(MPI_COMM_WORLD);
  const std::vector<double> mean = {1.0, 2.0, 3.0}, C = {4.0, 1.0, 0.5, 1.0, 2.0, -0.3, 0.5, -0.3, 1.0};
  const auto prior = make_normal_prior_with_covariance(MPI_COMM_WORLD, mean, C);
  // C (1, -1, 2) = (4, -1.6, 2.8).
  const std::vector<double> u = first ? std::vector<double>{5.0, 0.4, 5.8} : std::vector<double>{};
  EXPECT_NEAR(prior->value(u), 0.5 * (4.0 + 1.6 + 5.6), 1e-13);
  std::vector<double> gradient(u.size(), 0.0);
  prior->add_gradient(u, gradient);
  if (first) {
    EXPECT_NEAR(gradient[0], 1.0, 1e-13);
    EXPECT_NEAR(gradient[1], -1.0, 1e-13);
    EXPECT_NEAR(gradient[2], 2.0, 1e-13);
  }
}

std::string message(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(prior, refuses_what_is_not_a_distribution) {
  EXPECT_NE(message([] { make_normal_prior(MPI_COMM_WORLD, {1.0}, {0.0}); }).find("give positive numbers"),
            std::string::npos);
  EXPECT_NE(message([] {
              make_normal_prior_with_covariance(MPI_COMM_WORLD, {1.0, 1.0}, {1.0, 2.0, 2.0, 1.0});
            }).find("not positive definite"),
            std::string::npos);
  EXPECT_NE(message([] {
              make_normal_prior_with_covariance(MPI_COMM_WORLD, {1.0, 1.0}, {1.0, 0.2, 0.3, 1.0});
            }).find("not symmetric"),
            std::string::npos);
  EXPECT_NE(message([] {
              make_normal_prior_with_covariance(MPI_COMM_WORLD, {1.0, 1.0}, {1.0});
            }).find("needs 4 entries"),
            std::string::npos);
}

}  // namespace
}  // namespace diffsim::prior_test
