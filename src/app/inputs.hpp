// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "io/fields.hpp"

namespace diffsim::app {

// All functions here are collective and throw the same InputError, with the position in the scene, on all ranks.

/// Runs `body`. An input error thrown by `body` becomes an InputError at `place`, unless it already names a position in
/// the scene.
void at_place(const Place& place, const std::function<void()>& body);

/// Returns the region with the given name. Throws InputError at the region's position in the scene if the region does
/// not exist or has no vertices.
const Region& find_region(const TetrahedralMesh& mesh, const RegionName& name);

/// Returns an array of which every rank has a full copy. Throws InputError unless the array has one of `shapes`; see
/// `expect_shape`.
Array load_array(MPI_Comm comm, const Numbers& numbers, const std::vector<Shape>& shapes, const std::string& expected);

/// Returns values of the local tetrahedra, [cells]. The source is a number, a dataset with one number, a dataset with
/// one value per cell, or a dataset with one value per region. In the last case, the dataset `DATASET.regions` lists
/// the regions, and cells outside of these regions get NaN. If `body` is given, the dataset has the values of that
/// body's cells, and other cells get NaN; otherwise the dataset is for the whole mesh.
std::vector<double> load_cells(const TetrahedralMesh& mesh, const Numbers& numbers, const std::string& body = {});

/// Returns values of a parameter that has one number per cell of the given kind or, without `kind`, per owned vertex,
/// for one step or for `steps` steps. Entities that a dataset does not cover get NaN. `body` has the same meaning as in
/// `load_cells`.
StepValues load_numbers(const TetrahedralMesh& mesh, const Numbers& numbers, std::optional<CellKind> kind, int steps,
                        const std::string& body = {});

/// Vectors on owned vertices, constant or per step.
struct VertexVectors {
  int steps = 0;               ///< 0: the same vectors for all steps
  std::vector<double> values;  ///< [max(steps, 1), owned vertices, 3]
};
/// Reads vectors on owned vertices from [3], [steps, 3], or a dataset [N, 3] or [steps, N, 3]. With `steps` = 0, one
/// vector per vertex is read. `body` has the same meaning as in `load_cells`.
VertexVectors load_vertices(const TetrahedralMesh& mesh, const Numbers& numbers, int steps,
                            const std::string& body = {});

/// Returns one number per region, in the order of `regions`. If the dataset names its regions, each of `regions` must
/// be among them.
std::vector<double> load_regions(MPI_Comm comm, const Numbers& numbers, const std::vector<std::string>& regions);

/// Repeats values [rows…] to [steps, rows…].
std::vector<double> repeated(const std::vector<double>& values, int steps);

}  // namespace diffsim::app
