// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <random>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/dual.hpp"
#include "diffsim/sensor/feedback.hpp"

namespace diffsim {

void Policy::add_adjoint_tangent(Values, Values, Values, Values, Values, Values, std::span<double>,
                                 std::span<double>) const {
  throw Error("this policy has no second derivatives", ErrorKind::input);
}

namespace {

using Along = Dual<double, 1>;  // a number and its derivative along a direction

double tanh_of(double z) { return std::tanh(z); }
Along tanh_of(const Along& z) {
  const double t = std::tanh(z.value);
  return detail::chain(z, t, 1.0 - t * t);
}

std::vector<Along> along(Policy::Values values, Policy::Values changes) {
  std::vector<Along> all(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    all[i] = Along::constant(values[i]);
    all[i].derivative[0] = changes[i];
  }
  return all;
}

/// Adds the derivatives of `values` to `sums`.
void add_derivatives(const std::vector<Along>& values, std::span<double> sums) {
  for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i].derivative[0];
}

class Perceptron final : public Policy {
 public:
  Perceptron(std::vector<std::size_t> widths, std::vector<double> limits, std::uint64_t seed)
      : widths_(std::move(widths)), limits_(std::move(limits)), seed_(seed) {}

  std::size_t num_inputs() const override { return widths_.front(); }
  std::size_t num_outputs() const override { return widths_.back(); }
  std::size_t num_weights() const override {
    std::size_t count = 0;
    for (std::size_t l = 1; l < widths_.size(); ++l) count += widths_[l] * (widths_[l - 1] + 1);
    return count;
  }
  std::vector<double> initial_weights() const override {
    std::vector<double> theta;
    std::mt19937_64 bits(seed_);
    for (std::size_t l = 1; l < widths_.size(); ++l) {
      const double bound = widths_.size() == 2 ? 0.0 : 1.0 / std::sqrt(static_cast<double>(widths_[l - 1]));
      // The upper 53 bits are a uniform number in [0, 1), the same with every standard library.
      for (std::size_t i = 0; i < widths_[l] * widths_[l - 1]; ++i)
        theta.push_back(bound * (2.0 * std::ldexp(static_cast<double>(bits() >> 11), -53) - 1.0));
      theta.resize(theta.size() + widths_[l], 0.0);
    }
    return theta;
  }

  std::vector<double> evaluate(Values y, Values theta) const override {
    return outputs<double>({y.begin(), y.end()}, {theta.begin(), theta.end()}).back();
  }
  std::vector<double> tangent(Values y, Values theta, Values dy, Values dtheta) const override {
    std::vector<double> du(num_outputs(), 0.0);
    add_derivatives(outputs(along(y, dy), along(theta, dtheta)).back(), du);
    return du;
  }
  void add_adjoint(Values y, Values theta, Values w, std::span<double> y_adjoint,
                   std::span<double> theta_adjoint) const override {
    const auto [by_y, by_theta] =
        adjoints<double>({y.begin(), y.end()}, {theta.begin(), theta.end()}, {w.begin(), w.end()});
    for (std::size_t i = 0; i < by_y.size(); ++i) y_adjoint[i] += by_y[i];
    for (std::size_t i = 0; i < by_theta.size(); ++i) theta_adjoint[i] += by_theta[i];
  }
  void add_adjoint_tangent(Values y, Values theta, Values dy, Values dtheta, Values w, Values dw,
                           std::span<double> y_adjoint_tangent,
                           std::span<double> theta_adjoint_tangent) const override {
    const auto [by_y, by_theta] = adjoints(along(y, dy), along(theta, dtheta), along(w, dw));
    add_derivatives(by_y, y_adjoint_tangent);
    add_derivatives(by_theta, theta_adjoint_tangent);
  }

 private:
  /// Returns the outputs a_l of all layers, beginning with a_0 = y.
  template <class T>
  std::vector<std::vector<T>> outputs(const std::vector<T>& y, const std::vector<T>& theta) const {
    std::vector<std::vector<T>> a{y};
    std::size_t k = 0;  // index of the next weight
    for (std::size_t l = 1; l < widths_.size(); ++l) {
      const std::vector<T>& before = a.back();
      std::vector<T> z(widths_[l], T(0.0));
      for (T& sum : z)
        for (const T& input : before) sum += theta[k++] * input;
      for (T& sum : z) sum += theta[k++];
      for (std::size_t i = 0; i < z.size(); ++i) z[i] = activation(l, i, z[i]);
      a.push_back(std::move(z));
    }
    return a;
  }
  /// Returns the activation of neuron i of layer l.
  template <class T>
  T activation(std::size_t l, std::size_t i, const T& z) const {
    if (l + 1 < widths_.size()) return tanh_of(z);
    return limits_.empty() ? z : limits_[i] * tanh_of(z * (1.0 / limits_[i]));
  }
  /// Returns the derivative of the activation of neuron i of layer l, for the activation `a`.
  template <class T>
  T slope(std::size_t l, std::size_t i, const T& a) const {
    if (l + 1 < widths_.size()) return T(1.0) - a * a;
    if (limits_.empty()) return T(1.0);
    const T t = a * (1.0 / limits_[i]);
    return T(1.0) - t * t;
  }
  /// Returns (∂π/∂y)ᵀ w and (∂π/∂θ)ᵀ w.
  template <class T>
  std::pair<std::vector<T>, std::vector<T>> adjoints(const std::vector<T>& y, const std::vector<T>& theta,
                                                     std::vector<T> w) const {
    const std::vector<std::vector<T>> a = outputs(y, theta);
    std::vector<T> by_theta(theta.size(), T(0.0));
    std::size_t end = theta.size();  // end of the weights of layer l
    for (std::size_t l = widths_.size() - 1; l > 0; --l) {
      const std::size_t rows = widths_[l], columns = widths_[l - 1], first = end - rows * (columns + 1);
      std::vector<T> below(columns, T(0.0));
      for (std::size_t i = 0; i < rows; ++i) {
        const T z_adjoint = w[i] * slope(l, i, a[l][i]);
        by_theta[first + rows * columns + i] = z_adjoint;
        for (std::size_t j = 0; j < columns; ++j) {
          by_theta[first + i * columns + j] = z_adjoint * a[l - 1][j];
          below[j] += theta[first + i * columns + j] * z_adjoint;
        }
      }
      w = std::move(below);
      end = first;
    }
    return {std::move(w), std::move(by_theta)};
  }

  std::vector<std::size_t> widths_;  // numbers of neurons: inputs, hidden layers, outputs
  std::vector<double> limits_;
  std::uint64_t seed_;
};

}  // namespace

std::shared_ptr<const Policy> make_perceptron(std::size_t num_inputs, std::size_t num_outputs,
                                              const PerceptronOptions& options) {
  std::vector<std::size_t> widths{num_inputs};
  widths.insert(widths.end(), options.hidden.begin(), options.hidden.end());
  widths.push_back(num_outputs);
  for (const std::size_t width : widths)
    if (width == 0) throw Error("a layer of a policy has no neurons; give at least 1", ErrorKind::input);
  if (!options.limits.empty() && options.limits.size() != num_outputs)
    throw Error("a policy with " + std::to_string(num_outputs) + " outputs has " +
                    std::to_string(options.limits.size()) + " limits; give one per output, or none",
                ErrorKind::input);
  for (const double limit : options.limits)
    if (!(limit > 0.0 && std::isfinite(limit)))
      throw Error("the limit " + std::to_string(limit) + " of an output of a policy is not positive", ErrorKind::input);
  return std::make_shared<Perceptron>(std::move(widths), options.limits, options.seed);
}

}  // namespace diffsim
