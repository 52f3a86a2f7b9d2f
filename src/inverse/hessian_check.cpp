// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/inverse/hessian_check.hpp"

#include <algorithm>
#include <cmath>

#include "inverse/taylor.hpp"

namespace diffsim {

using namespace inverse;

namespace {

/// y/‖y‖ + r/‖r‖, r random: random, yet not nearly orthogonal to y, so that ⟨y, w⟩ has all its digits.
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

}  // namespace

HessianCheck check_hessian(InverseProblem& problem, const std::vector<double>& u, const HessianCheckOptions& options) {
  const MPI_Comm comm = problem.comm();
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
  check.symmetry = scale > 0.0 ? std::abs(one - other) / scale : 0.0;
  const TaylorTest taylor =
      taylor_test(problem, u, v, {problem.value(u), inner_product(gradient, v, comm), inner_product(v, Hv, comm)}, 3,
                  {options.halvings, options.max_halvings, 0.4 * options.taylor_tolerance});
  check.taylor_orders = taylor.orders;
  check.first_step = taylor.first_step;
  check.quadratic = taylor.exact;
  bool third_order = check.quadratic || taylor.orders.size() == static_cast<std::size_t>(options.halvings);
  for (const double order : taylor.orders)
    third_order = third_order && std::abs(order - 3.0) <= options.taylor_tolerance;
  check.passed =
      third_order && check.symmetry <= std::max(options.symmetry_tolerance, 10.0 * problem.model().solver_tolerance());
  problem.set(u);
  return check;
}

}  // namespace diffsim
