// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "state_functions.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>

#include "arrays.hpp"
#include "diffsim/core/error.hpp"
#include "direction.hpp"
#include "state.hpp"

namespace diffsim::python {

StateFunctions::StateFunctions(std::string owner, Functions functions, std::vector<std::string> parameters)
    : owner_(std::move(owner)), functions_(std::move(functions)), parameters_(std::move(parameters)) {
  if (!PyCallable_Check(functions_.evaluate.ptr()) || !PyCallable_Check(functions_.pullback.ptr()))
    throw InputError("evaluate and pullback of a " + owner_ + " must be functions");
  for (const nb::object& function : {functions_.tangent, functions_.pullback_tangent})
    if (!function.is_none() && !PyCallable_Check(function.ptr()))
      throw InputError("tangent and pullback_tangent of a " + owner_ + " must be functions or None");
}

nb::object StateFunctions::evaluate(const Moment& at) const {
  const LentState x(at.state, at.time);
  return functions_.evaluate(at.n, x.object(), arguments(at.parameters, at.parameters));
}

nb::object StateFunctions::tangent(const Moment& at, const Change& change) const {
  require(functions_.tangent, "tangent");
  const LentState x(at.state, at.time), dx(change.state, at.time);
  return functions_.tangent(at.n, x.object(), arguments(at.parameters, at.parameters), dx.object(),
                            arguments(change.parameters, at.parameters));
}

void StateFunctions::add_pullback(const Moment& at, const nb::object& w, State& adjoint, ParameterSet& gradient) const {
  const LentState x(at.state, at.time);
  add_pair(functions_.pullback(at.n, x.object(), arguments(at.parameters, at.parameters), w), "pullback", adjoint,
           gradient);
}

void StateFunctions::add_pullback_tangent(const Moment& at, const Change& change, const nb::object& w,
                                          const nb::object& dw, State& adjoint_tangent,
                                          ParameterSet& gradient_tangent) const {
  require(functions_.pullback_tangent, "pullback_tangent");
  const LentState x(at.state, at.time), dx(change.state, at.time);
  add_pair(functions_.pullback_tangent(at.n, x.object(), arguments(at.parameters, at.parameters), dx.object(),
                                       arguments(change.parameters, at.parameters), w, dw),
           "pullback_tangent", adjoint_tangent, gradient_tangent);
}

void StateFunctions::require(const nb::object& function, const char* name) const {
  if (function.is_none())
    throw InputError("this " + owner_ + " has no function `" + name + "`; create the " + owner_ +
                     " with the argument `" + name + "`");
}

nb::dict StateFunctions::arguments(const ParameterSet& set, const ParameterSet& all) const {
  NamedArrays arrays;
  for (const std::string& name : parameters_) {
    if (all.at(name).is_control)
      throw InputError("'" + name + "' is a parameter of one " + owner_ +
                       " and a control of another link; remove it from one of them");
    const Parameter* const found = set.find(name);
    if (found)
      arrays.add(*found);
    else
      arrays.add(Parameter{all.at(name).field.like(name)});
  }
  return arrays.to_dict();
}

void StateFunctions::add_pair(nb::handle pair, const std::string& function, State& adjoint,
                              ParameterSet& gradient) const {
  const std::string form = "the function `" + function + "` of a " + owner_ +
                           " must return a pair of dicts, ({'positions': array, …}, {parameter: array, …})";
  if (!nb::isinstance<nb::tuple>(pair) || nb::len(pair) != 2) throw InputError(form);
  const nb::object by_state = pair[0], by_parameters = pair[1];
  if (!nb::isinstance<nb::dict>(by_state) || !nb::isinstance<nb::dict>(by_parameters)) throw InputError(form);
  for (const auto [key, array] : nb::borrow<nb::dict>(by_state)) {
    Field& field = adjoint[nb::cast<std::string>(key)];
    add_derivatives(array, field.owned_size(), field);
  }
  for (const auto [key, array] : nb::borrow<nb::dict>(by_parameters)) {
    const auto name = nb::cast<std::string>(key);
    if (std::count(parameters_.begin(), parameters_.end(), name) == 0)
      throw InputError("the function `" + function + "` of a " + owner_ + " returns a derivative with respect to '" +
                       name + "', which is not in the " + owner_ + "'s list of parameters");
    // The gradient contains only the parameters whose gradient is requested.
    if (Parameter* const sum = gradient.find(name))
      add_derivatives(array, sum->is_global() ? sum->field.size() : sum->field.owned_size(), sum->field);
  }
}

void StateFunctions::add_derivatives(nb::handle object, std::size_t used, Field& field) const {
  if (object.is_none()) return;
  const std::vector<double> values = doubles(object, "derivative with respect to " + field.name()).values;
  if (values.size() != field.size() && values.size() != used)
    throw InputError("the derivative with respect to " + field.name() + " has " + std::to_string(values.size()) +
                     " entries; give " + std::to_string(field.size()));
  std::vector<double> sum = field.to_host();
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k < used)
      sum[k] += values[k];
    else if (values[k] != 0.0)
      throw InputError("a " + owner_ + " depends on " + field.name() +
                       " at copies of other ranks' entities; use the entries of owned entities only");
  }
  field.from_host(sum);
}

}  // namespace diffsim::python
