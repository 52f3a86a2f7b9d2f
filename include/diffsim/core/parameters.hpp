// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <deque>
#include <string>
#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim {

/// Where the entries of a parameter live.
enum class Site {
  global,       ///< the same entries on every rank (owned by rank 0 in sums)
  cell,         ///< one entry a local cell
  vertex,       ///< one entry an owned vertex
  local_vertex  ///< one entry a local vertex, owned ones first, then copies of other ranks', which `Model::synchronise`
                ///< sets
};

/// A named quantity that a Model depends on. Its field is [steps · entries, components]; `steps` > 1: it is a control
/// signal, and step n of a rollout uses entries n·(extent/steps) and on.
struct Parameter {
  Field field;
  Site site = Site::global;
  int steps = 1;

  const std::string& name() const { return field.name(); }
  /// Index of the first entry that step `n` uses. Throws Error where the signal is shorter than the rollout.
  std::size_t offset(int n) const;
};

/// Parameters by name: the values a Model depends on, or a direction, or a gradient, which then holds only those asked
/// for. References stay valid when more are added.
class ParameterSet {
 public:
  Parameter& add(Parameter parameter);
  Parameter& add(std::string name, Site site, std::size_t extent, int components, MPI_Comm comm, int steps = 1);
  Parameter& at(const std::string& name);  ///< throws Error, naming those there are
  const Parameter& at(const std::string& name) const;
  Parameter* find(const std::string& name);
  const Parameter* find(const std::string& name) const;
  const double* data(const std::string& name) const;  ///< device address, nullptr if there is none of that name
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
/// Sums the entries of global parameters over the ranks, in place; collective.
void sum_globals(ParameterSet& gradient, MPI_Comm comm);

}  // namespace diffsim
