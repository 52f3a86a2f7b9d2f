// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "direction.hpp"

#include <nanobind/stl/string.h>

#include "arrays.hpp"

namespace diffsim::python {

Direction::Direction(const nb::dict& changes, const DifferentiableScene& scene) {
  const ParameterSet& all = const_cast<DifferentiableScene&>(scene).parameters();
  const auto owned = static_cast<std::size_t>(scene.mesh()->num_owned_vertices());
  for (const auto [key, change] : changes) {
    const auto name = nb::cast<std::string>(key);
    if (name == initial_positions_name)
      fields_.emplace_back("positions", doubles_of_shape(change, {owned, 3}, name));
    else if (name == initial_velocities_name)
      fields_.emplace_back("velocities", doubles_of_shape(change, {owned, 3}, name));
    else
      parameters_.emplace_back(name, doubles_of_shape(change, shape_of(all.at(name)), name));
  }
}

ParameterSet Direction::parameters(const ParameterSet& all) const {
  std::vector<std::string> names;
  for (const auto& [name, values] : parameters_) names.push_back(name);
  ParameterSet result = all.zero_like(names);
  for (const auto& [name, values] : parameters_) result.at(name).field.from_host(values);
  return result;
}

State Direction::initial_state(const State& shape) const {
  State result = shape.zero_like();
  for (const auto& [name, values] : fields_) {
    Field& field = result[name];
    std::vector<double> local = values;
    local.resize(field.size(), 0.0);  // copies of other ranks' vertices
    field.from_host(local);
  }
  return result;
}

void NamedArrays::add(const Parameter& parameter) {
  entries_.push_back({parameter.name(), parameter.field.to_host(), shape_of(parameter)});
}

void NamedArrays::add_owned(const std::string& name, const Field& field) {
  Entry entry{name, field.to_host(), shape_of(field)};
  if (entry.shape.size() > 1) {
    entry.shape[0] = field.owned();
    entry.values.resize(field.owned_size());
  }
  entries_.push_back(std::move(entry));
}

void NamedArrays::add_multiple(double factor, const NamedArrays& other) {
  const bool is_empty = entries_.empty();
  if (is_empty) entries_ = other.entries_;
  for (std::size_t k = 0; k < other.entries_.size(); ++k)
    for (std::size_t i = 0; i < other.entries_[k].values.size(); ++i) {
      const double term = factor * other.entries_[k].values[i];
      double& sum = entries_[k].values[i];
      sum = is_empty ? term : sum + term;
    }
}

nb::dict NamedArrays::to_dict() {
  nb::dict result;
  for (Entry& entry : entries_) result[entry.name.c_str()] = to_numpy(std::move(entry.values), entry.shape);
  return result;
}

}  // namespace diffsim::python
