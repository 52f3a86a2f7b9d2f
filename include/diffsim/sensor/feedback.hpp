// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "diffsim/sensor/sensor.hpp"

namespace diffsim {

/// Function u = π(y; θ) of inputs y with weights θ, for example a linear controller or a neural network. All ranks call
/// the functions of a Policy with the same arguments.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::size_t num_inputs() const = 0;   ///< number of inputs y
  virtual std::size_t num_outputs() const = 0;  ///< number of outputs u
  virtual std::size_t num_weights() const = 0;  ///< number of weights θ
  /// Returns weights of the policy from which an optimisation can start. Default: zeros.
  virtual std::vector<double> initial_weights() const { return std::vector<double>(num_weights(), 0.0); }

  using Values = std::span<const double>;  ///< constant array of values
  /// Returns the outputs u = π(y; θ), [outputs].
  virtual std::vector<double> evaluate(Values y, Values theta) const = 0;
  /// Returns ∂π/∂y dy + ∂π/∂θ dθ, [outputs], for the outputs π and changes dy of the inputs y and dθ of the weights θ.
  virtual std::vector<double> tangent(Values y, Values theta, Values dy, Values dtheta) const = 0;
  /// Adds (∂π/∂y)ᵀ w to `y_adjoint` [inputs] and (∂π/∂θ)ᵀ w to `theta_adjoint` [weights], for the outputs π, the inputs
  /// y, the weights θ and a vector w [outputs].
  virtual void add_adjoint(Values y, Values theta, Values w, std::span<double> y_adjoint,
                           std::span<double> theta_adjoint) const = 0;
  /// Adds the derivatives of (∂π/∂y)ᵀ w and (∂π/∂θ)ᵀ w, for the outputs π, along changes dy of the inputs, dθ of the
  /// weights and dw of the vector w, to `y_adjoint_tangent` and `theta_adjoint_tangent`. The default implementation of
  /// `add_adjoint_tangent`, for policies without second derivatives, throws Error (input).
  virtual void add_adjoint_tangent(Values y, Values theta, Values dy, Values dtheta, Values w, Values dw,
                                   std::span<double> y_adjoint_tangent, std::span<double> theta_adjoint_tangent) const;
};

/// Options of `make_perceptron`.
struct PerceptronOptions {
  std::vector<std::size_t> hidden = {};  ///< number of neurons of each hidden layer; empty without hidden layers
  /// Limits of the outputs, [outputs]: an output is u = limit tanh(z / limit), where z is the value of the output
  /// neuron. If the vector `limits` is empty, each output of the policy is the value of its output neuron.
  std::vector<double> limits = {};
  std::uint64_t seed = 0;  ///< seed of the random initial weights of a policy with hidden layers
};

/// Makes a fully connected neural network. Hidden layer l computes a_l = tanh(W_l a_{l-1} + b_l) from the outputs
/// a_{l-1} of the previous layer, with weights W_l and biases b_l, where a_0 = y are the inputs of the network. The
/// output layer computes z = W a + b from the outputs a of the previous layer. The vector θ of weights contains, for
/// each layer l, the weights W_l, row-major [neurons, neurons of the previous layer], followed by the biases b_l. The
/// initial weights of a network without hidden layers are zero. With hidden layers, the initial entries of each matrix
/// W_l of weights are uniformly distributed in ±1/√m, where m is the number of columns, and the initial biases are
/// zero. Throws Error (input) for a layer without neurons, a wrong number of limits, and limits that are not positive.
std::shared_ptr<const Policy> make_perceptron(std::size_t num_inputs, std::size_t num_outputs,
                                              const PerceptronOptions& options = {});

/// Feedback: before each step n, a policy computes the values of some parameters, the controls, from the values of
/// sensors at the state x[n] before the step. The inputs of the policy are (y - offset) / scale for each component y of
/// each sensor, in the order of `sensors`, followed by sin(2π f t) and cos(2π f t) for each f in `frequencies`, at the
/// time t = n dt.
///
/// The sensors of a feedback are evaluated with all controls set to zero. Sensors of forces, such as a reaction,
/// therefore do not include the forces that the controls cause.
struct Feedback {
  std::string name = {};  ///< NAME in `policy:NAME`, the parameter that contains the weights θ
  std::vector<std::shared_ptr<Sensor>> sensors = {};  ///< measured quantities
  std::vector<double> offsets = {};  ///< offset of each sensor component y in the input (y - offset)/scale; 0 if empty
  std::vector<double> scales = {};   ///< scale of each sensor component y in the input (y - offset)/scale; 1 if empty
  std::vector<double> frequencies = {};  ///< frequencies f (Hz)
  /// Names of the parameters whose values are the outputs of the policy, component by component. Each control must be a
  /// global parameter, not a field on vertices or cells, and must allow a separate value for each step, for example
  /// `gravity` or `joint_torque:NAME`.
  std::vector<std::string> controls = {};
  /// Policy with `num_inputs()` inputs, and with as many outputs as the controls have components.
  std::shared_ptr<const Policy> policy = {};

  /// Returns the number of inputs of the policy: the number of components of all sensors, plus two per frequency.
  std::size_t num_inputs() const;
};

}  // namespace diffsim
