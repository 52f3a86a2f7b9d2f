// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/add_to_entries.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/macros.hpp"

namespace diffsim {

/// Parameter of a PointTerm or a StencilTerm, with one value for all points or one value per point.
struct PointParameter {
  std::string name;
  int components = 1;
  bool is_dead_load = false;  ///< multiplied by `Configuration::factor_of`
  bool is_optional = false;   ///< true: zero if the Model lacks the parameter; false: Error

  /// Returns a placeholder for an entry of p without a parameter; the value of the entry is zero.
  static PointParameter unused() { return {"", 1, false, true}; }
  /// Returns the parameter of a spec, with the name NAME, or NAME:LABEL if a label is given.
  static PointParameter of(const ParameterSpec& spec, const std::string& label = {}) {
    return {std::string(spec.name) + (label.empty() ? "" : ":" + label), spec.components};
  }
};

namespace point {

/// Device addresses of the parameter values p. Value k of the point or entity with index `place` is factor[k] ·
/// of[k][stride[k] · place], or zero if of[k] is nullptr. The stride of a parameter with one value for all points is 0.
template <int P, class Number>
struct ParameterNumbers {
  static constexpr int size = P > 0 ? P : 1;
  Number* of[size] = {};
  int stride[size] = {};
  double factor[size] = {};

  DIFFSIM_FUNCTION Number& at(int k, int place) const { return of[k][stride[k] * static_cast<std::ptrdiff_t>(place)]; }
  DIFFSIM_FUNCTION double value(int k, int place) const {
    return of[k] ? factor[k] * of[k][stride[k] * static_cast<std::ptrdiff_t>(place)] : 0.0;
  }
};

/// Sums over points of the derivatives with respect to the parameter values p.
template <int P>
struct Sums {
  static constexpr int size = P > 0 ? P : 1;
  double of[size] = {};
  KOKKOS_INLINE_FUNCTION void operator+=(const Sums& other) {
    for (int k = 0; k < size; ++k) of[k] += other.of[k];
  }
  KOKKOS_INLINE_FUNCTION void operator+=(const volatile Sums& other) volatile {
    for (int k = 0; k < size; ++k) of[k] = of[k] + other.of[k];
  }
};

/// Parameters of a term. Their values, one parameter after the other, are the P values p.
template <int P>
class Parameters {
 public:
  Parameters(std::string term, std::vector<PointParameter> takes) : term_(std::move(term)), takes_(std::move(takes)) {
    int components = 0;
    for (const PointParameter& parameter : takes_) components += parameter.components;
    if (components != P)
      throw Error("the parameters of '" + term_ + "' have " + std::to_string(components) +
                  " values, but the force takes " + std::to_string(P));
  }
  const std::string& term() const { return term_; }

  /// Throws Error if a parameter is missing, has another number of components, or has neither one value for all points
  /// nor one value per point. `is_of_points(entities)`: returns true if the entities are the points. `home`:
  /// description of the points in messages, for example "each vertex".
  template <class Test>
  void check(const ParameterSet& parameters, const Test& is_of_points, const std::string& home) const {
    for (const PointParameter& takes : takes_) {
      if (takes.is_optional && !parameters.find(takes.name)) continue;
      const Parameter& found = parameters.at(takes.name);
      const int components = found.field.components();
      if (components == takes.components && (found.is_global() || is_of_points(found.on()))) continue;
      throw Error("'" + term_ + "' takes " + std::to_string(takes.components) + " components of '" + takes.name +
                  "', one set for all or for " + home + "; '" + takes.name + "' has " + std::to_string(components) +
                  " components on " + found.on().name());
    }
  }

  /// Returns the addresses of the parameter values in a set of values, in a direction or in a gradient. In a gradient,
  /// parameters with one value for all points get no address: their derivatives are summed (`add_sums`).
  template <class Number, class Set>
  ParameterNumbers<P, Number> numbers(Set& set, const Configuration& at) const {
    ParameterNumbers<P, Number> result;
    int k = 0;
    for (const PointParameter& takes : takes_) {
      const auto found = set.find(takes.name);
      const bool is_summed = found && found->is_global() && !std::is_const_v<Number>;
      for (int c = 0; c < takes.components; ++c, ++k) {
        if (!found) continue;
        const auto first = found->offset(at.step) * static_cast<std::size_t>(takes.components);
        result.of[k] = is_summed ? nullptr : found->field.data() + first + c;
        result.stride[k] = found->is_global() ? 0 : takes.components;
        result.factor[k] = factor_of(takes, *found, at);
      }
    }
    return result;
  }

  /// Adds the derivatives with respect to parameters with one value for all points to the gradient.
  void add_sums(const Sums<P>& sums, const Configuration& at, ParameterSet& gradient) const {
    const double* sum = sums.of;
    for (const PointParameter& takes : takes_) {
      const auto size = static_cast<std::size_t>(takes.components);
      Parameter* const found = gradient.find(takes.name);
      if (found && found->is_global()) {
        std::vector<double> values(sum, sum + size);
        for (double& value : values) value *= factor_of(takes, *found, at);
        add_to_entries(found->field, found->offset(at.step) * size, values);
      }
      sum += size;
    }
  }

 private:
  static double factor_of(const PointParameter& takes, const Parameter& found, const Configuration& at) {
    return takes.is_dead_load ? at.factor_of(found) : 1.0;
  }

  std::string term_;
  std::vector<PointParameter> takes_;
};

}  // namespace point
}  // namespace diffsim
