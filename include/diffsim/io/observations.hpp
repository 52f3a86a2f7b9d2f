// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Positions that were measured at some vertices and steps.
struct Observations {
  std::vector<int> steps;                        ///< ascending
  std::map<int, std::vector<double>> positions;  ///< of each step: [owned vertices, 3], m; NaN: not observed
};

/// Reads an observations file: `/step` [K] and `/positions` [K, N_obs, 3], m, as in a trajectory, in any order of
/// steps;
/// `/vertices` [N_obs], 0-based in the mesh file's order, says which vertices if not all. NaN is not observed. Of a
/// mesh of several bodies: `/bodies/NAME/positions` and `/bodies/NAME/vertices`, counted in the body; bodies without
/// positions are not observed.
///
/// `steps`: those wanted; empty: all there are. InputError where a wanted step is not there or is there twice, where
/// vertices are out of range or repeated, for wrong shapes and types, infinite values, and for another mesh: by its
/// number of vertices, and by the attribute `mesh_fingerprint` if the file has it. Collective.
Observations read_observations(const TetrahedralMesh& mesh, const std::string& path, std::vector<int> steps = {});

}  // namespace diffsim
