// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python functions for PETSc's options. The module diffsim.petsc has the functions for objects of petsc4py.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <petscsys.h>

#include <optional>
#include <string>

#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "runtime.hpp"

namespace diffsim::python {

void bind_petsc(nb::module_& module) {
  module.def(
      "set_petsc_option",
      [](const std::string& name, const std::optional<std::string>& value) {
        runtime();
        const LibraryScope scope;
        DIFFSIM_PETSC(PetscOptionsSetValue(nullptr, name.c_str(), value ? value->c_str() : nullptr));
      },
      nb::arg("name"), nb::arg("value").none(), "Set a PETSc option on this rank. name: begins with -.");
  module.def(
      "clear_petsc_option",
      [](const std::string& name) {
        runtime();
        const LibraryScope scope;
        DIFFSIM_PETSC(PetscOptionsClearValue(nullptr, name.c_str()));
      },
      nb::arg("name"), "Remove a PETSc option on this rank. name: begins with -.");
}

}  // namespace diffsim::python
