// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef DIFFSIM_PYTHON_SCENES
#include <nanobind/nanobind.h>

#include <string>

#include "app/yaml_value.hpp"

namespace diffsim::python {

/// Returns a part of a scene document as a Python object: a dict, a list, a str, a number, a bool or None.
nanobind::object document_to_python(const app::Value& value);
/// Returns the scene document that a dict describes. Values may be dicts, lists, tuples, numpy arrays, str, paths,
/// numbers, bools and None. `file`: path of the scene, for the messages of errors. Throws InputError, which names the
/// key, for any other value.
app::Value document_of(nanobind::handle object, const std::string& file);

}  // namespace diffsim::python

#endif
