// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/parameters.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "scene.hpp"

namespace diffsim::python {
namespace {

const ParameterSet& parameters_of(const ParametersHandle& handle) {
  return const_cast<DifferentiableScene&>(handle.shared()->get()).parameters();
}

nb::object get(const ParametersHandle& handle, const std::string& name) {
  if (!parameters_of(handle).find(name)) throw nb::key_error(name.c_str());
  return read_values([&]() -> const Parameter& { return parameters_of(handle).at(name); });
}

void set(ParametersHandle& handle, const std::string& name, nb::handle value) {
  const Parameter* found = parameters_of(handle).find(name);
  if (!found) throw nb::key_error(name.c_str());
  if (found->is_control)
    throw InputError("a feedback or a link computes '" + name + "', so its values cannot be given");
  const std::vector<double> values = doubles_of_shape(value, shape_of(*found), name);
  const LibraryScope scope;
  collectively(handle.shared()->get().mesh()->comm(), [&] {
    if (found->spec.name.empty()) return;
    for (const double x : values)
      if (const std::string fault = range_error(found->spec, x); !fault.empty()) throw InputError(name + ": " + fault);
  });
  ParameterSet& parameters = handle.shared()->change().parameters();
  parameters.at(name).field.from_host(values);
  synchronise(parameters);
}

std::vector<std::string> names(const ParametersHandle& handle) { return parameters_of(handle).names(); }

}  // namespace

void bind_parameters(nb::module_& module) {
  nb::class_<ParametersHandle>(module, "Parameters", R"(Values of all parameters of a scene, by name.

Reading a value returns a copy of the shape [steps, entities, components]. The axis of steps exists if the parameter has
values for each step, the axis of entities (this rank's cells or vertices) unless there is one value for the whole
model, and the axis of components if there are several components. Assignment broadcasts the given values to this shape,
is collective, and has an effect from the next step or rollout on.)")
      .def("__getitem__", &get, nb::arg("name"), "Return a copy of the values.",
           nb::sig("def __getitem__(self, name: str) -> numpy.ndarray"))
      .def("__setitem__", &set, nb::arg("name"), nb::arg("value"), "Set the values. Collective.",
           nb::sig("def __setitem__(self, name: str, value: object) -> None"))
      .def("__contains__", [](const ParametersHandle& handle,
                              const std::string& name) { return parameters_of(handle).find(name) != nullptr; })
      .def("__len__", [](const ParametersHandle& handle) { return names(handle).size(); })
      .def("__iter__", [](const ParametersHandle& handle) { return nb::iter(nb::cast(names(handle))); })
      .def("keys", &names, "Return the names of the parameters.")
      .def(
          "unit",
          [](const ParametersHandle& handle, const std::string& name) {
            return std::string(parameters_of(handle).at(name).spec.unit);
          },
          nb::arg("name"), "Return the SI unit of a parameter; 1 if it is dimensionless.")
      .def("__repr__", [](const ParametersHandle& handle) { return nb::str("Parameters({})").format(names(handle)); });
}

}  // namespace diffsim::python
