// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/scene_sections.hpp"

namespace diffsim::app {
namespace {

std::array<bool, 3> parse_axes(const Value& value) {
  std::array<bool, 3> axes{};
  for (const Value* item : to_items(value)) {
    const std::string axis = to_choice(*item, {"x", "y", "z"});
    bool& fixed = axes[static_cast<std::size_t>(axis[0] - 'x')];
    if (fixed) item->place.fail("'" + axis + "' is given twice; remove one");
    fixed = true;
  }
  if (axes == std::array<bool, 3>{}) value.place.fail("is an empty list; give axes, such as [x, y, z]");
  return axes;
}

BoundaryEntry parse_entry(const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"region", "fix", "traction", "nodal_load", "move"});
  if (mapping.has("move"))
    mapping.place_of("move").fail("is not available in this version; use fix, traction or nodal_load");
  BoundaryEntry entry;
  entry.place = mapping.place();
  entry.region = parse_region_name(mapping.need("region", "the name of a region"));
  const std::string kind = mapping.one_of({"fix", "traction", "nodal_load"});
  const Value& given = *mapping.find(kind);
  const std::int64_t steps = scene.solver.steps;
  if (kind == "fix") {
    entry.axes = parse_axes(given);
  } else if (kind == "traction") {
    entry.kind = BoundaryEntry::Kind::traction;
    entry.load = parse_numbers(given, scene);
    expect_shape(entry.load, {{3}, {steps, 3}}, "[x, y, z] in Pa, or one for each of solver.steps");
  } else {
    entry.kind = BoundaryEntry::Kind::nodal_load;
    entry.load = parse_numbers(given, scene);
    expect_shape(entry.load, {{3}, {steps, 3}}, "[x, y, z] in N for each vertex, or one for each of solver.steps");
  }
  return entry;
}

}  // namespace

std::vector<BoundaryEntry> parse_boundary(const Value& value, const Scene& scene) {
  std::vector<BoundaryEntry> entries;
  for (const Value* item : to_items(value)) {
    BoundaryEntry entry = parse_entry(*item, scene);
    for (const BoundaryEntry& other : entries)
      if (entry.kind == BoundaryEntry::Kind::traction && other.kind == entry.kind &&
          other.region.name == entry.region.name)
        entry.place.fail("the region '" + entry.region.name + "' has a traction already; add the two up");
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace diffsim::app
