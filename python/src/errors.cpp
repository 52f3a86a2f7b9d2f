// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <nanobind/nanobind.h>

#include <string>

#include "bindings.hpp"
#include "diffsim/core/error.hpp"

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

}  // namespace

void bind_errors(nb::module_& module) {
  PyObject* base = make_class(module, "Error", "Base class of the library's exceptions.", PyExc_Exception);
  input_error = make_class(module, "InputError", "Error in an argument, a file or a value.", base);
  run_error = make_class(module, "RunError", "Failure of a computation, of the machine or of a library.", base);
  nb::register_exception_translator(translate);
}

}  // namespace diffsim::python
