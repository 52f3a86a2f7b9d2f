// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/parameters.hpp"

#include <utility>

#include "core/exchange.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {

std::size_t Parameter::offset(int n) const {
  if (steps() == 1) return 0;
  if (n >= steps())
    throw Error("parameter '" + name() + "' has values for " + std::to_string(steps()) + " steps, but step " +
                std::to_string(n) + " is requested; give one value for each step of the rollout");
  return static_cast<std::size_t>(n) * on().local();
}

Parameter& ParameterSet::add(Parameter parameter) {
  if (find(parameter.name())) throw Error("parameter '" + parameter.name() + "' already exists");
  return parameters_.emplace_back(std::move(parameter));
}

Parameter& ParameterSet::add(std::string name, std::shared_ptr<const Entities> on, int components, int steps) {
  return add(Parameter{Field(std::move(name), std::move(on), components, steps)});
}

Parameter& ParameterSet::add(const ParameterSpec& spec, std::shared_ptr<const Entities> on, int steps,
                             const std::string& label) {
  std::string name(spec.name);
  if (!label.empty()) name += ":" + label;
  Parameter& added = add(Parameter{Field(std::move(name), std::move(on), spec.components, steps), spec});
  if (spec.default_value) added.field.fill(*spec.default_value);
  return added;
}

Parameter* ParameterSet::find(std::string_view name) {
  for (Parameter& parameter : parameters_)
    if (parameter.name() == name) return &parameter;
  return nullptr;
}

const Parameter* ParameterSet::find(std::string_view name) const { return const_cast<ParameterSet*>(this)->find(name); }

const double* ParameterSet::data(std::string_view name) const {
  const Parameter* const found = find(name);
  return found ? found->field.data() : nullptr;
}

Parameter& ParameterSet::at(std::string_view name) {
  if (Parameter* found = find(name)) return *found;
  std::string known;
  for (const Parameter& parameter : parameters_) known += (known.empty() ? "" : ", ") + parameter.name();
  throw Error("no parameter '" + std::string(name) + "'; known parameters: " + known, ErrorKind::input);
}

const Parameter& ParameterSet::at(std::string_view name) const { return const_cast<ParameterSet*>(this)->at(name); }

std::vector<std::string> ParameterSet::names() const {
  std::vector<std::string> all;
  for (const Parameter& parameter : parameters_) all.push_back(parameter.name());
  return all;
}

ParameterSet ParameterSet::zero_like(const std::vector<std::string>& names) const {
  ParameterSet zero;
  for (const std::string& name : names) {
    const Parameter& parameter = at(name);
    zero.add(Parameter{parameter.field.like(name), parameter.spec});
  }
  return zero;
}

std::uint64_t ParameterSet::revision() const {
  // FNV-1a hash of the fields' revisions.
  std::uint64_t hash = 14695981039346656037u;
  for (const Parameter& parameter : parameters_)
    if (!parameter.is_control) hash = (hash ^ parameter.field.revision()) * 1099511628211u;
  return hash;
}

void ParameterSet::fill(double value) {
  for (Parameter& parameter : parameters_) parameter.field.fill(value);
}

double local_dot(const ParameterSet& x, const ParameterSet& y) {
  double sum = 0.0;
  for (const Parameter& parameter : x) sum += local_dot(parameter.field, y.at(parameter.name()).field);
  return sum;
}

void synchronise(ParameterSet& parameters) {
  for (Parameter& parameter : parameters)
    if (const Exchange* exchange = parameter.on().exchange()) exchange->copy_to_ghosts(parameter.field);
}

void sum_globals(ParameterSet& gradient, MPI_Comm comm) {
  for (Parameter& parameter : gradient) {
    if (!parameter.is_global()) continue;
    std::vector<double> values = parameter.field.to_host();
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, comm));
    parameter.field.from_host(values);
  }
}

}  // namespace diffsim
