// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "diffsim/core/add_to_entries.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/force_term.hpp"
#include "diffsim/core/macros.hpp"

namespace diffsim {

/// A parameter of a PointTerm or a StencilTerm: with one value for all points, or one a point.
struct PointParameter {
  std::string name;
  int components = 1;
  bool is_dead_load = false;  ///< multiplied by `Configuration::factor_of`
  bool is_optional = false;   ///< zero where the Model has none; else that is an Error

  /// A number that no parameter has: zero.
  static PointParameter unused() { return {"", 1, false, true}; }
  /// The parameter of a spec, NAME or with a label NAME:LABEL.
  static PointParameter of(const ParameterSpec& spec, const std::string& label = {}) {
    return {std::string(spec.name) + (label.empty() ? "" : ":" + label), spec.components};
  }
};

namespace point {

/// Device addresses of the numbers p: number k of a point is factor · of[k][stride · place], zero without an address.
/// A parameter with one value for all points has the stride 0.
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

/// Sums over points of derivatives by the numbers p.
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

/// The parameters that a term takes, whose P numbers p follow each other.
template <int P>
class Parameters {
 public:
  Parameters(std::string term, std::vector<PointParameter> takes) : term_(std::move(term)), takes_(std::move(takes)) {
    int components = 0;
    for (const PointParameter& parameter : takes_) components += parameter.components;
    if (components != P)
      throw Error("the parameters of '" + term_ + "' have " + std::to_string(components) +
                  " numbers, its force takes " + std::to_string(P));
  }
  const std::string& term() const { return term_; }

  /// Throws Error where a parameter is missing, or is not one for all or, as `is_of_points` says of its entities, one a
  /// point. `home`: "a vertex".
  template <class Test>
  void check(const ParameterSet& parameters, const Test& is_of_points, const std::string& home) const {
    for (const PointParameter& takes : takes_) {
      if (takes.is_optional && !parameters.find(takes.name)) continue;
      const Parameter& found = parameters.at(takes.name);
      const int components = found.field.components();
      if (components == takes.components && (found.is_global() || is_of_points(found.on()))) continue;
      throw Error("'" + term_ + "' takes " + std::to_string(takes.components) + " numbers of '" + takes.name +
                  "' for all or " + home + "; it has " + std::to_string(components) + " on " + found.on().name());
    }
  }

  /// Addresses of the parameters' numbers in a set of values, a direction or (those of single points) a gradient.
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

  /// Adds to the gradient the derivatives by numbers that all points share.
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
