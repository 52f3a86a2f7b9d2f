// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <string>
#include <utility>

#include "adjoint/adjoint_sweep.hpp"
#include "adjoint/directional.hpp"
#include "checkpoint/from_options.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim {
namespace {

/// Throws Error (input) if `num_steps` is negative.
void require_number_of_steps(int num_steps) {
  if (num_steps < 0)
    throw Error("a rollout of " + std::to_string(num_steps) + " steps is not possible; give at least 0 steps",
                ErrorKind::input);
}

/// Copies the values of `direction` to the parameters of the same names in `along`, and then copies the values of owned
/// entities to the copies on other ranks. Collective.
void set_direction(const ParameterSet& direction, ParameterSet& along) {
  for (const Parameter& parameter : direction) along.at(parameter.name()).field.copy_from(parameter.field);
  synchronise(along);
}

/// Sets `tangent` to `initial_tangent`, or leaves `tangent` unchanged if `initial_tangent` has no fields. Collective.
void set_initial_tangent(const State& initial_tangent, State& tangent) {
  if (initial_tangent.fields().empty()) return;
  tangent.copy_from(initial_tangent);
  synchronise(tangent);
}

}  // namespace

void DifferentiableSimulator::rollout_tangent(int num_steps, const ParameterSet& direction,
                                              const State& initial_tangent, const TangentObserver& observer) {
  require_number_of_steps(num_steps);
  sweep_.reset();  // the derivatives that the sweep stores in the model are overwritten
  if (scene_->has_contact()) scene_->require_apart();
  ParameterSet along = direction.zero_like(direction.names());
  set_direction(direction, along);
  State state = scene_->initial_state(), tangent = state.zero_like();
  set_initial_tangent(initial_tangent, tangent);
  diffsim::rollout_tangent(scene_->model(), state, tangent, along, num_steps, nullptr, observer);
}

HessianProduct DifferentiableSimulator::hessian_product(int num_steps, int checkpoint_every, Loss& loss,
                                                        const ParameterSet& direction, const State& initial_tangent) {
  require_number_of_steps(num_steps);
  if (checkpoint_every < 1)
    throw Error("checkpoints every " + std::to_string(checkpoint_every) + " steps are not possible; give at least 1",
                ErrorKind::input);
  sweep_.reset();  // the derivatives that the sweep stores in the model are overwritten
  if (scene_->has_contact()) scene_->require_apart();
  for (const Parameter& parameter : direction)
    if (!gradient_.find(parameter.name()))
      throw Error("the direction changes '" + parameter.name() +
                      "', which is not selected; select the parameter with require_gradient",
                  ErrorKind::input);
  ParameterSet along = gradient_.zero_like(gradient_.names());
  set_direction(direction, along);
  const State initial = scene_->initial_state();
  JoinedState ends(initial);  // x[0] and its derivative, later the adjoint of both
  ends.first.copy_from(initial);
  set_initial_tangent(initial_tangent, ends.second);

  DirectionalModel model(scene_->model(), along);
  DirectionalLoss of_direction(loss, model);
  CheckpointOptions options;
  options.schedule = CheckpointSchedule::uniform;
  options.every = checkpoint_every;
  const std::unique_ptr<Schedule> schedule = make_schedule(options, num_steps);
  const std::unique_ptr<Store> store = make_store(options, scene_->mesh()->comm());
  State state = model.make_state(), adjoint = state.zero_like();
  ends.join(state);
  HessianProduct product;
  product.parameters = gradient_.zero_like(gradient_.names());
  AdjointSweep sweep(model, of_direction, *schedule, *store);
  sweep.watch(watcher_);
  sweep.forward(state, product.parameters, {}, [=](int n, const State&) { return n == num_steps; });
  sweep.backward(adjoint);
  ends.split(adjoint);
  product.initial_state = std::move(ends.first);
  return product;
}

}  // namespace diffsim
