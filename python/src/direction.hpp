// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// Names of the initial positions and the initial velocities in dicts of directions and of gradients.
inline constexpr const char* initial_positions_name = "initial_positions";
inline constexpr const char* initial_velocities_name = "initial_velocities";

/// Change of parameters and of the initial state, read from a Python dict.
class Direction {
 public:
  /// Reads a dict from names of parameters, `initial_positions` and `initial_velocities` to arrays, which are broadcast
  /// to the shapes of the parameters or to [owned vertices, 3]. Throws InputError for an unknown name and for an array
  /// that cannot be broadcast. The caller must hold the GIL.
  Direction(const nb::dict& changes, const DifferentiableScene& scene);
  /// Returns the changes of the parameters. The caller must be in a LibraryScope.
  ParameterSet parameters(const ParameterSet& all) const;
  /// Returns the change of the initial state; `shape` has the fields of the state. The caller must be in a
  /// LibraryScope.
  State initial_state(const State& shape) const;

 private:
  std::vector<std::pair<std::string, std::vector<double>>> parameters_;
  std::vector<std::pair<std::string, std::vector<double>>> fields_;  // of the initial state, at owned vertices
};

/// Values by name and their shapes, for conversion to a dict of numpy arrays.
class NamedArrays {
 public:
  /// Appends the values of a parameter. The caller must be in a LibraryScope.
  void add(const Parameter& parameter);
  /// Appends the values of a field at owned entities. The caller must be in a LibraryScope.
  void add_owned(const std::string& name, const Field& field);
  /// Adds `factor` times the values of `other`. Both objects have the same names and shapes, unless this object is
  /// empty.
  void add_multiple(double factor, const NamedArrays& other);
  /// Returns a dict of arrays, to which the values are moved. The caller must hold the GIL.
  nb::dict to_dict();

 private:
  struct Entry {
    std::string name;
    std::vector<double> values;
    std::vector<std::size_t> shape;
  };
  std::vector<Entry> entries_;
};

}  // namespace diffsim::python
