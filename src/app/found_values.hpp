// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::app {

/// Returns, for each entry of `scene.parameters`, the value of the key `initial` with which the unknown starts from the
/// values that it has at the point u of `problem`, the inverse problem of the scene. Values that all ranks share are
/// part of the result. Values per cell or vertex are written to the HDF5 file `path`, and the result contains
/// {file:, dataset:} with the path relative to `folder`. Values beyond a bound of the parameter, by rounding errors,
/// are replaced by the bound. Throws InputError if `path` is empty and an unknown has values per cell or vertex.
/// Collective.
std::vector<Value> found_values(const Scene& scene, const TetrahedralMesh& mesh, const InverseProblem& problem,
                                const std::vector<double>& u, const std::string& path, const std::string& folder);

}  // namespace diffsim::app
