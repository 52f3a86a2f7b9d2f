// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "diffsim/sensor/sensor.hpp"

namespace diffsim {

/// Function u = π(y; θ) of inputs y with weights θ, for example a linear controller or a neural network. Each rank
/// calls the functions with the same arguments.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::size_t num_inputs() const = 0;   ///< number of inputs y
  virtual std::size_t num_outputs() const = 0;  ///< number of outputs u
  virtual std::size_t num_weights() const = 0;  ///< number of weights θ
  /// Returns weights from which an optimisation can start. Default: zeros.
  virtual std::vector<double> initial_weights() const { return std::vector<double>(num_weights(), 0.0); }

  using Values = std::span<const double>;  ///< constant array of numbers
  /// Returns u, [outputs].
  virtual std::vector<double> evaluate(Values y, Values theta) const = 0;
  /// Returns the derivative du = ∂π/∂y dy + ∂π/∂θ dθ, [outputs].
  virtual std::vector<double> tangent(Values y, Values theta, Values dy, Values dtheta) const = 0;
  /// Adds (∂π/∂y)ᵀ w to `y_adjoint` [inputs] and (∂π/∂θ)ᵀ w to `theta_adjoint` [weights].
  virtual void add_adjoint(Values y, Values theta, Values w, std::span<double> y_adjoint,
                           std::span<double> theta_adjoint) const = 0;
  /// Adds the derivatives of the values that `add_adjoint` adds, along dy, dθ and dw. The default implementation throws
  /// Error (input): the policy has no second derivatives.
  virtual void add_adjoint_tangent(Values y, Values theta, Values dy, Values dtheta, Values w, Values dw,
                                   std::span<double> y_adjoint_tangent, std::span<double> theta_adjoint_tangent) const;
};

/// Options of `make_perceptron`.
struct PerceptronOptions {
  std::vector<std::size_t> hidden = {};  ///< numbers of neurons of the hidden layers; no layers: a linear controller
  /// Limits of the outputs, [outputs]: u = limit tanh(z / limit), where z is the value of an output neuron. If empty,
  /// u = z.
  std::vector<double> limits = {};
  std::uint64_t seed = 0;  ///< seed of the random initial weights of a policy with hidden layers
};

/// Makes a fully connected network. Layer l computes a_l = tanh(W_l a_{l-1} + b_l) from the outputs a_{l-1} of the
/// layer before, with a_0 = y; the last layer computes z = W a + b. The weights θ are, for each layer, W_l, row-major
/// [neurons, neurons of the layer before], followed by b_l. Without hidden layers, the initial weights are zero. With
/// hidden layers, each initial W_l is uniformly distributed in ±1/√m, where m is the number of columns of W_l, and the
/// initial b_l are zero. Throws Error (input) for a layer without neurons, for a wrong number of limits, and for limits
/// that are not positive.
std::shared_ptr<const Policy> make_perceptron(std::size_t num_inputs, std::size_t num_outputs,
                                              const PerceptronOptions& options = {});

/// Feedback: before each step n, a policy computes the values of some parameters, the controls, from sensors at the
/// state x[n]. The inputs of the policy are
/// - (y - offset) / scale for each component y of each sensor, in the order of `sensors`;
/// - sin(2π f t) and cos(2π f t) for each f in `frequencies`, at the time t = n dt.
///
/// A sensor of forces, such as a reaction, is evaluated with controls that are zero.
struct Feedback {
  std::string name = {};                              ///< label of the parameter of the weights θ, `policy:NAME`
  std::vector<std::shared_ptr<Sensor>> sensors = {};  ///< measured quantities
  std::vector<double> offsets = {};                   ///< one number per component of the sensors; empty: zeros
  std::vector<double> scales = {};                    ///< one number per component of the sensors; empty: ones
  std::vector<double> frequencies = {};               ///< frequencies f (Hz)
  /// Names of the parameters whose values are the outputs of the policy, component by component. Each parameter has one
  /// value for the whole model and may have a value for each step, for example `gravity` or `joint_torque:NAME`.
  std::vector<std::string> controls = {};
  /// Policy; has as many inputs as the list above, and as many outputs as the controls have components.
  std::shared_ptr<const Policy> policy = {};

  std::size_t num_inputs() const;  ///< number of components of all sensors, plus two per frequency
};

}  // namespace diffsim
