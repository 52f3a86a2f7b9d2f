// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/parameter_table.hpp"

#include <fmt/core.h>

#include "app/load_types.hpp"
#include "app/scene.hpp"
#include "simulation/parameter_specs.hpp"

namespace diffsim::app {
namespace {

/// Name of the parameter in scenes. The name of an obstacle's parameter ends in `:NAME`, where NAME stands for the
/// obstacle's label.
std::string name_in_scenes(const ParameterSpec& spec) {
  return std::string(spec.name) + (spec.name.starts_with("obstacle_") ? ":NAME" : "");
}

}  // namespace

std::string parameter_table() {
  std::string text = "| name | unit | values | default | per (default first) | meaning |\n|---|---|---|---|---|---|\n";
  std::vector<ParameterSpec> specs = parameter_specs();
  for (const ParameterSpec& spec : specs_of_loads())
    if (!find_parameter_spec(spec.name)) specs.push_back(spec);
  for (const ParameterSpec& spec : specs) {
    std::string per;
    for (const ParameterEntry::Per one : per_of(spec)) per += (per.empty() ? "`" : ", `") + to_string(one) + "`";
    text += fmt::format("| `{}` | {} | {}{} | {} | {} | {} |\n", name_in_scenes(spec), spec.unit,
                        spec.components == 3 ? "[x, y, z], " : "", spec.range.text(),
                        spec.default_value ? fmt::format("{:g}", *spec.default_value) : "", per, spec.meaning);
  }
  return text;
}

}  // namespace diffsim::app
