// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/adjoint/sweep.hpp"

#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
double rollout(Model& model, State& state, int num_steps, Loss* loss, const StateObserver& observer) {
  return rollout(model, state, StepRange{0, num_steps}, loss, observer);
}

double rollout(Model& model, State& state, StepRange steps, Loss* loss, const StateObserver& observer) {
  const ProfilingRegion region("diffsim::adjoint::rollout");
  model.prepare();
  double share = 0.0;
  for (int n = steps.begin; n <= steps.end; ++n) {
    if (loss && loss->observes(n)) share += loss->value(n, state, model.parameters());
    if (observer) observer(n, state);
    if (n < steps.end) model.step(n, state, nullptr);
  }
  return sum_over_ranks(share, model.comm());
}

double rollout_tangent(Model& model, State& state, State& tangent, const ParameterSet& direction, int num_steps,
                       Loss* loss, const TangentObserver& observer) {
  const ProfilingRegion region("diffsim::adjoint::rollout_tangent");
  model.prepare();
  model.prepare_tangent(direction);
  const std::unique_ptr<Record> record = model.make_record();
  double share = 0.0;
  for (int n = 0; n <= num_steps; ++n) {
    if (loss && loss->observes(n)) share += loss->tangent(n, state, model.parameters(), tangent, direction);
    if (observer) observer(n, state, tangent, direction);
    if (n == num_steps) break;
    model.step(n, state, record.get());
    model.step_tangent(n, *record, direction, tangent);
  }
  return sum_over_ranks(share, model.comm());
}

}  // namespace diffsim
