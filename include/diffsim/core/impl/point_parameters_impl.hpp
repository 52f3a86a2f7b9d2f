// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/macros.hpp"

namespace diffsim {

/// Parameter of a PointTerm or a StencilTerm. A PointParameter has one value for the whole model, or one value per
/// vertex (PointTerm) or per entity (StencilTerm).
struct PointParameter {
  std::string name;
  int components = 1;
  /// True if the values of the parameter are multiplied by the factor of dead loads (`Configuration::factor_of`).
  bool is_dead_load = false;
  bool is_optional = false;  ///< true if a missing parameter counts as zero; false if the Model must have the parameter

  /// Returns a PointParameter for an unused parameter value in the array p; unused parameter values are zero.
  static PointParameter unused() { return {"", 1, false, true}; }
  /// Returns the parameter that the ParameterSpec `spec` describes. The name of the parameter is `spec.name`, followed
  /// by ":" and `label` if `label` is not empty.
  static PointParameter of(const ParameterSpec& spec, const std::string& label = {}) {
    return {std::string(spec.name) + (label.empty() ? "" : ":" + label), spec.components};
  }
};

namespace point {

/// Device addresses of the parameter values p of all points (PointTerm) or entities (StencilTerm). The parameter value
/// p[k] of the point or entity with index i is `factor[k] * of[k][stride[k] * i]`, or zero if `of[k]` is nullptr. If a
/// parameter has one value for all points or entities, the stride of the parameter is 0.
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

/// Derivatives of a scalar with respect to the parameter values p of a force term, summed over all points or stencils.
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

/// Ordered list of the parameters of a force term. The array p of parameter values of a point contains the components
/// of all parameters, in the order of the ParameterList.
class ParameterList {
 public:
  /// Constructs the list. Throws Error if the total number of components of the parameters is not `num_values`.
  ParameterList(std::string term, std::vector<PointParameter> takes, int num_values);

  const std::string& term() const { return term_; }

  /// Throws Error if a required parameter is missing, or if a parameter has a wrong number of components, or has
  /// neither one value for all points nor one value per point. In the function `check`, a point is a vertex of a
  /// PointTerm or an entity of a StencilTerm. The callback `is_of_points(entities)` must return true if `entities` is
  /// the set of all points. The argument `home` is the description of the points in error messages, for example "each
  /// vertex".
  void check(const ParameterSet& parameters, const std::function<bool(const Entities&)>& is_of_points,
             const std::string& home) const;

 protected:
  /// Addresses of the arrays of a ParameterNumbers object. Functions with an argument of type Arrays are compiled once
  /// for all values of P, the number of parameter values per point. Each of the arrays `of`, `stride` and `factor`
  /// contains one element for each parameter value of a point.
  template <class Number>
  struct Arrays {
    Number** of;
    int* stride;
    double* factor;
  };
  void set_arrays(const ParameterSet& set, const Configuration& at, const Arrays<const double>& arrays) const;
  void set_arrays(ParameterSet& gradient, const Configuration& at, const Arrays<double>& arrays) const;
  /// Adds the derivatives `sums` to the values of those parameters of `gradient` that have one value for all points.
  /// The array `sums` contains one derivative for each parameter value of a point.
  void add_to_globals(const double* sums, const Configuration& at, ParameterSet& gradient) const;

 private:
  template <class Number, class Set>
  void set_all(Set& set, const Configuration& at, const Arrays<Number>& arrays) const;

  std::string term_;
  std::vector<PointParameter> takes_;
};

/// ParameterList of a force term with P parameter values p per point.
template <int P>
class Parameters : public ParameterList {
 public:
  Parameters(std::string term, std::vector<PointParameter> takes)
      : ParameterList(std::move(term), std::move(takes), P) {}

  /// Returns the addresses of the values in the ParameterSet `set`, which contains parameter values, a direction or a
  /// gradient. If the ParameterSet `set` is a gradient, the address of a parameter with one value for all points is
  /// nullptr, because the derivatives with respect to this parameter are summed over the points (`add_sums`).
  template <class Number, class Set>
  ParameterNumbers<P, Number> numbers(Set& set, const Configuration& at) const {
    ParameterNumbers<P, Number> result;
    set_arrays(set, at, Arrays<Number>{result.of, result.stride, result.factor});
    return result;
  }

  /// Adds to `gradient` the derivatives `sums` with respect to parameters that have one value for all points.
  void add_sums(const Sums<P>& sums, const Configuration& at, ParameterSet& gradient) const {
    add_to_globals(sums.of, at, gradient);
  }
};

}  // namespace point
}  // namespace diffsim
