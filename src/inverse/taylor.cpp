// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/taylor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "diffsim/core/error.hpp"

namespace diffsim::inverse {
namespace {

/// L(u + ε v), NaN where the rollout fails.
double value_along(InverseProblem& problem, const std::vector<double>& u, const std::vector<double>& v,
                   double epsilon) {
  std::vector<double> moved = u;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += epsilon * v[i];
  try {
    return problem.value(moved);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::system) throw;
    return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

double sum_over_ranks(double share, MPI_Comm comm) {
  double sum = 0.0;
  DIFFSIM_MPI(MPI_Allreduce(&share, &sum, 1, MPI_DOUBLE, MPI_SUM, comm));
  return sum;
}

double inner_product(const std::vector<double>& a, const std::vector<double>& b, MPI_Comm comm) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum_over_ranks(sum, comm);
}

std::mt19937_64 generator(unsigned seed, MPI_Comm comm) {
  int rank = 0;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  return std::mt19937_64((static_cast<std::uint64_t>(seed) << 32) + static_cast<std::uint64_t>(rank));
}

std::vector<double> random_direction(const InverseProblem& problem, std::size_t k, const std::vector<double>& u,
                                     unsigned seed) {
  std::vector<double> direction(problem.size(), 0.0);
  double scale = 0.0;
  for (std::size_t i = 0; i < problem.count(k); ++i) scale = std::max(scale, std::abs(u[problem.offset(k) + i]));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &scale, 1, MPI_DOUBLE, MPI_MAX, problem.comm()));
  if (problem.unknowns()[k].logarithmic || scale == 0.0) scale = 1.0;
  std::mt19937_64 random = generator(seed, problem.comm());
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  for (std::size_t i = 0; i < problem.count(k); ++i) direction[problem.offset(k) + i] = scale * factor(random);
  return direction;
}

TaylorTest taylor_test(InverseProblem& problem, const std::vector<double>& u, const std::vector<double>& v,
                       const Expansion& expansion, int order, const TaylorTestOptions& options) {
  const auto wanted = static_cast<std::size_t>(options.halvings);
  const double loss = expansion.value;
  TaylorTest result;
  std::vector<double> orders;
  double best = std::numeric_limits<double>::infinity();
  double previous = std::numeric_limits<double>::quiet_NaN();
  double epsilon = 0.4;
  int flat = 0;
  for (int k = 0; k <= options.max_halvings; ++k, epsilon *= 0.5) {
    const double value = value_along(problem, u, v, epsilon);
    const double change = epsilon * (expansion.slope + 0.5 * epsilon * expansion.curvature);
    const double remainder = std::abs(value - loss - change);
    // Exact to rounding: nothing is left of a step that moves L by far more than that, or of several steps.
    const double rounding = 1e-13 * std::max(std::abs(loss), std::abs(value));
    flat = remainder <= rounding ? flat + 1 : 0;
    const bool well_above = rounding < 1e-6 * std::abs(change) || (change == 0.0 && value == loss);
    if (k < 8 && orders.size() < wanted && (flat == 4 || (flat > 0 && well_above))) {
      result.exact = true;
      result.first_step = epsilon;
      return result;
    }
    if (std::isfinite(previous) && std::isfinite(remainder)) orders.push_back(std::log2(previous / remainder));
    previous = remainder;
    if (orders.size() < wanted) continue;
    const std::vector<double> window(orders.end() - static_cast<std::ptrdiff_t>(wanted), orders.end());
    double worst = 0.0;
    for (const double one : window) worst = std::max(worst, std::isfinite(one) ? std::abs(one - order) : 1e300);
    if (worst < best) {
      best = worst;
      result.orders = window;
      result.first_step = epsilon * std::exp2(options.halvings);
    }
    // Good enough that smaller steps would only bring rounding in.
    if (best <= options.enough) return result;
  }
  return result;
}

}  // namespace diffsim::inverse
