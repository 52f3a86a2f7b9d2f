// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "diffsim/core/loss.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "runtime.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// Values of the outputs of a rollout, derivatives of these values, or weights of the outputs.
struct OutputValues {
  std::vector<double> positions, velocities;  // [rows, owned vertices, 3]
  std::vector<std::vector<double>> sensors;   // [rows, components] of each sensor
  std::vector<double> losses;                 // one value per loss
};

/// Outputs of rollouts of a scene, for `diffsim.torch` and `diffsim.jax`: positions and velocities of owned vertices at
/// some steps, values of sensors at some steps, and losses. The values of sensors and losses are the same on all ranks.
class RolloutOutputs final : public Handle {
 public:
  /// Map from the number of a step to a row of an output.
  using Rows = std::map<int, std::size_t>;

  /// `comm`, `owned`: communicator and number of owned vertices of the scene's mesh.
  RolloutOutputs(MPI_Comm comm, std::size_t owned, Rows state_rows, Rows sensor_rows,
                 std::vector<std::shared_ptr<Sensor>> sensors, std::vector<std::shared_ptr<Loss>> losses);
  ~RolloutOutputs() override {
    const ReleaseScope scope;
    release();
  }
  void release() override {
    sensors_.clear();
    losses_.clear();
  }

  MPI_Comm comm() const { return comm_; }
  const Rows& state_rows() const { return state_rows_; }
  const Rows& sensor_rows() const { return sensor_rows_; }
  const std::vector<std::shared_ptr<Sensor>>& sensors() const { return sensors_; }
  const std::vector<std::shared_ptr<Loss>>& losses() const { return losses_; }

  /// Returns the shape of each output: of the positions, the velocities, each sensor and each loss.
  const std::vector<std::vector<std::size_t>>& shapes() const { return shapes_; }
  /// Returns values that are zero.
  OutputValues zeros() const;
  /// Returns a list of numpy arrays, to which the values are moved. The caller must hold the GIL.
  nb::list to_list(OutputValues values) const;
  /// Reads weights from a sequence of arrays of the shapes `shapes`. The weights of sensors and losses are the sums of
  /// the weights of all ranks. Throws Error on all ranks if arrays of a rank have wrong shapes, or if the absolute
  /// value of the weight of a loss is neither 0 nor between 1e-150 and 1e150. Collective; the caller must be in a
  /// LibraryScope.
  OutputValues read_weights(nb::handle arrays) const;

 private:
  MPI_Comm comm_;
  Rows state_rows_, sensor_rows_;
  std::vector<std::shared_ptr<Sensor>> sensors_;
  std::vector<std::shared_ptr<Loss>> losses_;
  std::vector<std::vector<std::size_t>> shapes_;
};

/// Part of a weighted sum of outputs whose derivatives one sweep computes. The weighted sum is the sum, over all parts,
/// of `factor` times the outputs weighted by `weights`.
struct WeightedPart {
  double factor;
  OutputValues weights;
};

/// Splits a weighted sum of outputs into parts, at least one. The weight of a loss whose derivatives the Model sums
/// (`Loss::multiply`) is 0 or 1 in each part, so that no part multiplies such a loss, which the program also uses.
std::vector<WeightedPart> parts_of(const RolloutOutputs& outputs, const OutputValues& weights);

/// Sum of all outputs of a rollout, multiplied by weights: a loss whose derivatives are the derivatives of the outputs,
/// transposed, times the weights. The functions `value` and `tangent` return 0, because sweeps that compute only
/// derivatives of the loss do not use them.
class WeightedOutputs final : public Loss {
 public:
  /// `outputs` and `weights` must outlive the WeightedOutputs.
  WeightedOutputs(const RolloutOutputs& outputs, const OutputValues& weights) : outputs_(outputs), weights_(weights) {}

  bool observes(int n) const override;
  double value(int, const State&, const ParameterSet&) override { return 0.0; }
  double tangent(int, const State&, const ParameterSet&, const State&, const ParameterSet&) override { return 0.0; }
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;

 private:
  /// Returns the weights of sensor k at a row.
  std::vector<double> of_sensor(std::size_t k, std::size_t row) const;
  /// Calls `add` for each loss that observes state n, and adds the derivatives, times the weight, to the arguments.
  template <class Add>
  void add_losses(int n, State& adjoint, ParameterSet& gradient, const Add& add) const;

  const RolloutOutputs& outputs_;
  const OutputValues& weights_;
};

}  // namespace diffsim::python
