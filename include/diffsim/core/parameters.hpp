// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Named quantity that a Model depends on. A Parameter whose field has several steps is a control signal: time step n
/// of a rollout uses the entries n m … (n + 1) m - 1 of the field, where m is the number of local entities. An entry of
/// the field consists of the values of all components at one entity and one time step.
struct Parameter {
  Field field;  ///< values of the parameter, [steps, local entities, components]
  /// Properties of the parameter; a default-constructed ParameterSpec if the parameter was added without properties.
  ParameterSpec spec = {};
  /// True for a control: a parameter whose values a Link (core/model.hpp) computes before each step. The values of a
  /// control are zero between steps.
  bool is_control = false;

  /// Returns the parameter's name: NAME, or NAME:LABEL if the parameter was added with a label LABEL.
  const std::string& name() const { return field.name(); }
  const Entities& on() const { return field.on(); }  ///< entities on which the parameter has values
  int steps() const { return field.steps(); }        ///< number of time steps with separate values of the parameter
  /// Returns true if the parameter has one value for the whole model, which every rank stores.
  bool is_global() const { return on().is_one_for_all(); }
  /// Returns the index of the first entry of `field` that time step `n` uses. Throws Error if `field` has several steps
  /// but no values for time step `n`.
  std::size_t offset(int n) const;
};

/// Set of named parameters. A ParameterSet contains the parameter values that a Model depends on, a direction in the
/// space of these values, or a gradient with respect to these values. A gradient contains only the parameters whose
/// gradient is requested. References to parameters of a ParameterSet stay valid when parameters are added.
class ParameterSet {
 public:
  /// Adds a parameter. Throws Error if the ParameterSet already has a parameter with the same name.
  Parameter& add(Parameter parameter);
  /// Adds a parameter with the properties `spec`, filled with the default value of `spec`, or with zeros if the spec
  /// has no default. The name of the parameter is `spec.name`, followed by ":" and `label` if `label` is not empty.
  Parameter& add(const ParameterSpec& spec, std::shared_ptr<const Entities> on, int steps = 1,
                 const std::string& label = {});
  /// Adds a parameter without a ParameterSpec, filled with zeros.
  Parameter& add(std::string name, std::shared_ptr<const Entities> on, int components = 1, int steps = 1);
  /// Removes the parameter that was added last.
  void remove_last() { parameters_.pop_back(); }
  /// Returns a parameter. Throws Error (input) for an unknown name; the message lists the names of all parameters.
  Parameter& at(std::string_view name);
  const Parameter& at(std::string_view name) const;    ///< constant overload
  Parameter* find(std::string_view name);              ///< address of parameter `name`; nullptr for an unknown name
  const Parameter* find(std::string_view name) const;  ///< constant overload
  /// Returns the device address of the values of the parameter `name`, or nullptr for an unknown name.
  const double* data(std::string_view name) const;
  std::vector<std::string> names() const;  ///< names of all parameters, in the order in which they were added

  /// Returns a ParameterSet of the parameters in `names`, filled with zeros. Throws Error (input) for an unknown name.
  ParameterSet zero_like(const std::vector<std::string>& names) const;
  void fill(double value);  ///< sets all values of all parameters to `value`
  /// Returns a number that changes with each operation that may change a parameter value on this rank
  /// (`Field::revision`). Operations on controls (`Parameter::is_control`) do not change the number that `revision`
  /// returns.
  std::uint64_t revision() const;

  auto begin() { return parameters_.begin(); }        ///< iterator to the first parameter
  auto end() { return parameters_.end(); }            ///< iterator past the last parameter
  auto begin() const { return parameters_.begin(); }  ///< constant overload
  auto end() const { return parameters_.end(); }      ///< constant overload
  bool empty() const { return parameters_.empty(); }  ///< true if the ParameterSet has no parameters

 private:
  std::deque<Parameter> parameters_;
};

/// Returns the scalar product Σ_i x_i y_i over all parameters of `x`, where i runs over the parameter values at the
/// entities that this rank owns. The ParameterSet `y` must contain all parameters of `x`.
double local_dot(const ParameterSet& x, const ParameterSet& y);
/// Sets parameter values at this rank's copies of other ranks' entities to the values on the owner ranks. Collective.
void synchronise(ParameterSet& parameters);
/// Replaces each value of a parameter that has one value for the whole model (`Parameter::is_global`) by the sum of the
/// values on all ranks. Collective.
void sum_globals(ParameterSet& gradient, MPI_Comm comm);

}  // namespace diffsim
