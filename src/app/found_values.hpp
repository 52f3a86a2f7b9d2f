// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::app {

/// Returns a value of the key `initial` for each entry of `scene.parameters`, such that the unknowns of `problem`, the
/// inverse problem of the scene, start from the vector `u`. Values that are global, per region or per step, and
/// coefficients of linear maps (`ParameterEntry::map`) are numbers in the returned YAML values. Values per cell,
/// segment, triangle or vertex, also those with one value for each step, are written to the HDF5 file `path`, and the
/// returned YAML values contain {file:, dataset:} with the path relative to the folder `folder`. Values that rounding
/// errors have moved beyond a bound of the parameter are replaced by the bound. Throws InputError if `path` is empty
/// and an unknown has values per cell, segment, triangle or vertex. Collective.
std::vector<Value> found_values(const Scene& scene, const TetrahedralMesh& mesh, const InverseProblem& problem,
                                const std::vector<double>& u, const std::string& path, const std::string& folder);

}  // namespace diffsim::app
