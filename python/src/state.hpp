// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "diffsim/core/state.hpp"
#include "view.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// State whose fields are read as numpy arrays. Each field is copied when a program first reads the field.
class StateArrays {
 public:
  /// Refers to `state`, a state of the library. `detach` must be called before `state` changes.
  StateArrays(const State& state, double time);
  /// Copies all fields and ends the reference to the library's state.
  void copy_all();
  /// Ends the reference to the library's state. Fields that have been copied can still be read.
  void detach() { state_ = nullptr; }

  nb::object at(const std::string& name);
  /// Returns a view of a field of the library's state. Throws Error for a state that is a copy, or after `detach`.
  ArrayView view(const std::string& name) const;
  nb::list names() const;
  double time() const { return time_; }

 private:
  void require(const std::string& name) const;

  const State* state_;
  double time_;
  bool is_copy_ = false;
  nb::dict arrays_;
  nb::list names_;
};

/// Python object that refers to a state of the library until the end of the scope. The caller must hold the GIL.
class LentState {
 public:
  LentState(const State& state, double time) : object_(nb::cast(StateArrays(state, time))) {}
  ~LentState() { nb::cast<StateArrays&>(object_).detach(); }
  LentState(const LentState&) = delete;
  LentState& operator=(const LentState&) = delete;
  const nb::object& object() const { return object_; }

 private:
  nb::object object_;
};

/// Returns a numpy array with the values of a field.
nb::object field_array(const Field& field);

/// Returns a Python State with copies of all fields of `state`. `time`: time of the state, s.
nb::object copy_of(const State& state, double time);

}  // namespace diffsim::python
