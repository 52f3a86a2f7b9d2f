// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/inverse/gradient_check.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "diffsim/core/error.hpp"
#include "inverse/taylor.hpp"

namespace diffsim {

using namespace inverse;

namespace {

/// Directions to look along before remainders are said not to be of second order: where the loss has hardly any
/// curvature they are of third order, in front of rounding. Of a wrong gradient they are of first order along all.
constexpr int directions = 3;

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

}  // namespace

std::vector<UnknownCheck> check_gradient(InverseProblem& problem, const std::vector<double>& u,
                                         const GradientCheckOptions& options) {
  std::vector<double> gradient;
  const double loss = problem.gradient(u, gradient);
  std::vector<UnknownCheck> checks;
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
    UnknownCheck check;
    check.name = problem.unknowns()[k].name();
    bool second_order = false;
    for (int tried = 0; tried < directions && !second_order; ++tried) {
      const std::vector<double> v = random_direction(problem, k, u, options.seed + 2 * static_cast<unsigned>(tried));
      const double error = dot_product_error(problem, u, v, options.seed + 1);
      check.dot_product_error = std::max(check.dot_product_error, error);
      const TaylorTest taylor = taylor_test(problem, u, v, {loss, inner_product(gradient, v, problem.comm())}, 2,
                                            {options.halvings, options.max_halvings, 0.2 * options.taylor_tolerance});
      check.taylor_orders = taylor.orders;
      check.first_step = taylor.first_step;
      check.linear = taylor.exact;
      second_order = check.linear || check.taylor_orders.size() == static_cast<std::size_t>(options.halvings);
      if (check.linear) continue;
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

double check_dot_product(InverseProblem& problem, const std::vector<double>& u, unsigned seed) {
  std::vector<double> v(u.size(), 0.0);
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
    const std::vector<double> along = random_direction(problem, k, u, seed + static_cast<unsigned>(k));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += along[i];
  }
  return dot_product_error(problem, u, v, seed + static_cast<unsigned>(problem.unknowns().size()));
}

}  // namespace diffsim
