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

/// Named quantity that a Model depends on. A parameter whose field has several steps is a control signal: time step n
/// of a rollout uses the entries n m … (n + 1) m - 1 of the field, where m is the number of local entities. An entry
/// consists of the values of all components at one entity.
struct Parameter {
  Field field;              ///< values, [steps, local entities, components]
  ParameterSpec spec = {};  ///< properties; empty for a parameter that was added without a spec
  /// True for a control of a Link, which sets the values before each step. The values are zero between steps.
  bool is_control = false;

  const std::string& name() const { return field.name(); }  ///< name; NAME:LABEL if the parameter has a label
  const Entities& on() const { return field.on(); }         ///< entities on which the parameter has values
  int steps() const { return field.steps(); }               ///< number of time steps with separate values
  /// Returns true if the parameter has one value for the whole model, which every rank stores.
  bool is_global() const { return on().is_one_for_all(); }
  /// Returns the index of the first entry that time step `n` uses. Throws Error if the field has several steps but no
  /// values for time step `n`.
  std::size_t offset(int n) const;
};

/// Set of named parameters. A set contains the values that a Model depends on, a direction in the space of these
/// values, or a gradient with respect to these values. A gradient contains only the parameters whose gradient is
/// requested. References to parameters stay valid when parameters are added.
class ParameterSet {
 public:
  /// Adds a parameter. Throws Error if the set already has a parameter with this name.
  Parameter& add(Parameter parameter);
  /// Adds a parameter with the properties `spec`, filled with the default value of `spec`, or with zeros if the spec
  /// has no default. The parameter's name is the name in `spec`, followed by ":LABEL" if `label` is not empty.
  Parameter& add(const ParameterSpec& spec, std::shared_ptr<const Entities> on, int steps = 1,
                 const std::string& label = {});
  /// Adds a parameter of zeros without a spec.
  Parameter& add(std::string name, std::shared_ptr<const Entities> on, int components = 1, int steps = 1);
  /// Removes the parameter that was added last.
  void remove_last() { parameters_.pop_back(); }
  /// Returns a parameter. Throws Error (input) for an unknown name; the message lists the existing names.
  Parameter& at(std::string_view name);
  const Parameter& at(std::string_view name) const;    ///< constant overload
  Parameter* find(std::string_view name);              ///< nullptr for an unknown name
  const Parameter* find(std::string_view name) const;  ///< constant overload
  const double* data(std::string_view name) const;     ///< device address; nullptr for an unknown name
  std::vector<std::string> names() const;  ///< names of all parameters, in the order in which they were added

  /// Returns a set of the parameters in `names`, filled with zeros. Throws Error (input) for an unknown name.
  ParameterSet zero_like(const std::vector<std::string>& names) const;
  void fill(double value);  ///< sets all values of all parameters
  /// Returns a number that changes with each operation that may change a value on this rank (`Field::revision`). Values
  /// of controls (`Parameter::is_control`) are excluded.
  std::uint64_t revision() const;

  auto begin() { return parameters_.begin(); }        ///< iterator to the first parameter
  auto end() { return parameters_.end(); }            ///< iterator past the last parameter
  auto begin() const { return parameters_.begin(); }  ///< constant overload
  auto end() const { return parameters_.end(); }      ///< constant overload
  bool empty() const { return parameters_.empty(); }  ///< true if the set has no parameters

 private:
  std::deque<Parameter> parameters_;
};

/// Returns the scalar product Σ_i x_i y_i over all parameters of `x`, where i runs over the values at the entities that
/// this rank owns. `y` must contain all parameters of `x`.
double local_dot(const ParameterSet& x, const ParameterSet& y);
/// Sets the values at this rank's copies of other ranks' entities to the values on the owner ranks. Collective.
void synchronise(ParameterSet& parameters);
/// Replaces each value of a parameter that has one value for the whole model (`Parameter::is_global`) by the sum of the
/// values on all ranks. Collective.
void sum_globals(ParameterSet& gradient, MPI_Comm comm);

}  // namespace diffsim
