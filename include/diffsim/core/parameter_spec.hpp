// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace diffsim {

/// Interval of real numbers, possibly without 0. An infinite end is never part of an Interval.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();  ///< lower end
  double high = std::numeric_limits<double>::infinity();  ///< upper end
  bool has_low = false;                                   ///< true if the lower end `low` belongs to the interval
  bool has_high = false;                                  ///< true if the upper end `high` belongs to the interval
  bool has_zero = true;  ///< false if the interval excludes 0 although `low` < 0 < `high`

  static constexpr Interval any() { return {}; }                                      ///< all real numbers
  static constexpr Interval positive() { return {.low = 0.0}; }                       ///< numbers > 0
  static constexpr Interval not_negative() { return {.low = 0.0, .has_low = true}; }  ///< numbers ≥ 0
  static constexpr Interval but_zero() { return {.has_zero = false}; }                ///< numbers ≠ 0

  /// Returns true if `value` is finite and in the Interval.
  bool contains(double value) const;
  /// Returns the Interval as text, for example "(-1, 0.5)", "> 0", "≥ 0", "≠ 0" or "any".
  std::string text() const;
};

/// Kind of entities on which a parameter has values.
enum class ParameterHome {
  one,        ///< one value for the whole model
  cells,      ///< one value per tetrahedron
  segments,   ///< one value per segment
  triangles,  ///< one value per triangle
  vertices,   ///< one value per vertex
};

/// Quantity that an optimiser varies: the value of a parameter, or the logarithm of the value.
enum class Search { linear, logarithmic };

/// Properties of a parameter. Each parameter has one ParameterSpec, which is defined in the folder of the law, force,
/// integrator or contact that uses the parameter. The ParameterSpec determines the validation of values, the keys and
/// messages of scene files, the units in files, the result of `search()`, the table in docs/scenes.md and the values
/// used in tests.
struct ParameterSpec {
  std::string_view name;                    ///< parameter name, without the suffix :LABEL of `ParameterSet::add`
  std::string_view unit = "1";              ///< SI unit of the parameter; "1" if dimensionless
  std::string_view meaning = {};            ///< description of the parameter for the table in docs/scenes.md
  Interval range = {};                      ///< allowed values, in `unit`
  double sample = 1.0;                      ///< value that tests use for a soft body of a few decimetres
  ParameterHome home = ParameterHome::one;  ///< entities on which the parameter has values
  int components = 1;                       ///< number of values of the parameter per entity
  bool by_step = false;                     ///< true if the parameter may have a value for each step of a rollout
  /// True if an inverse problem may use a single unknown for the values of the parameter at all vertices. The member
  /// `uniform` is used only for parameters with one value per vertex.
  bool uniform = false;
  std::optional<double> default_value = {};  ///< value of the parameter if the user specifies no value
  /// False if requests for second derivatives with respect to the parameter throw Error (input).
  bool has_second_derivative = true;
  std::string_view advice = "a value in this range";  ///< text after "give" in the result of `range_error` for ranges
                                                      ///< other than > 0, ≥ 0 and ≠ 0

  /// Returns the default search: logarithmic if `range` is the interval of all positive numbers, else linear.
  constexpr Search search() const {
    return range.low == 0.0 && !range.has_low && range.high == std::numeric_limits<double>::infinity()
               ? Search::logarithmic
               : Search::linear;
  }
};

/// Returns the error message for a value outside the allowed range, for example "-5 is not positive; give a number
/// above 0, in Pa". Returns an empty string for a value that is allowed.
std::string range_error(const ParameterSpec& spec, double value);

}  // namespace diffsim
