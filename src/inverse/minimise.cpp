// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/minimise.hpp"

#include <algorithm>
#include <cmath>

#include "diffsim/core/error.hpp"

namespace diffsim::inverse {

double norm_of(const std::vector<double>& values, MPI_Comm comm) {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, comm));
  return std::sqrt(sum);
}

double projected_norm(const InverseProblem& problem, const std::vector<double>& u, const std::vector<double>& g) {
  const std::vector<double> low = problem.lower_bounds(), high = problem.upper_bounds();
  std::vector<double> step(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) step[i] = u[i] - std::clamp(u[i] - g[i], low[i], high[i]);
  return norm_of(step, problem.comm());
}

void TaoContext::move_to(const std::vector<double>& u_new) {
  int same = evaluations > 0 && u_new == u;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, problem.comm()));
  if (same != 0) return;
  u = u_new;
  failed = false;
  try {
    loss = problem.gradient(u, g);
    largest = std::max(largest, loss);
  } catch (const Error& failure) {
    // A trial point whose rollout fails is outside the domain of L. For a point outside the domain, the loss is twice
    // the largest loss so far and the gradient is zero, so that TAO's line search shortens the step. With an infinite
    // loss, the interpolation in the line search would return the best step so far, and the line search would fail. If
    // a rollout fails, all ranks execute this handler. If the rollout at the start point fails, the Error is rethrown.
    if (failure.kind() != ErrorKind::run || evaluations == 0) throw;
    set_failed();
  }
  ++evaluations;
  // From now on, a gradient that is not finite counts as a failed rollout.
  problem.locate_values_not_finite(false);
}

void TaoContext::set_failed() {
  loss = 2.0 * largest;
  g.assign(u.size(), 0.0);
  failed = true;
}

}  // namespace diffsim::inverse
