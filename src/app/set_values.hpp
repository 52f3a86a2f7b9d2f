// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "app/scene.hpp"
#include "diffsim/core/parameters.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::app {

/// Sets the parameters and the initial state of `solver` to the values in the section `values` of the scene. `solver`
/// must have all parts of the scene. Throws InputError, with the location in the scene file, if `solver` has no
/// parameter of a given name, if values have a wrong shape, or if a value is outside the range of the parameter.
/// Collective.
void set_values(const Scene& scene, DifferentiableScene& solver);

/// Returns the kind of the mesh's cells on which `parameter` has values; no value if `parameter` has values on other
/// entities.
std::optional<CellKind> cells_of(const TetrahedralMesh& mesh, const Parameter& parameter);
/// Returns true if `parameter` has values on vertices of the mesh.
bool is_on_vertices(const TetrahedralMesh& mesh, const Parameter& parameter);

}  // namespace diffsim::app
