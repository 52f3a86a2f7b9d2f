// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/hessian_check.hpp"

#include <algorithm>
#include <cmath>

#include "inverse/check_tools.hpp"

namespace diffsim {

using namespace inverse;

namespace {

constexpr int curvature_window = 3;  // number of halvings in the window of Taylor orders

/// Returns w = y/‖y‖ + r/‖r‖ with random r. The vector w is random, but not nearly orthogonal to y, so that ⟨y, w⟩
/// loses no digits to cancellation.
std::vector<double> random_near(const std::vector<double>& y, unsigned seed, MPI_Comm comm) {
  std::mt19937_64 random = generator(seed, comm);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  std::vector<double> r(y.size());
  for (double& value : r) value = number(random);
  const double sizes[2] = {std::sqrt(inner_product(y, y, comm)), std::sqrt(inner_product(r, r, comm))};
  for (std::size_t i = 0; i < y.size(); ++i)
    r[i] = (sizes[0] > 0.0 ? y[i] / sizes[0] : 0.0) + (sizes[1] > 0.0 ? r[i] / sizes[1] : 0.0);
  return r;
}

/// Comparison of ⟨w, H v⟩ with differences of ⟨w, ∇L⟩ along v, and orders of the remainder of the Taylor expansion of L
/// along v.
class HessianDifferences {
 public:
  HessianDifferences(InverseProblem& problem, const std::vector<double>& u, const std::vector<double>& v,
                     const std::vector<double>& w)
      : problem_(problem), u_(u), v_(v), w_(w) {}

  void measure(const std::vector<double>& Hv, double resolution, HessianCheck& check) {
    const Line slope = along(u_, v_, [this](const std::vector<double>& moved) {
      const double loss = problem_.gradient(moved, gradient_);
      last_loss_ = loss;
      return inner_product(w_, gradient_, problem_.comm());
    });
    const double at_zero = slope(0.0), loss = last_loss_;
    const Expansion expansion{loss, inner_product(gradient_, v_, problem_.comm()),
                              inner_product(v_, Hv, problem_.comm())};
    const double noise = measure_noise(slope, at_zero);
    std::vector<LinePair> losses;
    const Line watched = [&](double epsilon) {
      last_loss_ = std::nan("");
      const double value = slope(epsilon);
      if (epsilon > 0.0) losses.push_back({epsilon, last_loss_, 0.0});
      return value;
    };
    check.product = inner_product(w_, Hv, problem_.comm());
    const Slope measured = measure_slope(watched, noise, check.product);
    check.difference = measured.value;
    check.difference_error = measured.error;
    const double size = std::max(std::abs(check.product), std::abs(check.difference));
    const double allowed = std::max(1e-8 * size, safety * check.difference_error);
    // For a product close to zero, the allowed error is compared with the slope ⟨w, ∇L⟩.
    check.passed = std::abs(check.product - check.difference) <= allowed &&
                   allowed <= resolution * std::max(size, resolution * std::abs(at_zero));

    losses.erase(losses.begin(), losses.end() - static_cast<std::ptrdiff_t>(measured.pairs.size()));
    const double noise_of_loss =
        measure_noise(along(u_, v_, [this](const std::vector<double>& moved) { return problem_.value(moved); }), loss);
    const RemainderOrders remainder = remainder_orders(losses, expansion, noise_of_loss, 3.0, curvature_window);
    check.taylor_orders = remainder.orders;
    check.first_step = remainder.first_step;
    check.quadratic = remainder.exact;
  }

 private:
  InverseProblem& problem_;
  const std::vector<double>& u_;
  const std::vector<double>& v_;
  const std::vector<double>& w_;
  std::vector<double> gradient_;
  double last_loss_ = 0.0;
};

}  // namespace

HessianCheck check_hessian(InverseProblem& problem, const std::vector<double>& u, const HessianCheckOptions& options) {
  const MPI_Comm comm = problem.comm();
  const TightSolver solver(problem, u);
  std::vector<double> v(problem.size(), 0.0);
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
    const std::vector<double> one = random_direction(problem, k, u, options.seed + static_cast<unsigned>(k));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += one[i];
  }
  std::vector<double> gradient;
  const std::vector<double> Hv = problem.hessian_product(u, v, &gradient);
  const std::vector<double> w = random_near(Hv, options.seed + 1000, comm);
  const std::vector<double> Hw = problem.hessian_product(u, w);

  HessianCheck check;
  const double one = inner_product(w, Hv, comm), other = inner_product(v, Hw, comm);
  const double scale = std::max(std::abs(one), std::abs(other));
  check.symmetry = scale == 0.0 ? 0.0 : std::abs(one - other) / scale;
  check.passed = true;
  if (options.differences) HessianDifferences(problem, u, v, w).measure(Hv, options.resolution, check);
  check.passed =
      check.passed && check.symmetry <= std::max(options.symmetry_tolerance, 10.0 * solver.given_tolerance());
  problem.set(u);
  return check;
}

}  // namespace diffsim
