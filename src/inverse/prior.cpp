// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/inverse/prior.hpp"

#include <petscsys.h>

#include <petscblaslapack.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <utility>

#include "core/covariance.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "inverse/check_tools.hpp"
#include "inverse/field_solver.hpp"
#include "inverse/petsc_vectors.hpp"

namespace diffsim {

using namespace inverse;

namespace {

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
  return result;
}

/// Quadratic prior ½ (u - mean)ᵀ A (u - mean) with a symmetric matrix A. Derived classes with an invertible matrix A
/// override `has_covariance` and `covariance_product`.
class QuadraticPrior : public Prior {
 public:
  QuadraticPrior(MPI_Comm comm, std::vector<double> mean) : comm_(comm), mean_(std::move(mean)) {}

  std::size_t size() const override { return mean_.size(); }
  double value(const std::vector<double>& u) const override {
    const std::vector<double> r = difference(u, mean_);
    return 0.5 * inner_product(r, times(r), comm_);
  }
  void add_gradient(const std::vector<double>& u, std::vector<double>& gradient) const override {
    add_product(u, difference(u, mean_), gradient);
  }
  void add_product(const std::vector<double>& /*u*/, const std::vector<double>& v,
                   std::vector<double>& product) const override {
    const std::vector<double> added = times(v);
    for (std::size_t i = 0; i < added.size(); ++i) product[i] += added[i];
  }

 private:
  /// Returns A v. Collective.
  virtual std::vector<double> times(const std::vector<double>& v) const = 0;

  MPI_Comm comm_;
  std::vector<double> mean_;
};

class NormalPrior final : public QuadraticPrior {
 public:
  NormalPrior(MPI_Comm comm, std::vector<double> mean, std::vector<double> deviation)
      : QuadraticPrior(comm, std::move(mean)), deviation_(std::move(deviation)) {}

  bool has_covariance() const override { return true; }
  std::vector<double> covariance_product(const std::vector<double>& b) const override {
    std::vector<double> result(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) result[i] = b[i] * (deviation_[i] * deviation_[i]);
    return result;
  }
  std::vector<double> covariance_factor_product(const std::vector<double>& z) const override {
    std::vector<double> result(z.size());
    for (std::size_t i = 0; i < z.size(); ++i) result[i] = deviation_[i] * z[i];
    return result;
  }

 private:
  std::vector<double> times(const std::vector<double>& v) const override {
    std::vector<double> result(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) result[i] = v[i] / (deviation_[i] * deviation_[i]);
    return result;
  }

  std::vector<double> deviation_;
};

/// Normal prior with a covariance matrix. The first rank stores the matrix and its Cholesky factor.
class CorrelatedPrior final : public QuadraticPrior {
 public:
  CorrelatedPrior(MPI_Comm comm, std::vector<double> mean, std::vector<double> covariance, std::vector<double> factor)
      : QuadraticPrior(comm, std::move(mean)), covariance_(std::move(covariance)), factor_(std::move(factor)) {}

  bool has_covariance() const override { return true; }
  std::vector<double> covariance_product(const std::vector<double>& b) const override {
    std::vector<double> result(b.size(), 0.0);
    for (std::size_t i = 0; i < b.size(); ++i)
      for (std::size_t j = 0; j < b.size(); ++j) result[i] += covariance_[b.size() * i + j] * b[j];
    return result;
  }
  std::vector<double> covariance_factor_product(const std::vector<double>& z) const override {
    // The Cholesky factor is stored by columns.
    const std::size_t n = z.size();
    std::vector<double> result(n, 0.0);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j; i < n; ++i) result[i] += factor_[n * j + i] * z[j];
    return result;
  }

 private:
  std::vector<double> times(const std::vector<double>& v) const override {
    std::vector<double> result = v;
    if (v.empty()) return result;
    const auto n = static_cast<PetscBLASInt>(v.size());
    const PetscBLASInt one = 1;
    PetscBLASInt info = 0;
    LAPACKpotrs_("L", &n, &one, const_cast<double*>(factor_.data()), &n, result.data(), &n, &info);
    return result;
  }

  std::vector<double> covariance_, factor_;
};

class SmoothPrior final : public QuadraticPrior {
 public:
  SmoothPrior(ValueGradient gradient, std::vector<double> mean, double weight)
      : QuadraticPrior(gradient.comm(), std::move(mean)), gradient_(std::move(gradient)), weight_(weight) {}

 private:
  std::vector<double> times(const std::vector<double>& v) const override {
    std::vector<double> result = gradient_.stiffness_times(v);
    for (double& entry : result) entry *= weight_;
    return result;
  }

  ValueGradient gradient_;
  double weight_;
};

class MaternPrior final : public QuadraticPrior {
 public:
  MaternPrior(ValueGradient gradient, std::vector<double> mean, double kappa, double tau)
      : QuadraticPrior(gradient.comm(), std::move(mean)),
        gradient_(std::move(gradient)),
        kappa2_(kappa * kappa),
        tau_(tau) {}

  bool has_covariance() const override { return true; }
  std::vector<double> covariance_product(const std::vector<double>& b) const override {
    std::vector<double> z = solver().solve(b);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] *= gradient_.lumped()[i] / (tau_ * tau_);
    return solver().solve(z);
  }
  std::vector<double> covariance_factor_product(const std::vector<double>& z) const override {
    // F = (κ² M + K)⁻¹ M^½ / τ.
    std::vector<double> b = z;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] *= std::sqrt(gradient_.lumped()[i]) / tau_;
    return solver().solve(b);
  }

 private:
  const FieldSolver& solver() const {
    if (!solver_) solver_ = std::make_unique<FieldSolver>(gradient_, kappa2_, "prior_");
    return *solver_;
  }
  std::vector<double> times(const std::vector<double>& v) const override {
    std::vector<double> z = operator_times(v);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] *= tau_ * tau_ / gradient_.lumped()[i];
    return operator_times(z);
  }
  /// Returns (κ² M + K) v, with the lumped mass matrix M and the stiffness matrix K of the gradient.
  std::vector<double> operator_times(const std::vector<double>& v) const {
    std::vector<double> result = gradient_.stiffness_times(v);
    for (std::size_t i = 0; i < v.size(); ++i) result[i] += kappa2_ * gradient_.lumped()[i] * v[i];
    return result;
  }

  ValueGradient gradient_;
  double kappa2_, tau_;
  mutable std::unique_ptr<FieldSolver> solver_;  // nullptr until the first product with the covariance matrix
};

class TotalVariationPrior final : public Prior {
 public:
  TotalVariationPrior(ValueGradient gradient, std::vector<double> mean, double weight, double epsilon)
      : gradient_(std::move(gradient)), mean_(std::move(mean)), weight_(weight), epsilon_(epsilon) {}

  std::size_t size() const override { return mean_.size(); }
  double value(const std::vector<double>& u) const override {
    double sum = 0.0;
    at_points(gradient_.times(difference(u, mean_)), [&](std::size_t point, double* /*slope*/, double root) {
      sum += weight_ * gradient_.measure()[point * gradient_.width()] * root;
    });
    return sum_over_ranks(sum, gradient_.comm());
  }
  void add_gradient(const std::vector<double>& u, std::vector<double>& gradient) const override {
    std::vector<double> flux =
        at_points(gradient_.times(difference(u, mean_)), [&](std::size_t point, double* slope, double root) {
          for (std::size_t i = 0; i < gradient_.width(); ++i)
            slope[i] *= weight_ * gradient_.measure()[point * gradient_.width()] / root;
        });
    add(gradient_.transpose_times(flux), gradient);
  }
  void add_product(const std::vector<double>& u, const std::vector<double>& v,
                   std::vector<double>& product) const override {
    // With the slopes s = D (u - mean) and t = D v, the derivative of s/√(|s|² + ε²) along t is (t - s (s·t)/(|s|² +
    // ε²)) / √(|s|² + ε²).
    const std::vector<double> along = gradient_.times(v);
    std::vector<double> flux =
        at_points(gradient_.times(difference(u, mean_)), [&](std::size_t point, double* slope, double root) {
          const double* const t = along.data() + point * gradient_.width();
          double projection = 0.0;
          for (std::size_t i = 0; i < gradient_.width(); ++i) projection += slope[i] * t[i] / (root * root);
          for (std::size_t i = 0; i < gradient_.width(); ++i)
            slope[i] = weight_ * gradient_.measure()[point * gradient_.width()] * (t[i] - projection * slope[i]) / root;
        });
    add(gradient_.transpose_times(flux), product);
  }

 private:
  /// Calls body(point, slope, √(|slope|² + ε²)) at each point. `body` may change the slope. Returns all slopes, as
  /// changed by `body`.
  std::vector<double> at_points(std::vector<double> slopes,
                                const std::function<void(std::size_t, double*, double)>& body) const {
    for (std::size_t point = 0; point < gradient_.measure().size() / gradient_.width(); ++point) {
      double* const slope = slopes.data() + point * gradient_.width();
      double square = epsilon_ * epsilon_;
      for (std::size_t i = 0; i < gradient_.width(); ++i) square += slope[i] * slope[i];
      body(point, slope, std::sqrt(square));
    }
    return slopes;
  }
  static void add(const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
  }

  ValueGradient gradient_;
  std::vector<double> mean_;
  double weight_, epsilon_;
};

}  // namespace

std::vector<double> Prior::covariance_product(const std::vector<double>& /*b*/) const {
  throw Error("this prior has no covariance matrix", ErrorKind::input);
}
std::vector<double> Prior::covariance_factor_product(const std::vector<double>& /*z*/) const {
  throw Error("this prior has no covariance matrix", ErrorKind::input);
}

std::unique_ptr<Prior> make_normal_prior(MPI_Comm comm, std::vector<double> mean, std::vector<double> deviation) {
  collectively(comm, [&] {
    if (deviation.size() != mean.size())
      throw Error("a normal prior has " + std::to_string(mean.size()) + " means and " +
                      std::to_string(deviation.size()) + " deviations",
                  ErrorKind::input);
    for (const double value : mean)
      if (!std::isfinite(value)) throw Error("the mean of a prior has a value that is not finite", ErrorKind::input);
    for (const double sigma : deviation)
      if (!(sigma > 0.0) || !std::isfinite(sigma))
        throw Error("a standard deviation is " + std::to_string(sigma) + "; give positive numbers", ErrorKind::input);
  });
  return std::make_unique<NormalPrior>(comm, std::move(mean), std::move(deviation));
}

std::unique_ptr<Prior> make_normal_prior_with_covariance(MPI_Comm comm, std::vector<double> mean,
                                                         const std::vector<double>& covariance) {
  const std::size_t size = mean.size();
  std::vector<double> factor;
  collectively(comm, [&] {
    for (const double value : mean)
      if (!std::isfinite(value)) throw Error("the mean of a prior has a value that is not finite", ErrorKind::input);
    factor = cholesky_of_covariance(covariance, size);
  });
  if (!is_first_rank(comm)) {
    mean.clear();
    factor.clear();
  }
  return std::make_unique<CorrelatedPrior>(comm, std::move(mean),
                                           is_first_rank(comm) ? covariance : std::vector<double>(), std::move(factor));
}

namespace {

/// Throws Error (input) if one of `numbers` is not positive and finite, if the size of `mean` differs from that of u,
/// or if a value of `mean` is not finite. If `mean` is empty on all ranks, sets `mean` to zeros. Collective.
void check(const ValueGradient& gradient, const std::vector<std::pair<const char*, double>>& numbers,
           std::vector<double>& mean) {
  if (sum_over_ranks(static_cast<std::int64_t>(mean.size()), gradient.comm()) == 0) mean.assign(gradient.size(), 0.0);
  collectively(gradient.comm(), [&] {
    for (const auto& [name, number] : numbers)
      if (!(number > 0.0) || !std::isfinite(number))
        throw Error(std::string(name) + " of a prior is " + std::to_string(number) + "; give a number above 0",
                    ErrorKind::input);
    if (mean.size() != gradient.size())
      throw Error("the mean of a prior has " + std::to_string(mean.size()) + " values for an unknown with " +
                      std::to_string(gradient.size()),
                  ErrorKind::input);
    for (const double value : mean)
      if (!std::isfinite(value)) throw Error("the mean of a prior has a value that is not finite", ErrorKind::input);
  });
}

}  // namespace

std::unique_ptr<Prior> make_smooth_prior(ValueGradient gradient, double weight, std::vector<double> mean) {
  check(gradient, {{"the weight", weight}}, mean);
  return std::make_unique<SmoothPrior>(std::move(gradient), std::move(mean), weight);
}

std::unique_ptr<Prior> make_total_variation_prior(ValueGradient gradient, double weight, double epsilon,
                                                  std::vector<double> mean) {
  check(gradient, {{"the weight", weight}, {"epsilon", epsilon}}, mean);
  if (gradient.width() == 0)
    throw Error("the total variation of values of cells needs ValueGradient::across_faces", ErrorKind::input);
  return std::make_unique<TotalVariationPrior>(std::move(gradient), std::move(mean), weight, epsilon);
}

std::unique_ptr<Prior> make_matern_prior(ValueGradient gradient, std::vector<double> mean, double deviation,
                                         double length) {
  check(gradient, {{"the deviation", deviation}, {"the length", length}}, mean);
  // Lindgren, Rue & Lindström 2011, equations 1 to 3: the variance of the solution is
  // Γ(ν) / (Γ(α) (4π)^(d/2) κ^(2ν) τ²) for ν = α - d/2.
  const double dimension = gradient.dimension(), nu = 2.0 - 0.5 * dimension, kappa = std::sqrt(8.0 * nu) / length;
  const double variance_without_tau =
      std::tgamma(nu) /
      (std::tgamma(2.0) * std::pow(4.0 * std::numbers::pi, 0.5 * dimension) * std::pow(kappa, 2.0 * nu));
  const double tau = std::sqrt(variance_without_tau) / deviation;
  return std::make_unique<MaternPrior>(std::move(gradient), std::move(mean), kappa, tau);
}

}  // namespace diffsim
