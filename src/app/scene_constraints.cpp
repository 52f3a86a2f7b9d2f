// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "app/scene_sections.hpp"

namespace diffsim::app {
namespace {

/// Parses the bounds `at_least` and `at_most`, or `equals`.
void parse_bounds(const Mapping& mapping, ConstraintEntry& constraint) {
  const Value *const least = mapping.find("at_least"), *const most = mapping.find("at_most"),
                     *const equals = mapping.find("equals");
  if (equals && (least || most))
    equals->place.fail("cannot be combined with `at_least` and `at_most`; remove one of them");
  if (!equals && !least && !most) mapping.place().fail("has no bound; give `at_least`, `at_most` or `equals`");
  if (least) constraint.lower = to_number(*least);
  if (most) constraint.upper = to_number(*most);
  if (equals) constraint.lower = constraint.upper = to_number(*equals);
  if (least && most && constraint.lower == constraint.upper)
    mapping.place().fail("has the same lower and upper bound; use `equals`");
  if (least && most && !(constraint.lower < constraint.upper))
    mapping.place().fail(
        fmt::format("cannot be satisfied: `at_least`, {}, is not below `at_most`, {}", least->text, most->text));
}

/// Throws InputError if a bound of |y| is negative.
void require_positive_bounds(const Mapping& mapping, const ConstraintEntry& constraint) {
  for (const double bound : {constraint.lower, constraint.upper})
    if (std::isfinite(bound) && bound < 0.0)
      mapping.place().fail("has a negative bound, but with `power` the bound is that of |y|; remove `power`");
}

/// Parses the keys `quantity` and `power` of a constraint of a parameter.
void parse_quantity(const Mapping& mapping, const ParameterEntry& parameter, ConstraintEntry& constraint) {
  using Quantity = ConstraintEntry::Quantity;
  const Value* const quantity = mapping.find("quantity");
  if (quantity) {
    constraint.quantity = to_enum<Quantity, 3>(*quantity, {"mean", "relative_volume", "distortion"});
    if (constraint.quantity != Quantity::mean && parameter.name != "rest_positions")
      quantity->place.fail("is only allowed for the parameter rest_positions; remove it");
  }
  if (const Value* power = mapping.find("power")) {
    if (constraint.quantity != Quantity::distortion) power->place.fail("belongs to `quantity: distortion`; remove it");
    constraint.power = to_number(*power);
    if (!(constraint.power >= 1.0)) power->place.fail(power->text + " is less than 1; give a number of at least 1");
  }
}

ConstraintEntry parse_constraint(const Value& value, const Scene& scene) {
  std::vector<std::string> keys = keys_of_sensor_value();
  keys.insert(keys.end(), {"parameter", "region", "quantity", "at_least", "at_most", "equals", "experiment"});
  const Mapping any(value, keys);
  ConstraintEntry constraint;
  constraint.place = any.place();
  if (any.one_of({"parameter", "sensor"}) == "parameter") {
    if (any.has("experiment"))
      any.place_of("experiment").fail("belongs to `sensor`; a parameter has the same values in all experiments");
    const Mapping mapping(value, {"parameter", "region", "quantity", "power", "at_least", "at_most", "equals"});
    const std::size_t k = parse_parameter_index(mapping, scene);
    constraint.of = k;
    parse_quantity(mapping, scene.parameters[k], constraint);
    parse_bounds(mapping, constraint);
    return constraint;
  }
  if (any.has("region")) any.place_of("region").fail("belongs to `parameter`; the sensor has a region of its own");
  if (any.has("quantity")) any.place_of("quantity").fail("belongs to `parameter`; remove it");
  parse_bounds(any, constraint);
  if (const Value* experiment = any.find("experiment")) {
    if (scene.experiment.empty()) experiment->place.fail("is given, but the scene has no `experiments`; remove it");
    constraint.experiment = to_text(*experiment);
    constraint.experiment_place = experiment->place;
    // The sensor's value, such as its steps, is that of the other experiment.
    if (constraint.experiment != scene.experiment) return constraint;
  }
  const SensorValueEntry sensor = parse_sensor_value(any, scene);
  if (sensor.power) require_positive_bounds(any, constraint);
  constraint.of = sensor;
  return constraint;
}

/// Returns true if both constraints bound the same function.
bool is_same_function(const ConstraintEntry& a, const ConstraintEntry& b) {
  if (a.of.index() != b.of.index()) return false;
  if (const std::size_t* const k = std::get_if<std::size_t>(&a.of))
    return *k == std::get<std::size_t>(b.of) && a.quantity == b.quantity && a.power == b.power;
  const SensorValueEntry &one = std::get<SensorValueEntry>(a.of), &other = std::get<SensorValueEntry>(b.of);
  return one.sensor.name == other.sensor.name && one.weights == other.weights && one.steps == other.steps &&
         one.step == other.step && one.power == other.power;
}

/// Range of a function of a parameter that follows from the bounds of the parameter, or from the function's definition.
struct Range {
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  std::string reason;
};

Range range_of(const ConstraintEntry& constraint, const ParameterEntry& parameter) {
  Range range;
  using Quantity = ConstraintEntry::Quantity;
  if (constraint.quantity == Quantity::distortion) return {1.0, range.upper, "a distortion is at least 1"};
  if (constraint.quantity == Quantity::relative_volume) return {0.0, range.upper, "a volume is positive"};
  range = {parameter.lower, parameter.upper,
           fmt::format("the parameter's `bounds` are [{}, {}]", parameter.lower, parameter.upper)};
  if (!parameter.distribution) return range;
  range.lower = std::max(range.lower, 0.0);
  range.upper = std::min(range.upper, 1.0);
  range.reason = fmt::format("densities are between {} and {}", range.lower, range.upper);
  return range;
}

/// Throws InputError if no value satisfies two constraints of one function, or if the bounds of a parameter exclude all
/// values that a constraint allows. `constraints`: constraints of the experiment `scene`, or of all experiments.
void check_satisfiable(const std::vector<ConstraintEntry>& constraints, const Scene& scene) {
  const auto is_here = [&](const ConstraintEntry& one) {
    return one.experiment.empty() || one.experiment == scene.experiment;
  };
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const ConstraintEntry& one = constraints[i];
    if (!is_here(one)) continue;
    if (const std::size_t* const k = std::get_if<std::size_t>(&one.of)) {
      const Range range = range_of(one, scene.parameters[*k]);
      if (one.lower > range.upper || one.upper < range.lower)
        one.place.fail(fmt::format("cannot be satisfied: {}; change the {} bound", range.reason,
                                   one.lower > range.upper ? "lower" : "upper"));
    }
    for (std::size_t j = 0; j < i; ++j) {
      const ConstraintEntry& other = constraints[j];
      if (!is_here(other) || !is_same_function(one, other)) continue;
      if (one.lower > other.upper || one.upper < other.lower)
        one.place.fail(fmt::format(
            "contradicts {}: the function of both must be at least {} and at most {}; change one of the bounds",
            other.place.key, std::max(one.lower, other.lower), std::min(one.upper, other.upper)));
    }
  }
}

}  // namespace

std::vector<ConstraintEntry> parse_constraints(const Value& value, const Scene& scene) {
  if (scene.parameters.empty()) value.place.fail("needs `parameters`, which the optimiser varies");
  std::vector<ConstraintEntry> constraints;
  for (const Value* item : to_items(value)) constraints.push_back(parse_constraint(*item, scene));
  if (constraints.empty()) value.place.fail("is an empty list; give at least one constraint, or remove `constraints`");
  check_satisfiable(constraints, scene);
  return constraints;
}

}  // namespace diffsim::app
