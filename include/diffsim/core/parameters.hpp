// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// A named quantity that a Model depends on. A field of several steps is a control signal: step n of a rollout uses
/// entries n · (extent / steps) and on.
struct Parameter {
  Field field;
  ParameterSpec spec = {};

  const std::string& name() const { return field.name(); }
  const Entities& on() const { return field.on(); }
  int steps() const { return field.steps(); }
  /// Whether all ranks have the same entries.
  bool is_global() const { return on().is_one_for_all(); }
  /// Index of the first entry that step `n` uses. Throws Error where the signal is shorter than the rollout.
  std::size_t offset(int n) const;
};

/// Parameters by name: the values a Model depends on, or a direction, or a gradient, which then holds only those asked
/// for. References stay valid when more are added.
class ParameterSet {
 public:
  Parameter& add(Parameter parameter);
  /// Adds a parameter with the spec's default value, or zeros where there is none. With a `label` its name is
  /// NAME:LABEL.
  Parameter& add(const ParameterSpec& spec, std::shared_ptr<const Entities> on, int steps = 1,
                 const std::string& label = {});
  /// Adds a parameter of zeros without a spec.
  Parameter& add(std::string name, std::shared_ptr<const Entities> on, int components = 1, int steps = 1);
  Parameter& at(std::string_view name);  ///< throws Error, naming those there are
  const Parameter& at(std::string_view name) const;
  Parameter* find(std::string_view name);
  const Parameter* find(std::string_view name) const;
  const double* data(std::string_view name) const;  ///< device address, nullptr if there is none of that name
  std::vector<std::string> names() const;

  /// Zeroed parameters of the same shapes, those named only.
  ParameterSet zero_like(const std::vector<std::string>& names) const;
  void fill(double value);

  auto begin() { return parameters_.begin(); }
  auto end() { return parameters_.end(); }
  auto begin() const { return parameters_.begin(); }
  auto end() const { return parameters_.end(); }
  bool empty() const { return parameters_.empty(); }

 private:
  std::deque<Parameter> parameters_;
};

/// Σ over owned entries of all parameters of `x`, which `y` must have too.
double local_dot(const ParameterSet& x, const ParameterSet& y);
/// Sets the copies of other ranks' entries. Collective.
void synchronise(ParameterSet& parameters);
/// Sums the entries of global parameters over the ranks, in place; collective.
void sum_globals(ParameterSet& gradient, MPI_Comm comm);

}  // namespace diffsim
