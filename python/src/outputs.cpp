// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "outputs.hpp"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>

#include "arrays.hpp"
#include "diffsim/core/error.hpp"
#include "loss.hpp"

namespace diffsim::python {
namespace {

using Numbers = std::vector<double>;

std::size_t size_of(const std::vector<std::size_t>& shape) {
  std::size_t size = 1;
  for (const std::size_t extent : shape) size *= extent;
  return size;
}

/// Replaces the values by their sums over all ranks. Collective.
void sum_over_ranks_in_place(Numbers& values, MPI_Comm comm) {
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, comm));
}

/// Adds a row of `weights` to the values of `field` at owned entities.
void add_row(const Numbers& weights, std::size_t row, Field& field) {
  const std::size_t count = field.owned_size();
  Numbers sum = field.to_host();
  for (std::size_t k = 0; k < count; ++k) sum[k] += weights[row * count + k];
  field.from_host(sum);
}

bool is_zero(const Numbers& values) {
  for (const double value : values)
    if (value != 0.0) return false;
  return true;
}

}  // namespace

RolloutOutputs::RolloutOutputs(MPI_Comm comm, std::size_t owned, Rows state_rows, Rows sensor_rows,
                               std::vector<std::shared_ptr<Sensor>> sensors, std::vector<std::shared_ptr<Loss>> losses)
    : comm_(comm),
      state_rows_(std::move(state_rows)),
      sensor_rows_(std::move(sensor_rows)),
      sensors_(std::move(sensors)),
      losses_(std::move(losses)),
      shapes_(2, {state_rows_.size(), owned, 3}) {
  for (const auto& sensor : sensors_) shapes_.push_back({sensor_rows_.size(), sensor->components().size()});
  shapes_.insert(shapes_.end(), losses_.size(), {});
}

OutputValues RolloutOutputs::zeros() const {
  OutputValues made{Numbers(size_of(shapes_[0]), 0.0), Numbers(size_of(shapes_[1]), 0.0), {}, {}};
  for (std::size_t k = 0; k < sensors_.size(); ++k) made.sensors.emplace_back(size_of(shapes_[2 + k]), 0.0);
  made.losses.assign(losses_.size(), 0.0);
  return made;
}

nb::list RolloutOutputs::to_list(OutputValues values) const {
  nb::list made;
  made.append(to_numpy(std::move(values.positions), shapes_[0]));
  made.append(to_numpy(std::move(values.velocities), shapes_[1]));
  for (std::size_t k = 0; k < sensors_.size(); ++k) made.append(to_numpy(std::move(values.sensors[k]), shapes_[2 + k]));
  for (const double loss : values.losses) made.append(to_numpy(Numbers{loss}, {}));
  return made;
}

OutputValues RolloutOutputs::read_weights(nb::handle arrays) const {
  OutputValues weights;
  call_on_all_ranks(comm_, [&] {
    if (nb::len(arrays) != shapes_.size())
      throw InputError("there are " + std::to_string(shapes_.size()) + " outputs, but " +
                       std::to_string(nb::len(arrays)) + " arrays of weights");
    const auto read = [&](std::size_t k) {
      return doubles_of_shape(arrays[k], shapes_[k], "the weight of output " + std::to_string(k));
    };
    weights.positions = read(0);
    weights.velocities = read(1);
    for (std::size_t k = 0; k < sensors_.size(); ++k) weights.sensors.push_back(read(2 + k));
    for (std::size_t k = 0; k < losses_.size(); ++k) weights.losses.push_back(read(2 + sensors_.size() + k)[0]);
  });
  for (Numbers& of_sensor : weights.sensors) sum_over_ranks_in_place(of_sensor, comm_);
  sum_over_ranks_in_place(weights.losses, comm_);
  for (const double weight : weights.losses)
    if (weight != 0.0 && !(std::abs(weight) > 1e-150 && std::abs(weight) < 1e150)) {
      std::ostringstream text;
      text << "the derivative with respect to a loss among the outputs of a rollout is " << weight
           << "; its absolute value must be 0 or between 1e-150 and 1e150; scale the function of the outputs";
      throw Error(text.str());
    }
  return weights;
}

std::vector<WeightedPart> parts_of(const RolloutOutputs& outputs, const OutputValues& weights) {
  const std::size_t count = outputs.losses().size();
  std::vector<char> is_summed(count);  // true if the Model sums derivatives of the loss
  std::vector<double> factors;         // different weights of these losses
  for (std::size_t k = 0; k < count; ++k) {
    is_summed[k] = outputs.losses()[k]->multiply(1.0);
    const double weight = weights.losses[k];
    if (is_summed[k] && weight != 0.0 && std::count(factors.begin(), factors.end(), weight) == 0)
      factors.push_back(weight);
  }
  if (factors.empty()) factors.push_back(1.0);
  std::vector<WeightedPart> parts;
  for (const double factor : factors) {
    const bool is_first = parts.empty();
    WeightedPart part{factor, is_first ? weights : outputs.zeros()};
    const auto divide = [&](Numbers& values) {
      for (double& value : values) value /= factor;
    };
    divide(part.weights.positions);
    divide(part.weights.velocities);
    for (Numbers& of_sensor : part.weights.sensors) divide(of_sensor);
    divide(part.weights.losses);
    for (std::size_t k = 0; k < count; ++k)
      if (is_summed[k]) part.weights.losses[k] = weights.losses[k] == factor ? 1.0 : 0.0;
    parts.push_back(std::move(part));
  }
  return parts;
}

bool WeightedOutputs::observes(int n) const {
  if (outputs_.state_rows().count(n) > 0 || outputs_.sensor_rows().count(n) > 0) return true;
  for (std::size_t k = 0; k < outputs_.losses().size(); ++k)
    if (weights_.losses[k] != 0.0 && outputs_.losses()[k]->observes(n)) return true;
  return false;
}

Numbers WeightedOutputs::of_sensor(std::size_t k, std::size_t row) const {
  const Numbers& all = weights_.sensors[k];
  const std::size_t count = outputs_.shapes()[2 + k][1];
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row * count);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

template <class Add>
void WeightedOutputs::add_losses(int n, State& adjoint, ParameterSet& gradient, const Add& add) const {
  for (std::size_t k = 0; k < outputs_.losses().size(); ++k) {
    Loss& loss = *outputs_.losses()[k];
    const double weight = weights_.losses[k];
    if (weight == 0.0 || !loss.observes(n)) continue;
    if (weight == 1.0) {
      add(loss, adjoint, gradient);
      continue;
    }
    State of_loss = adjoint.zero_like();
    ParameterSet gradient_of_loss = gradient.zero_like(gradient.names());
    add(loss, of_loss, gradient_of_loss);
    axpy(weight, of_loss, adjoint);
    for (const Parameter& parameter : gradient_of_loss)
      axpy(weight, parameter.field, gradient.at(parameter.name()).field);
  }
}

void WeightedOutputs::add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                                   ParameterSet& gradient) {
  if (const auto found = outputs_.state_rows().find(n); found != outputs_.state_rows().end()) {
    add_row(weights_.positions, found->second, adjoint["positions"]);
    add_row(weights_.velocities, found->second, adjoint["velocities"]);
  }
  if (const auto found = outputs_.sensor_rows().find(n); found != outputs_.sensor_rows().end())
    for (std::size_t k = 0; k < outputs_.sensors().size(); ++k)
      if (const Numbers w = of_sensor(k, found->second); !is_zero(w))
        outputs_.sensors()[k]->add_adjoint(n, state, w, adjoint, gradient);
  add_losses(n, adjoint, gradient, [&](Loss& loss, State& to, ParameterSet& to_gradient) {
    loss.add_gradient(n, state, parameters, to, to_gradient);
  });
}

void WeightedOutputs::add_gradient_tangent(int n, const State& state, const ParameterSet& parameters,
                                           const State& tangent, const ParameterSet& direction, State& adjoint_tangent,
                                           ParameterSet& gradient_tangent) {
  if (const auto found = outputs_.sensor_rows().find(n); found != outputs_.sensor_rows().end())
    for (std::size_t k = 0; k < outputs_.sensors().size(); ++k)
      if (const Numbers w = of_sensor(k, found->second); !is_zero(w))
        outputs_.sensors()[k]->add_adjoint_tangent(n, state, tangent, direction, w, Numbers(w.size(), 0.0),
                                                   adjoint_tangent, gradient_tangent);
  add_losses(n, adjoint_tangent, gradient_tangent, [&](Loss& loss, State& to, ParameterSet& to_gradient) {
    loss.add_gradient_tangent(n, state, parameters, tangent, direction, to, to_gradient);
  });
}

}  // namespace diffsim::python
