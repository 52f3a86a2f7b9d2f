// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "state.hpp"

#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::python {

namespace {

/// Returns the end of a message about the unknown name of a field: the nearest name of a field, or all names.
std::string nearest_field(nb::str name, nb::list names) {
  const nb::object near = nb::module_::import_("difflib").attr("get_close_matches")(name, names, 1);
  if (nb::len(near) > 0) return "; did you mean '" + nb::cast<std::string>(near[0]) + "'?";
  return "; fields: " + nb::cast<std::string>(nb::str(", ").attr("join")(names));
}

}  // namespace

nb::object field_array(const Field& field) { return to_numpy(field.to_host(), shape_of(field)); }

StateArrays::StateArrays(const State& state, double time) : state_(&state), time_(time) {
  for (const Field& field : state.fields()) names_.append(nb::str(field.name().c_str()));
}

void StateArrays::copy_all() {
  for (const nb::handle name : names_) at(nb::cast<std::string>(name));
  is_copy_ = true;
  detach();
}

void StateArrays::require(const std::string& name) const {
  if (state_) return;
  throw Error("a state is available only while the function to which it was passed runs; read state['" + name +
              "'] there");
}

nb::object StateArrays::at(const std::string& name) {
  const nb::str key(name.c_str());
  if (arrays_.contains(key)) return arrays_[key];
  if (is_copy_) throw InputError("the state has no field '" + name + "'" + nearest_field(key, names_));
  require(name);
  arrays_[key] = field_array((*state_)[name]);
  return arrays_[key];
}

ArrayView StateArrays::view(const std::string& name) const {
  if (is_copy_)
    throw InputError("this state is a copy, which has no memory of the library; read state['" + name +
                     "'], or use simulator.view('" + name + "') or trajectory.view('" + name + "', n)");
  require(name);
  return ArrayView::of((*state_)[name]);
}

nb::list StateArrays::names() const { return names_; }

nb::object copy_of(const State& state, double time) {
  StateArrays arrays(state, time);
  arrays.copy_all();
  return nb::cast(std::move(arrays));
}

void bind_state(nb::module_& module) {
  nb::class_<StateArrays>(module, "State", R"(State of a step: numpy arrays by name.

Arrays are copies. `positions` has one row per local vertex, owned vertices first; `velocities` has one row per owned
vertex. Implicit integrators and prescribed motions add further fields.)")
      .def_prop_ro(
          "positions", [](StateArrays& state) { return state.at("positions"); }, "Positions, [local vertices, 3], m.",
          nb::sig("def positions(self) -> numpy.ndarray"))
      .def_prop_ro(
          "velocities", [](StateArrays& state) { return state.at("velocities"); },
          "Velocities, [owned vertices, 3], m/s.", nb::sig("def velocities(self) -> numpy.ndarray"))
      .def_prop_ro("time", &StateArrays::time, "Time of the state, s.")
      .def("keys", &StateArrays::names, "Return the names of the fields.")
      .def("__getitem__", &StateArrays::at, nb::arg("name"), "Return the field `name` as an array.",
           nb::sig("def __getitem__(self, name: str) -> numpy.ndarray"))
      .def("view", &StateArrays::view, nb::arg("name"),
           "Return a view of the library's memory of the field `name`. Observers, loss functions and other functions "
           "can call `view` with the states that are passed to the functions; copies of states have no views.",
           nb::sig("def view(self, name: str) -> ArrayView"))
      .def("__repr__", [](const StateArrays& state) {
        return nb::str("State(time={}, fields={})").format(state.time(), state.names());
      });
}

}  // namespace diffsim::python
