// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python class of the outputs of rollouts, which diffsim.torch and diffsim.jax differentiate.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "loss.hpp"
#include "outputs.hpp"
#include "progress.hpp"
#include "sensor.hpp"
#include "sweeps.hpp"

namespace diffsim::python {
namespace {

RolloutOutputs::Rows rows_of(const std::vector<int>& steps) {
  RolloutOutputs::Rows rows;
  for (std::size_t row = 0; row < steps.size(); ++row) rows.emplace(steps[row], row);
  return rows;
}

void make_outputs(RolloutOutputs* self, const DifferentiableSimulatorHandle& simulator, const std::vector<int>& steps,
                  const std::vector<int>& sensor_steps, nb::tuple sensors, nb::tuple losses) {
  const DifferentiableScene& scene = simulator.scene()->get();
  std::vector<std::shared_ptr<Sensor>> of_library;
  std::vector<std::shared_ptr<Loss>> all_losses;
  {
    const LibraryScope scope;
    call_on_all_ranks(simulator.comm(), [&] {
      for (const nb::handle object : sensors) {
        const auto& sensor = nb::cast<const SensorHandle&>(object);
        if (&sensor.scene()->get() != &scene) throw InputError("a sensor belongs to another scene than the simulator");
        of_library.push_back(sensor.shared());
      }
      for (const nb::handle loss : losses) all_losses.push_back(loss_of(nb::borrow(loss), scene, false));
    });
  }
  new (self) RolloutOutputs(scene.mesh()->comm(), static_cast<std::size_t>(scene.mesh()->num_owned_vertices()),
                            rows_of(steps), rows_of(sensor_steps), std::move(of_library), std::move(all_losses));
}

/// Copies the values of a field at owned entities to a row of `values`.
void copy_owned(const Field& field, std::size_t row, std::vector<double>& values) {
  const std::vector<double> all = field.to_host();
  const std::size_t count = field.owned_size();
  std::copy_n(all.begin(), count, values.begin() + static_cast<std::ptrdiff_t>(row * count));
}

/// Copies the positions and velocities of state n, or their derivatives, to `values` if they are outputs.
void copy_state(const RolloutOutputs& outputs, int n, const State& state, OutputValues& values) {
  const auto found = outputs.state_rows().find(n);
  if (found == outputs.state_rows().end()) return;
  copy_owned(state["positions"], found->second, values.positions);
  copy_owned(state["velocities"], found->second, values.velocities);
}

/// Copies the results of `of_sensor` for each sensor to `values`, and adds the results of `of_loss` for each loss that
/// observes state n.
template <class OfSensor, class OfLoss>
void measure(const RolloutOutputs& outputs, int n, const OfSensor& of_sensor, const OfLoss& of_loss,
             OutputValues& values) {
  if (const auto found = outputs.sensor_rows().find(n); found != outputs.sensor_rows().end())
    for (std::size_t k = 0; k < outputs.sensors().size(); ++k) {
      const std::vector<double> y = of_sensor(*outputs.sensors()[k]);
      const std::size_t begin = found->second * y.size();
      std::copy(y.begin(), y.end(), values.sensors[k].begin() + static_cast<std::ptrdiff_t>(begin));
    }
  for (std::size_t k = 0; k < outputs.losses().size(); ++k)
    if (Loss& loss = *outputs.losses()[k]; loss.observes(n)) values.losses[k] += of_loss(loss);
}

/// Throws the exception of a pending signal on all ranks, and shows the progress. Collective.
void poll(MPI_Comm comm, ProgressBar& progress, int n) {
  call_on_all_ranks(comm, [&] {
    check_signals();
    progress.update(n);
  });
}

void sum_losses(const RolloutOutputs& outputs, OutputValues& values) {
  for (double& loss : values.losses) loss = sum_over_ranks(loss, outputs.comm());
}

nb::list outputs_of_rollout(const RolloutOutputs& outputs, DifferentiableSimulatorHandle& handle, int num_steps,
                            int checkpoint_every) {
  OutputValues values = outputs.zeros();
  handle.has_gradient_ = false;
  run_sweep(handle, [&] {
    DifferentiableSimulator& simulator = handle.differentiable_in_sweep();
    const ParameterSet& parameters = simulator.parameters();
    ProgressBar progress("rollout", num_steps);
    const StateObserver observe = [&](int n, const State& state) {
      poll(outputs.comm(), progress, n);
      copy_state(outputs, n, state, values);
      measure(
          outputs, n, [&](Sensor& sensor) { return sensor.value(n, state); },
          [&](Loss& loss) { return loss.value(n, state, parameters); }, values);
    };
    handle.last_ = share_on_all_ranks(
        outputs.comm(), std::make_shared<Trajectory>(simulator.rollout(num_steps, checkpoint_every, observe)));
    sum_losses(outputs, values);
  });
  handle.version_of_rollout_ = handle.scene()->version();
  return outputs.to_list(std::move(values));
}

nb::list output_tangents(const RolloutOutputs& outputs, DifferentiableSimulatorHandle& handle, int num_steps,
                         nb::dict changes) {
  const Direction direction = read_direction(handle, changes);
  OutputValues values = outputs.zeros();
  run_sweep(handle, [&] {
    DifferentiableSimulator& simulator = handle.differentiable_in_sweep();
    const ParameterSet& parameters = simulator.parameters();
    ProgressBar progress("rollout in forward mode", num_steps);
    simulator.rollout_tangent(
        num_steps, direction.parameters(parameters), direction.initial_state(simulator.scene().initial_state()),
        [&](int n, const State& state, const State& tangent, const ParameterSet& change) {
          poll(outputs.comm(), progress, n);
          copy_state(outputs, n, tangent, values);
          measure(
              outputs, n, [&](Sensor& sensor) { return sensor.tangent(n, state, tangent, change); },
              [&](Loss& loss) { return loss.tangent(n, state, parameters, tangent, change); }, values);
        });
    sum_losses(outputs, values);
  });
  return outputs.to_list(std::move(values));
}

/// Returns weights that a program gave. The caller must hold the GIL.
OutputValues weights_of(const RolloutOutputs& outputs, nb::handle arrays) {
  const LibraryScope scope;
  return outputs.read_weights(arrays);
}

/// Returns the gradients with respect to the selected parameters and the initial state.
nb::dict pull_back(const RolloutOutputs& outputs, DifferentiableSimulatorHandle& handle, int num_steps,
                   int checkpoint_every, nb::list arrays) {
  const std::vector<WeightedPart> parts = parts_of(outputs, weights_of(outputs, arrays));
  if (!handle.last_ || handle.version_of_rollout_ != handle.scene()->version())
    throw Error("a reverse sweep needs a rollout since the last change of the scene or its parameters");
  NamedArrays sum;
  run_sweep(handle, [&] {
    SweepProgress progress("reverse sweep", handle.comm());
    DifferentiableSimulator& simulator = handle.differentiable_in_sweep();
    const WatchScope watch(simulator, progress, {.total = num_steps, .earlier = num_steps});
    for (const WeightedPart& part : parts) {
      if (&part != &parts.front()) simulator.rollout(num_steps, checkpoint_every);
      WeightedOutputs loss(outputs, part.weights);
      simulator.backward(loss);
      NamedArrays gradients;
      for (const Parameter& parameter : simulator.gradient()) gradients.add(parameter);
      gradients.add_owned(initial_positions_name, simulator.initial_gradient()["positions"]);
      gradients.add_owned(initial_velocities_name, simulator.initial_gradient()["velocities"]);
      sum.add_multiple(part.factor, gradients);
    }
  });
  return sum.to_dict();
}

nb::dict pull_back_tangent(const RolloutOutputs& outputs, DifferentiableSimulatorHandle& handle, int num_steps,
                           int checkpoint_every, nb::dict changes, nb::list arrays) {
  const Direction direction = read_direction(handle, changes);
  const std::vector<WeightedPart> parts = parts_of(outputs, weights_of(outputs, arrays));
  NamedArrays sum;
  run_sweep(handle, [&] {
    DifferentiableSimulator& simulator = handle.differentiable_in_sweep();
    SweepProgress progress("Hessian product", handle.comm());
    const WatchScope watch(simulator, progress, {2L * num_steps});
    for (const WeightedPart& part : parts) {
      WeightedOutputs loss(outputs, part.weights);
      const HessianProduct product =
          simulator.hessian_product(num_steps, checkpoint_every, loss, direction.parameters(simulator.parameters()),
                                    direction.initial_state(simulator.scene().initial_state()));
      NamedArrays products;
      for (const Parameter& parameter : product.parameters) products.add(parameter);
      products.add_owned(initial_positions_name, product.initial_state["positions"]);
      products.add_owned(initial_velocities_name, product.initial_state["velocities"]);
      sum.add_multiple(part.factor, products);
    }
  });
  return sum.to_dict();
}

}  // namespace

void bind_rollout_outputs(nb::module_& module) {
  nb::class_<RolloutOutputs>(module, "_RolloutOutputs", "Outputs of rollouts that diffsim.torch and diffsim.jax use.")
      .def("__init__", &make_outputs, nb::arg("simulator"), nb::arg("steps"), nb::arg("sensor_steps"),
           nb::arg("sensors"), nb::arg("losses"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 5>(),
           nb::keep_alive<1, 6>(),
           R"(Create a list of outputs: positions and velocities at `steps`, sensors at `sensor_steps`, and losses.

The output of a loss is the sum over all states and ranks.)")
      .def_prop_ro(
          "shapes",
          [](const RolloutOutputs& outputs) {
            nb::list made;
            for (const auto& shape : outputs.shapes()) made.append(nb::tuple(nb::cast(shape)));
            return made;
          },
          "Shapes of the positions, the velocities, each sensor and each loss.")
      .def("rollout", &outputs_of_rollout, nb::arg("simulator"), nb::arg("num_steps"), nb::arg("checkpoint_every"),
           "Run a rollout, and return the list of outputs. Collective.")
      .def("rollout_tangent", &output_tangents, nb::arg("simulator"), nb::arg("num_steps"), nb::arg("direction"),
           "Return the derivatives of the outputs along a direction. Collective.")
      .def("gradients", &pull_back, nb::arg("simulator"), nb::arg("num_steps"), nb::arg("checkpoint_every"),
           nb::arg("weights"),
           R"(Return the gradients of the sum of the outputs of the last rollout, multiplied by weights. Collective.

The weights of sensors and losses are the sums of the weights of all ranks. The result is a dict with the gradients with
respect to the selected parameters, "initial_positions" and "initial_velocities".)")
      .def("hessian_product", &pull_back_tangent, nb::arg("simulator"), nb::arg("num_steps"),
           nb::arg("checkpoint_every"), nb::arg("direction"), nb::arg("weights"),
           "Return the derivative, along a direction, of the gradient for constant weights. Collective.");
}

}  // namespace diffsim::python
