// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include "app/scene_sections.hpp"
#include "core/nearest_word.hpp"
#include "simulation/parameter_specs.hpp"

namespace diffsim::app {

std::vector<ValueEntry> parse_replacements(const Value& value, const Scene& scene) {
  if (!value.is_mapping()) value.place.fail("give a mapping from names of parameters to values");
  std::vector<ValueEntry> entries;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const std::string& name = value.keys[i];
    const Value& item = value.items[i];
    if (!find_parameter_spec(name)) {
      std::vector<std::string> known;
      for (const ParameterSpec& spec : parameter_specs()) known.emplace_back(spec.name);
      const std::string likely = nearest(name.substr(0, name.find(':')), known);
      item.place.fail("there is no parameter of this name" +
                      (likely.empty() ? "" : "; did you mean '" + likely + "'?"));
    }
    entries.push_back({name, parse_numbers(item, scene), item.place});
  }
  return entries;
}

}  // namespace diffsim::app
