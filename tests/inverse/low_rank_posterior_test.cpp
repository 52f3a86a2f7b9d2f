// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Low-rank approximation of the posterior of a stiffness field, against the inverse of the assembled Hessian.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/covariance.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/inverse/posterior.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/simulation/scene.hpp"
#include "inverse/normal_numbers.hpp"

namespace diffsim::low_rank_posterior_test {
namespace {

/// Bar under a load, with observed displacements of all vertices. The unknowns are the logarithms of Young's modulus of
/// each cell, with a Matérn prior.
struct LoadedBar {
  explicit LoadedBar(MPI_Comm comm, double noise = 1e-3)
      : mesh(TetrahedralMesh::box(comm, {0.3, 0.1, 0.1}, {3, 1, 1})),
        scene(mesh, {DifferentiableMaterial("neo_hookean", {{"youngs_modulus", 1e4}, {"poisson_ratio", 0.3}})},
              options()) {
    scene.fix("x_min");
    scene.add_traction("x_max", {300.0, 100.0, -50.0});
    scene.model().prepare();
    State state = scene.initial_state();
    scene.step(0, state);
    std::vector<double> x = state["positions"].to_host();
    x.resize(3 * static_cast<std::size_t>(mesh->num_owned_vertices()));
    loss.add_likelihood(
        std::make_unique<TrackLoss>(*mesh, std::map<int, std::vector<double>>{{1, x}}, mesh->region("all")), noise);
    problem =
        std::make_unique<InverseProblem>(scene.model(), scene.initial_state(), 1, loss,
                                         std::vector<Unknown>{{.parameter = "youngs_modulus", .logarithmic = true}});
    const std::vector<double> mean(problem->size(), std::log(1e4));
    problem->add_prior(0, make_matern_prior(ValueGradient::of_cells(*mesh), mean, 0.5, 0.1));
  }
  static DifferentiableSolver options() {
    DifferentiableSolver options{.dt = 1.0, .gravity = {0, 0, 0}, .integrator = Integrator::quasi_static};
    options.implicit.newton.tolerance = 1e-12;
    return options;
  }
  /// Number of all unknowns.
  std::size_t size() const { return static_cast<std::size_t>(mesh->num_global_cells()); }
  /// This rank's entries of the unit vector of a cell, by the number of the cell in the file.
  std::vector<double> unit(std::size_t cell) const {
    std::vector<double> result(problem->size(), 0.0);
    for (std::size_t i = 0; i < result.size(); ++i)
      if (mesh->cell_order().file_index()[i] == static_cast<std::int64_t>(cell)) result[i] = 1.0;
    return result;
  }
  /// All entries of a vector, in the order of the file, on every rank.
  std::vector<double> all(const std::vector<double>& part) const {
    std::vector<double> result(size(), 0.0);
    for (std::size_t i = 0; i < part.size(); ++i)
      result[static_cast<std::size_t>(mesh->cell_order().file_index()[i])] = part[i];
    MPI_Allreduce(MPI_IN_PLACE, result.data(), static_cast<int>(result.size()), MPI_DOUBLE, MPI_SUM, mesh->comm());
    return result;
  }
  /// Matrix of a linear function, [n, n], one row per column of the matrix.
  template <class Function>
  std::vector<double> columns_of(const Function& function) const {
    std::vector<double> matrix;
    for (std::size_t j = 0; j < size(); ++j) {
      const std::vector<double> column = all(function(unit(j)));
      matrix.insert(matrix.end(), column.begin(), column.end());
    }
    return matrix;
  }

  std::shared_ptr<TetrahedralMesh> mesh;
  DifferentiableScene scene;
  SumLoss loss;
  std::unique_ptr<InverseProblem> problem;
};

/// Inverse of the Hessian of the loss with priors, [n, n].
std::vector<double> exact_covariance(LoadedBar& bar) {
  const std::vector<double> u = bar.problem->start();
  std::vector<double> hessian =
      bar.columns_of([&](const std::vector<double>& v) { return bar.problem->hessian_product(u, v); });
  const std::size_t n = bar.size();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      hessian[n * i + j] = hessian[n * j + i] = 0.5 * (hessian[n * i + j] + hessian[n * j + i]);
  return inverse_of_covariance(hessian, n);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = a.size() == b.size() ? 0.0 : HUGE_VAL;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    EXPECT_TRUE(std::isfinite(a[i]));
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

double largest_entry(const std::vector<double>& a) { return largest_difference(a, std::vector<double>(a.size(), 0.0)); }

class LowRankPosteriorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!LowRankPosterior::is_available()) GTEST_SKIP() << "this build has no SLEPc";
  }
};

TEST_F(LowRankPosteriorTest, of_full_rank_is_the_inverse_of_the_hessian) {
  LoadedBar bar(MPI_COMM_WORLD);
  const std::vector<double> u = bar.problem->start(), exact = exact_covariance(bar);
  const LowRankPosterior posterior(*bar.problem, u, 1000, 1e-9);
  ASSERT_EQ(posterior.eigenvalues().size(), bar.size());
  const std::vector<double> found =
      bar.columns_of([&](const std::vector<double>& b) { return posterior.covariance_product(b); });
  EXPECT_LE(largest_difference(found, exact), 1e-7 * largest_entry(exact));
  // F Fᵀ = C.
  const std::size_t n = bar.size();
  const std::vector<double> factor =
      bar.columns_of([&](const std::vector<double>& z) { return posterior.covariance_factor_product(z); });
  std::vector<double> square(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) square[n * i + j] += factor[n * k + i] * factor[n * k + j];
  EXPECT_LE(largest_difference(square, exact), 1e-7 * largest_entry(exact));
}

TEST_F(LowRankPosteriorTest, has_the_largest_eigenvalues) {
  LoadedBar bar(MPI_COMM_WORLD);
  const std::vector<double> u = bar.problem->start();
  const LowRankPosterior all(*bar.problem, u, static_cast<int>(bar.size())), some(*bar.problem, u, 5);
  ASSERT_EQ(some.eigenvalues().size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    const double lambda = some.eigenvalues()[i];
    EXPECT_NEAR(lambda, all.eigenvalues()[i], 1e-5 * (1.0 + lambda)) << i;
    if (i > 0) {
      EXPECT_LE(lambda, some.eigenvalues()[i - 1]);
    }
    // H v = λ C_prior⁻¹ v.
    const std::vector<double>& v = some.eigenvector(i);
    std::vector<double> precision = bar.problem->prior_product(u, v), product = bar.problem->hessian_product(u, v);
    for (std::size_t k = 0; k < v.size(); ++k) {
      product[k] -= precision[k];
      precision[k] *= lambda;
    }
    const std::vector<double> expected = bar.all(precision);
    EXPECT_LE(largest_difference(bar.all(product), expected), 1e-4 * largest_entry(expected)) << i;
  }
  EXPECT_GT(all.eigenvalues()[4], 1.0);
  EXPECT_GE(all.eigenvalues().back(), -1e-6);
}

TEST_F(LowRankPosteriorTest, estimates_standard_deviations_on_any_number_of_ranks) {
  LoadedBar bar(MPI_COMM_WORLD), alone(MPI_COMM_SELF);
  constexpr int samples = 200;
  const LowRankPosterior posterior(*bar.problem, bar.problem->start(), 1000, 1e-9),
      of_one(*alone.problem, alone.problem->start(), 1000, 1e-9);
  const std::vector<double> found = bar.all(posterior.deviation(samples)),
                            expected = alone.all(of_one.deviation(samples));
  const std::vector<double> exact = exact_covariance(bar);
  for (std::size_t i = 0; i < bar.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], 1e-6 * expected[i]) << i;
    // Five standard errors of the estimate.
    const double deviation = std::sqrt(exact[(bar.size() + 1) * i]);
    EXPECT_NEAR(found[i], deviation, 5.0 / std::sqrt(2.0 * samples) * deviation) << i;
  }
  EXPECT_GT(largest_difference(found, bar.all(posterior.deviation(samples, 2))), 1e-3 * largest_entry(found));
}

TEST_F(LowRankPosteriorTest, refuses_problems_without_a_prior_covariance) {
  LoadedBar bar(MPI_COMM_WORLD);
  const std::vector<double> u = bar.problem->start();
  const auto refused = [&](int rank, const std::string& words) {
    try {
      const LowRankPosterior posterior(*bar.problem, u, rank);
      ADD_FAILURE() << "not refused: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused(0, "the rank of a posterior is 0");
  bar.problem->add_prior(0, make_smooth_prior(ValueGradient::of_cells(*bar.mesh), 1.0));
  refused(3, "exactly one prior");
}

TEST(normal_numbers, are_independent_and_normal) {
  std::vector<std::uint64_t> numbers(20000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i;
  const std::vector<double> z = inverse::normal_numbers(numbers, 1), other = inverse::normal_numbers(numbers, 2);
  double mean = 0.0, square = 0.0, fourth = 0.0, next = 0.0, between = 0.0;
  const auto n = static_cast<double>(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    mean += z[i] / n;
    square += z[i] * z[i] / n;
    fourth += std::pow(z[i], 4) / n;
    next += z[i] * z[(i + 1) % z.size()] / n;
    between += z[i] * other[i] / n;
  }
  // Five standard errors: 1/√n for the mean and for products, √(2/n) and √(96/n) for the second and fourth moments.
  EXPECT_NEAR(mean, 0.0, 5.0 / std::sqrt(n));
  EXPECT_NEAR(square, 1.0, 5.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth, 3.0, 5.0 * std::sqrt(96.0 / n));
  EXPECT_NEAR(next, 0.0, 5.0 / std::sqrt(n));
  EXPECT_NEAR(between, 0.0, 5.0 / std::sqrt(n));
}

}  // namespace
}  // namespace diffsim::low_rank_posterior_test
