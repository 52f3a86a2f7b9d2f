// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim::python {

/// Returns the surface with the vertices [n, 3] (m) and the triangles [m, 3], two array-like objects. Throws InputError
/// if the shapes or the vertex numbers are wrong.
TriangleMesh surface_of(nanobind::handle vertices, nanobind::handle triangles);

}  // namespace diffsim::python
