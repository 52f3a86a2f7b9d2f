// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <type_traits>
#include <utility>

#include "core/add_to_entries.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/point_parameters_impl.hpp"

namespace diffsim::point {
namespace {

double factor_of(const PointParameter& takes, const Parameter& found, const Configuration& at) {
  return takes.is_dead_load ? at.factor_of(found) : 1.0;
}

}  // namespace

ParameterList::ParameterList(std::string term, std::vector<PointParameter> takes, int num_values)
    : term_(std::move(term)), takes_(std::move(takes)) {
  int components = 0;
  for (const PointParameter& parameter : takes_) components += parameter.components;
  if (components != num_values)
    throw Error("the parameters of '" + term_ + "' have " + std::to_string(components) +
                " values, but the force takes " + std::to_string(num_values));
}

void ParameterList::check(const ParameterSet& parameters, const std::function<bool(const Entities&)>& is_of_points,
                          const std::string& home) const {
  for (const PointParameter& takes : takes_) {
    if (takes.is_optional && !parameters.find(takes.name)) continue;
    const Parameter& found = parameters.at(takes.name);
    const int components = found.field.components();
    if (components == takes.components && (found.is_global() || is_of_points(found.on()))) continue;
    throw Error("'" + term_ + "' takes " + std::to_string(takes.components) + " components of '" + takes.name +
                "', one set for all or for " + home + "; '" + takes.name + "' has " + std::to_string(components) +
                " components on " + found.on().name());
  }
}

template <class Number, class Set>
void ParameterList::set_all(Set& set, const Configuration& at, const Arrays<Number>& arrays) const {
  int k = 0;
  for (const PointParameter& takes : takes_) {
    const auto found = set.find(takes.name);
    const bool is_summed = found && found->is_global() && !std::is_const_v<Number>;
    for (int c = 0; c < takes.components; ++c, ++k) {
      if (!found) continue;
      const auto first = found->offset(at.step) * static_cast<std::size_t>(takes.components);
      arrays.of[k] = is_summed ? nullptr : found->field.data() + first + c;
      arrays.stride[k] = found->is_global() ? 0 : takes.components;
      arrays.factor[k] = factor_of(takes, *found, at);
    }
  }
}

void ParameterList::set_arrays(const ParameterSet& set, const Configuration& at,
                               const Arrays<const double>& arrays) const {
  set_all(set, at, arrays);
}

void ParameterList::set_arrays(ParameterSet& gradient, const Configuration& at, const Arrays<double>& arrays) const {
  set_all(gradient, at, arrays);
}

void ParameterList::add_to_globals(const double* sums, const Configuration& at, ParameterSet& gradient) const {
  for (const PointParameter& takes : takes_) {
    const auto size = static_cast<std::size_t>(takes.components);
    Parameter* const found = gradient.find(takes.name);
    if (found && found->is_global()) {
      std::vector<double> values(sums, sums + size);
      for (double& value : values) value *= factor_of(takes, *found, at);
      add_to_entries(found->field, found->offset(at.step) * size, values);
    }
    sums += size;
  }
}

}  // namespace diffsim::point
