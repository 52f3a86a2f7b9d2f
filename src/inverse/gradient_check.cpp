// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/inverse/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

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

/// Random numbers that differ from rank to rank and repeat from run to run.
std::mt19937_64 generator(unsigned seed, MPI_Comm comm) {
  int rank = 0;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  return std::mt19937_64((static_cast<std::uint64_t>(seed) << 32) + static_cast<std::uint64_t>(rank));
}

/// A direction in unknown k alone: its size ([½, 1½] times) where it is not zero, else ones; logarithms move by about
/// one.
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

/// w = t/‖t‖ + r/‖r‖ field by field, r random: random, yet not nearly orthogonal to t, so that ⟨t, w⟩ has all its
/// digits.
State random_weights(const State& tangent, unsigned seed, MPI_Comm comm) {
  State weights = tangent.zero_like();
  std::mt19937_64 random = generator(seed, comm);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  for (std::size_t f = 0; f < weights.fields().size(); ++f) {
    const std::vector<double> t = tangent.fields()[f].to_host();
    std::vector<double> r(t.size(), 0.0);
    const std::size_t owned = tangent.fields()[f].owned_size();
    double norms[2] = {0.0, 0.0};
    for (std::size_t i = 0; i < owned; ++i) {
      r[i] = number(random);
      norms[0] += t[i] * t[i];
      norms[1] += r[i] * r[i];
    }
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, norms, 2, MPI_DOUBLE, MPI_SUM, comm));
    const double to_t = norms[0] > 0.0 ? 1.0 / std::sqrt(norms[0]) : 0.0;
    const double to_r = norms[1] > 0.0 ? 1.0 / std::sqrt(norms[1]) : 0.0;
    for (std::size_t i = 0; i < owned; ++i) r[i] = to_t * t[i] + to_r * r[i];
    weights.fields()[f].from_host(r);
  }
  return weights;
}

double dot_product_error(InverseProblem& problem, const std::vector<double>& u, const std::vector<double>& v,
                         unsigned seed) {
  State state, tangent;
  problem.final_state(u, v, state, tangent);
  const State w = random_weights(tangent, seed, problem.comm());
  const double forward = sum_over_ranks(local_dot(tangent, w), problem.comm());
  const double reverse = inner_product(v, problem.final_state_adjoint(u, w), problem.comm());
  const double scale = std::max(std::abs(forward), std::abs(reverse));
  return scale > 0.0 ? std::abs(forward - reverse) / scale : 0.0;
}

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

void taylor_test(InverseProblem& problem, const std::vector<double>& u, const std::vector<double>& v, double loss,
                 double slope, const GradientCheckOptions& options, UnknownCheck& check) {
  const auto wanted = static_cast<std::size_t>(options.halvings);
  std::vector<double> orders;
  double best = std::numeric_limits<double>::infinity();
  double previous = std::numeric_limits<double>::quiet_NaN();
  double epsilon = 0.4;
  int flat = 0;
  for (int k = 0; k <= options.max_halvings; ++k, epsilon *= 0.5) {
    const double value = value_along(problem, u, v, epsilon);
    const double remainder = std::abs(value - loss - epsilon * slope);
    // Linear to rounding: nothing is left of a step that moves L by far more than that, or of several steps.
    const double rounding = 1e-13 * std::max(std::abs(loss), std::abs(value));
    flat = remainder <= rounding ? flat + 1 : 0;
    const bool well_above = rounding < 1e-6 * std::abs(epsilon * slope) || (slope == 0.0 && value == loss);
    if (k < 8 && orders.size() < wanted && (flat == 4 || (flat > 0 && well_above))) {
      check.linear = true;
      check.first_step = epsilon;
      return;
    }
    if (std::isfinite(previous) && std::isfinite(remainder)) orders.push_back(std::log2(previous / remainder));
    previous = remainder;
    if (orders.size() < wanted) continue;
    const std::vector<double> window(orders.end() - static_cast<std::ptrdiff_t>(wanted), orders.end());
    double worst = 0.0;
    for (const double order : window) worst = std::max(worst, std::isfinite(order) ? std::abs(order - 2.0) : 1e300);
    if (worst < best) {
      best = worst;
      check.taylor_orders = window;
      check.first_step = epsilon * std::exp2(options.halvings);
    }
    // Good enough that smaller steps would only bring rounding in.
    if (best <= 0.2 * options.taylor_tolerance) return;
  }
}

}  // namespace

std::vector<UnknownCheck> check_gradient(InverseProblem& problem, const std::vector<double>& u,
                                         const GradientCheckOptions& options) {
  std::vector<double> gradient;
  const double loss = problem.gradient(u, gradient);
  std::vector<UnknownCheck> checks;
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
    UnknownCheck check;
    check.name = problem.unknowns()[k].name();
    const std::vector<double> v = random_direction(problem, k, u, options.seed);
    check.dot_product_error = dot_product_error(problem, u, v, options.seed + 1);
    taylor_test(problem, u, v, loss, inner_product(gradient, v, problem.comm()), options, check);
    bool second_order = check.linear;
    if (!check.linear) {
      second_order = check.taylor_orders.size() == static_cast<std::size_t>(options.halvings);
      for (const double order : check.taylor_orders)
        second_order = second_order && std::abs(order - 2.0) <= options.taylor_tolerance;
    }
    const double tolerance = std::max(options.dot_product_tolerance, 10.0 * problem.model().solver_tolerance());
    check.passed = second_order && check.dot_product_error <= tolerance;
    checks.push_back(check);
  }
  problem.set(u);
  return checks;
}

}  // namespace diffsim
