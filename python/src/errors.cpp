// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "all_ranks.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "simulator.hpp"

namespace diffsim::python {
namespace {

PyObject *input_error = nullptr, *run_error = nullptr;  // owned by the module

/// Translates an Error to a Python exception. Other exceptions are not translated.
void translate(const std::exception_ptr& exception, void* /*payload*/) {
  try {
    std::rethrow_exception(exception);
  } catch (const Error& error) {
    PyErr_SetString(error.kind() == ErrorKind::input ? input_error : run_error, error.what());
  }
}

PyObject* make_class(nb::module_& module, const char* name, const char* doc, PyObject* base) {
  const std::string full_name = std::string("diffsim.") + name;
  PyObject* made = PyErr_NewExceptionWithDoc(full_name.c_str(), doc, base, nullptr);
  if (!made) throw nb::python_error();
  module.attr(name) = nb::steal(made);
  return module.attr(name).ptr();
}

/// Calls a Python function, which must not communicate, and returns its result. If the function raises an exception on
/// some ranks of the simulator, all ranks throw. Collective.
nb::object on_all_ranks(const SimulatorHandle& simulator, nb::callable function) {
  return read_on_all_ranks(simulator.comm(), [&] { return nb::object(function()); });
}

/// Throws InputError on all ranks of the simulator if `text` differs between the ranks. Collective.
void require_same(const SimulatorHandle& simulator, const std::string& what, const std::string& text) {
  const LibraryScope scope;
  require_same_on_all_ranks(simulator.comm(), what.c_str(), text);
}

}  // namespace

void bind_rank_checks(nb::module_& module) {
  module.def("_on_all_ranks", &on_all_ranks, nb::arg("simulator"), nb::arg("function"),
             R"(Call a function, which must not communicate, and return its result.

If the function raises an exception on some ranks of the simulator, the other ranks raise a RunError. Collective.)");
  module.def("_require_same", &require_same, nb::arg("simulator"), nb::arg("what"), nb::arg("text"),
             "Raise an InputError on all ranks if `text` differs between the ranks. `what`: for messages. Collective.");
}

void bind_errors(nb::module_& module) {
  PyObject* base = make_class(module, "Error", "Base class of the library's exceptions.", PyExc_Exception);
  input_error = make_class(module, "InputError", "Error in an argument, a file or a value.", base);
  run_error = make_class(module, "RunError", "Failure of a computation, of the machine or of a library.", base);
  nb::register_exception_translator(translate);
}

}  // namespace diffsim::python
