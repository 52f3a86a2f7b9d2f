// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "app/load_types.hpp"
#include "app/scene_sections.hpp"

namespace diffsim::app {
namespace {

/// Mean rates (f((n+1) dt) − f(n dt))/dt of a function f in each step n, [steps, width]. The function has the values
/// f(times[i]) = values[i]. Between the times, f is linear; before the first and after the last time, f is constant.
std::vector<double> rates_of(const std::vector<double>& times, const std::vector<double>& values, std::size_t width,
                             const Scene& scene) {
  const auto value_at = [&](double t, std::size_t c) {
    const auto after = static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), t) - times.begin());
    if (after == 0) return values[c];
    if (after == times.size()) return values[width * (after - 1) + c];
    const double part = (t - times[after - 1]) / (times[after] - times[after - 1]);
    return (1.0 - part) * values[width * (after - 1) + c] + part * values[width * after + c];
  };
  std::vector<double> rates;
  const double dt = scene.solver.dt;
  for (int n = 0; n < scene.solver.steps; ++n)
    for (std::size_t c = 0; c < width; ++c) rates.push_back((value_at((n + 1) * dt, c) - value_at(n * dt, c)) / dt);
  return rates;
}

/// Parses the table of a prescribed motion, {times: […], angle: […], displacement: [[…], …]}.
void parse_move_table(const Value& value, const Scene& scene, MoveSection& move) {
  const Mapping mapping(value, {"times", "angle", "displacement"});
  const Value& given = mapping.need("times", "a list of times in s, ascending");
  const Numbers times{to_array(given), given.place};
  expect_shape(times, {{-1}}, "a list of times in s");
  const std::vector<double>& t = times.array()->values;
  for (std::size_t i = 1; i < t.size(); ++i)
    if (!(t[i] > t[i - 1])) given.place.fail("the times do not ascend; sort them");
  const auto count = static_cast<std::int64_t>(t.size());
  const std::int64_t steps = std::max(scene.solver.steps, 0);
  if (const Value* angle = mapping.find("angle")) {
    const Numbers angles{to_array(*angle), angle->place};
    expect_shape(angles, {{count}}, "an angle in rad for each time");
    move.angular_velocity = {Array{{steps}, rates_of(t, angles.array()->values, 1, scene)}, angle->place};
  }
  if (const Value* displacement = mapping.find("displacement")) {
    const Numbers displacements{to_array(*displacement), displacement->place};
    expect_shape(displacements, {{count, 3}}, "[x, y, z] in m for each time");
    move.velocity = {Array{{steps, 3}, rates_of(t, displacements.array()->values, 3, scene)}, displacement->place};
  }
}

MoveSection parse_move(const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"axis", "origin", "angular_velocity", "velocity", "table"});
  MoveSection move;
  move.angular_velocity = {Array{{}, {0.0}}, mapping.place()};
  move.velocity = {Array{{3}, {0.0, 0.0, 0.0}}, mapping.place()};
  const std::int64_t steps = scene.solver.steps;
  if (const Value* table = mapping.find("table")) {
    if (mapping.has("angular_velocity") || mapping.has("velocity"))
      table->place.fail("cannot be combined with `angular_velocity` or `velocity`; give a table or rates");
    parse_move_table(*table, scene, move);
  }
  if (const Value* rate = mapping.find("angular_velocity")) {
    move.angular_velocity = parse_numbers(*rate, scene);
    expect_shape(move.angular_velocity, {{}, {steps}}, "a number in rad/s, or one for each of solver.steps");
  }
  if (const Value* velocity = mapping.find("velocity")) {
    move.velocity = parse_numbers(*velocity, scene);
    expect_shape(move.velocity, {{3}, {steps, 3}}, "[x, y, z] in m/s, or one for each of solver.steps");
  }
  if (const Value* axis = mapping.find("axis")) {
    move.axis = to_vector(*axis);
    if (move.axis == std::array<double, 3>{}) axis->place.fail("has no length; give a direction such as [0, 0, 1]");
  }
  if (const Value* origin = mapping.find("origin")) move.origin = to_vector(*origin);
  return move;
}

/// Parses a load of the type with the key `kind`, and the coefficients of the load.
void parse_load(const Mapping& mapping, const std::string& kind, const Scene& scene, BoundaryEntry& entry) {
  const LoadType& type = *std::find_if(load_types().begin(), load_types().end(),
                                       [&](const LoadType& other) { return other.key() == kind; });
  entry.kind = BoundaryEntry::Kind::load;
  entry.type = &type;
  entry.load = parse_numbers(*mapping.find(kind), scene);
  const std::int64_t steps = scene.solver.steps;
  expect_shape(entry.load, type.is_vector() ? std::vector<Shape>{{3}, {steps, 3}} : std::vector<Shape>{{}, {steps}},
               type.meaning + ", or one for each of solver.steps");
  for (const LoadCoefficient& coefficient : type.coefficients)
    entry.coefficients.push_back(
        to_non_negative(mapping.need(coefficient.key, coefficient.meaning), std::string(coefficient.parameter.unit)));
}

BoundaryEntry parse_entry(const Value& value, const Scene& scene) {
  std::vector<std::string> kinds{"fix"}, keys{"region", "fix", "clamp"};
  for (const LoadType& type : load_types()) {
    kinds.push_back(type.key());
    keys.push_back(type.key());
    for (const LoadCoefficient& coefficient : type.coefficients) keys.push_back(coefficient.key);
  }
  for (const char* other : {"nodal_load", "move"}) {
    kinds.push_back(other);
    keys.push_back(other);
  }
  const Mapping mapping(value, keys);
  BoundaryEntry entry;
  entry.place = mapping.place();
  entry.region = parse_region_name(mapping.need("region", "the name of a region"));
  const std::string kind = mapping.one_of(kinds);
  const Value& given = *mapping.find(kind);
  for (const LoadType& type : load_types())
    for (const LoadCoefficient& coefficient : type.coefficients)
      if (kind != type.key() && mapping.has(coefficient.key))
        mapping.place_of(coefficient.key).fail("is only allowed with `" + type.key() + "`; remove it");
  if (kind != "fix" && mapping.has("clamp")) mapping.place_of("clamp").fail("is only allowed with `fix`; remove it");
  const std::int64_t steps = scene.solver.steps;
  if (kind == "fix") {
    entry.axes = parse_axes(given);
    if (const Value* clamp = mapping.find("clamp")) {
      entry.clamp = to_boolean(*clamp);
      if (entry.clamp && std::count(entry.axes.begin(), entry.axes.end(), true) == 2)
        clamp->place.fail(
            "needs all three components in `fix`, or only the axis normal to a plane of symmetry; change `fix`");
    }
  } else if (kind == "move") {
    entry.kind = BoundaryEntry::Kind::move;
    entry.move = parse_move(given, scene);
  } else if (kind != "nodal_load") {
    parse_load(mapping, kind, scene, entry);
  } else {
    entry.kind = BoundaryEntry::Kind::nodal_load;
    entry.load = parse_numbers(given, scene);
    expect_shape(entry.load, {{3}, {steps, 3}}, "[x, y, z] in N for each vertex, or one for each of solver.steps");
  }
  return entry;
}

}  // namespace

std::array<bool, 3> parse_axes(const Value& value) {
  std::array<bool, 3> axes{};
  for (const Value* item : to_items(value)) {
    const std::string axis = to_choice(*item, {"x", "y", "z"});
    bool& given = axes[static_cast<std::size_t>(axis[0] - 'x')];
    if (given) item->place.fail("'" + axis + "' is given twice; remove one");
    given = true;
  }
  if (axes == std::array<bool, 3>{}) value.place.fail("is an empty list; give axes, such as [x, y, z]");
  return axes;
}

std::vector<BoundaryEntry> parse_boundary(const Value& value, const Scene& scene) {
  std::vector<BoundaryEntry> entries;
  for (const Value* item : to_items(value)) {
    if (is_drive(*item)) continue;
    BoundaryEntry entry = parse_entry(*item, scene);
    for (const BoundaryEntry& other : entries)
      if (entry.type && other.type == entry.type && other.region.name == entry.region.name)
        entry.place.fail("the region '" + entry.region.name + "' already has a " + entry.type->key() + "; " +
                         (entry.type->is_additive ? "give the sum of the two" : "remove one"));
    entries.push_back(std::move(entry));
  }
  return entries;
}

void parse_attachments(const Value& value, Scene& scene) {
  for (const Value* item : to_items(value)) {
    const Mapping mapping(*item, {"region", "to", "stiffness"});
    BoundaryEntry entry;
    entry.kind = BoundaryEntry::Kind::attach;
    entry.place = mapping.place();
    entry.region = parse_region_name(mapping.need("region", "the name of a region, whose vertices are attached"));
    entry.to = parse_region_name(mapping.need("to", "the name of the region that the vertices are attached to"));
    entry.stiffness = to_positive(
        mapping.need("stiffness", "N/m, of the spring at each vertex; rigid attachments are not supported yet"), "N/m");
    for (const BoundaryEntry& other : scene.boundary)
      if (other.kind == entry.kind && other.region.name == entry.region.name)
        entry.place.fail("the region '" + entry.region.name + "' is already attached; give another region");
    scene.boundary.push_back(std::move(entry));
  }
}

}  // namespace diffsim::app
