// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/check_tools.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::inverse {

TightSolver::TightSolver(InverseProblem& problem, const std::vector<double>& u)
    : problem_(problem), given_tolerance_(problem.solver_tolerance()) {
  if (given_tolerance_ == 0.0) return;
  tighten();
  try {
    problem.value(u);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::run) throw;
    factor_ = 1.0;
    tighten();
  }
}

double gradient_even_if_not_finite(InverseProblem& problem, const std::vector<double>& u, std::vector<double>& gradient,
                                   std::string& not_finite) {
  gradient.clear();
  not_finite.clear();
  try {
    return problem.gradient(u, gradient);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::run) throw;
    int found = std::any_of(gradient.begin(), gradient.end(), [](double value) { return !std::isfinite(value); });
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPI_INT, MPI_MAX, problem.comm()));
    if (found == 0) throw;
    not_finite = error.what();
  }
  return problem.value(u);
}

double inner_product(const std::vector<double>& a, const std::vector<double>& b, MPI_Comm comm) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum_over_ranks(sum, comm);
}

std::mt19937_64 generator(unsigned seed, MPI_Comm comm) {
  const int rank = rank_of(comm);
  return std::mt19937_64((static_cast<std::uint64_t>(seed) << 32) + static_cast<std::uint64_t>(rank));
}

std::vector<double> random_direction(const InverseProblem& problem, std::size_t k, const std::vector<double>& u,
                                     unsigned seed) {
  std::vector<double> direction(problem.size(), 0.0);
  double scale = 0.0;
  for (std::size_t i = 0; i < problem.count(k); ++i) scale = std::max(scale, std::abs(u[problem.offset(k) + i]));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &scale, 1, MPI_DOUBLE, MPI_MAX, problem.comm()));
  const Unknown& unknown = problem.unknowns()[k];
  if (unknown.logarithmic)
    scale = 1.0;
  else if (scale == 0.0)
    scale = std::isfinite(unknown.upper - unknown.lower) ? 0.5 * (unknown.upper - unknown.lower)
            : unknown.shape_filter                       ? 0.1 * unknown.shape_filter->radius()
                                                         : 1.0;
  std::mt19937_64 random = generator(seed, problem.comm());
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  for (std::size_t i = 0; i < problem.count(k); ++i) direction[problem.offset(k) + i] = scale * factor(random);
  return direction;
}

Line along(const std::vector<double>& u, const std::vector<double>& v,
           std::function<double(const std::vector<double>&)> f) {
  return [&u, &v, f = std::move(f)](double epsilon) {
    std::vector<double> moved = u;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += epsilon * v[i];
    try {
      return f(moved);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::system) throw;
      return std::numeric_limits<double>::quiet_NaN();
    }
  };
}

}  // namespace diffsim::inverse
