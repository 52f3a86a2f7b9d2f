// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/inputs.hpp"
#include "app/scene_sections.hpp"
#include "core/covariance.hpp"

namespace diffsim::app {
namespace {

std::vector<std::string> names_of_types() {
  std::vector<std::string> names;
  for (const SensorType& type : sensor_types()) names.push_back(type.name);
  return names;
}

bool measures_places(SensorQuantity quantity) {
  return quantity == SensorQuantity::position || quantity == SensorQuantity::displacement ||
         quantity == SensorQuantity::velocity || quantity == SensorQuantity::acceleration;
}

bool measures_contact_of(SensorQuantity quantity) {
  return quantity == SensorQuantity::contact_force || quantity == SensorQuantity::friction_force ||
         quantity == SensorQuantity::contact_pressure;
}

/// Parses the key `between` of a sensor of contact: two names of bodies, obstacles or regions.
std::array<std::string, 2> parse_sides(const Mapping& mapping) {
  const Value& between = mapping.need("between", "two names of bodies or obstacles, such as [ball, floor]");
  if (!between.is_list() || between.items.size() != 2)
    between.place.fail("is not a list of two names of bodies or obstacles, such as [ball, floor]");
  return {to_text(between.items[0]), to_text(between.items[1])};
}

/// Parses a place: the key `region`, or the keys `point` and `body`.
SensorPlace parse_place(const Mapping& mapping, SensorEntry& sensor) {
  SensorPlace place;
  const std::string key = mapping.one_of({"region", "point"});
  if (key == "region") {
    sensor.regions.push_back(parse_region_name(*mapping.find("region")));
    place.region = sensor.regions.back().name;
    if (mapping.has("body")) mapping.place_of("body").fail("belongs to `point`; a region of a body is BODY/REGION");
    return place;
  }
  place.point = to_vector(*mapping.find("point"));
  if (const Value* body = mapping.find("body")) place.body = to_text(*body);
  return place;
}

SensorEntry parse_sensor(const std::string& name, const Value& value) {
  const Mapping any(value, {"type", "region", "point", "body", "between", "about", "power"});
  const std::vector<std::string> known = names_of_types();
  SensorEntry sensor{name, {}, {}, value.place};
  SensorSpec& spec = sensor.spec;
  spec.quantity = sensor_quantity_named(to_choice(any.need("type", "one of: " + join(known)), known));
  if (spec.quantity == SensorQuantity::distance) {
    const Mapping mapping(value, {"type", "between"});
    const Value& between = mapping.need("between", "two places, such as [{region: tip}, {point: [0, 0, 0]}]");
    if (!between.is_list() || between.items.size() != 2)
      between.place.fail("is not a list of two places, such as [{region: tip}, {point: [0, 0, 0]}]");
    spec.place = parse_place(Mapping(between.items[0], {"region", "point", "body"}), sensor);
    spec.other = parse_place(Mapping(between.items[1], {"region", "point", "body"}), sensor);
    return sensor;
  }
  if (measures_contact_of(spec.quantity)) {
    spec.between = parse_sides(Mapping(value, {"type", "between"}));
    return sensor;
  }
  std::vector<std::string> keys{"type", "region"};
  if (measures_places(spec.quantity)) keys.insert(keys.end(), {"point", "body"});
  if (spec.quantity == SensorQuantity::moment || spec.quantity == SensorQuantity::angular_momentum)
    keys.push_back("about");
  if (spec.quantity == SensorQuantity::von_mises) keys.push_back("power");
  const Mapping mapping(value, keys);
  if (measures_places(spec.quantity)) {
    spec.place = parse_place(mapping, sensor);
  } else {
    sensor.regions.push_back(parse_region_name(mapping.need("region", "the name of a region")));
    spec.place.region = sensor.regions.back().name;
  }
  if (const Value* about = mapping.find("about")) spec.about = to_vector(*about);
  if (const Value* power = mapping.find("power")) {
    spec.power = to_number(*power);
    if (!(spec.power >= 2.0)) power->place.fail(power->text + " is less than 2; give a number of at least 2");
  }
  return sensor;
}

}  // namespace

std::vector<SensorEntry> parse_sensors(const Value& value) {
  if (!value.is_mapping()) value.place.fail("is not a mapping; give {NAME: {type: strain, region: …}}");
  std::vector<SensorEntry> sensors;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const std::string& name = value.keys[i];
    if (name.empty() || name.find_first_of("/. ") != std::string::npos)
      value.items[i].place.fail("'" + name + "' is not the name of a dataset; give a name without '/', '.' and blanks");
    if (name.ends_with("_tangent"))
      value.items[i].place.fail("'" + name + "' ends in _tangent, like the datasets of derivatives; give another name");
    sensors.push_back(parse_sensor(name, value.items[i]));
  }
  return sensors;
}

const SensorType& type_of(const SensorEntry& sensor) { return type_of(sensor.spec.quantity); }

std::vector<double> parse_components(const Value& value, const SensorEntry& sensor) {
  const SensorType& type = type_of(sensor);
  std::vector<double> components;
  for (const Value* item : to_items(value))
    components.push_back(item->is_scalar() && (item->text == ".nan" || item->text == ".NaN" || item->text == ".NAN")
                             ? std::nan("")
                             : to_number(*item));
  if (components.size() != type.components.size())
    value.place.fail(fmt::format("has {} numbers; give one for each of {} ({}), .nan for values that do not count",
                                 components.size(), join(type.components), type.unit));
  return components;
}

std::vector<double> parse_covariance(const Value& value, const SensorEntry& sensor) {
  const auto m = static_cast<std::int64_t>(type_of(sensor).components.size());
  const Array array = to_array(value);
  if (array.shape != Shape{m, m} && !(m == 1 && array.shape.empty()))
    value.place.fail(fmt::format("has the shape {}; give a matrix of the components {}, of shape [{}, {}]",
                                 shape_text(array.shape), join(type_of(sensor).components), m, m));
  at_place(value.place, [&] { cholesky_of_covariance(array.values, static_cast<std::size_t>(m)); });
  return array.values;
}

}  // namespace diffsim::app
