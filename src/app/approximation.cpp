// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/approximation.hpp"

#include <cmath>

#include "checkpoint/from_options.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::app {

CheckpointOptions exact(CheckpointOptions options) {
  options.single = false;
  options.last = 0;
  return options;
}

std::vector<double> gradient_by(Job& job, InverseJob& inverse, CheckpointOptions options,
                                const std::vector<double>& u) {
  options.measures = job.line.measures;
  const std::unique_ptr<Store> store = make_store(options, job.comm);
  const auto schedule = [&](int num_steps) {
    if (!options.memory.is_given()) return make_schedule(options, num_steps);
    const SweepPlan plan =
        plan_sweep(options, inverse.solver->model(), inverse.problem->initial(), inverse.asked_gradient(), num_steps);
    return make_schedule(options, num_steps, &plan.checkpoints);
  };
  const std::unique_ptr<InverseProblem> problem = inverse.problem->with_loss(inverse.objective(), schedule, *store);
  add_priors(job.scene, *inverse.mesh, *problem);
  std::vector<double> gradient;
  (void)problem->gradient(u, gradient);
  return gradient;
}

double relative_error(MPI_Comm comm, const std::vector<double>& found, const std::vector<double>& expected) {
  double sums[2] = {0.0, 0.0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    sums[0] += (found[i] - expected[i]) * (found[i] - expected[i]);
    sums[1] += expected[i] * expected[i];
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm));
  return sums[1] > 0.0 ? std::sqrt(sums[0] / sums[1]) : 0.0;
}

}  // namespace diffsim::app
