// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace diffsim {

/// An interval of numbers. An infinite end is not in it.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool has_low = false;   ///< whether `low` itself is allowed
  bool has_high = false;  ///< whether `high` itself is allowed
  bool has_zero = true;   ///< whether 0 is allowed where it is inside

  static constexpr Interval any() { return {}; }
  static constexpr Interval positive() { return {.low = 0.0}; }
  static constexpr Interval not_negative() { return {.low = 0.0, .has_low = true}; }
  static constexpr Interval but_zero() { return {.has_zero = false}; }

  /// Whether the number is finite and in the interval.
  bool contains(double value) const;
  /// Notation of the interval: "(-1, 0.5)", "> 0", "≥ 0", "≠ 0", "any".
  std::string text() const;
};

/// The entities that a parameter has values on.
enum class ParameterHome {
  one,        ///< one value for the whole model
  cells,      ///< one value a tetrahedron
  segments,   ///< one value a segment
  triangles,  ///< one value a triangle
  vertices,   ///< one value a vertex
};

/// Quantity that an optimiser moves: the value of a parameter or its logarithm.
enum class Search { linear, logarithmic };

/// Properties of a parameter, stated once in the folder whose law, force, integrator or contact has the parameter.
/// Validation, the keys and messages of the runner, units in files, searches, the table in docs/scenes.md and the
/// values that tests take follow from it.
struct ParameterSpec {
  std::string_view name;
  std::string_view unit = "1";  ///< SI; "1" for a number without unit
  std::string_view meaning = {};
  Interval range = {};
  double sample = 1.0;  ///< a value that tests take, of a soft body of decimetres
  ParameterHome home = ParameterHome::one;
  int components = 1;
  bool by_step = false;  ///< may have values for each step of a rollout
  bool uniform = false;  ///< of vertices: may be sought as one value for all of them
  std::optional<double> default_value = {};
  bool has_second_derivative = true;
  std::string_view advice = "a number inside";  ///< after "give", where a value is outside a bounded range

  /// Search unless a user asks for another: in the logarithm where values are positive and unbounded, else linear.
  constexpr Search search() const {
    return range.low == 0.0 && !range.has_low && range.high == std::numeric_limits<double>::infinity()
               ? Search::logarithmic
               : Search::linear;
  }
};

/// Message for a value that the spec does not allow, as "-5 is not positive; give a number above 0, in Pa"; empty for
/// a value that is allowed.
std::string fault_of(const ParameterSpec& spec, double value);

}  // namespace diffsim
