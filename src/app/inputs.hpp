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

// All functions of this file except `at_place` and `repeated` are collective. If the input is not valid, these
// functions throw the same InputError on all ranks; the message begins with the location in the scene file.

/// Runs `body`. If `body` throws an Error of kind `input`, throws an InputError with the same message after the
/// location `place` in the scene file. If the message already begins with a location in this file, the Error is
/// rethrown unchanged.
void at_place(const Place& place, const std::function<void()>& body);

/// Returns the region with the given name. Throws InputError at the location of the name in the scene file if the
/// region does not exist or has no vertices.
const Region& find_region(const TetrahedralMesh& mesh, const RegionName& name);

/// Returns the complete array on every rank. Throws InputError unless the array has one of `shapes`, where an extent of
/// -1 means any extent. `expected`: description of the shapes, for the message.
Array load_array(MPI_Comm comm, const Numbers& numbers, const std::vector<Shape>& shapes, const std::string& expected);

/// Returns one value per local tetrahedron, [cells]. `numbers` is a number, a dataset with one number, a dataset with
/// one value per cell, or a dataset with one value per region. In the last case, the dataset `DATASET.regions` lists
/// the regions, and the values of cells outside of these regions are NaN. If `body` is given, the dataset contains
/// values of the cells of this body only, and the values of all other cells are NaN. Without `body`, the dataset is for
/// the whole mesh.
std::vector<double> load_cells(const TetrahedralMesh& mesh, const Numbers& numbers, const std::string& body = {});

/// Returns values of a parameter that are constant in time, or values for each of `steps` steps: one value per local
/// cell of the given kind or, if `kind` has no value, one value per owned vertex. Cells and vertices without a value in
/// the dataset have the value NaN. `body` has the same meaning as in `load_cells`.
StepValues load_numbers(const TetrahedralMesh& mesh, const Numbers& numbers, std::optional<CellKind> kind, int steps,
                        const std::string& body = {});

/// Vectors on owned vertices, constant in time or one set of vectors per step.
struct VertexVectors {
  int steps = 0;               ///< number of steps; 0 if all steps have the same vectors
  std::vector<double> values;  ///< [max(steps, 1), owned vertices, 3]
};
/// Returns vectors on owned vertices. `numbers` has the shape [3] or [steps, 3] (the same vector at all vertices), or
/// is a dataset [N, 3] or [steps, N, 3] with a row for each of the N vertices. If `steps` is 0, the vectors must be
/// constant in time. `body` has the same meaning as in `load_cells`.
VertexVectors load_vertices(const TetrahedralMesh& mesh, const Numbers& numbers, int steps,
                            const std::string& body = {});

/// Returns one number per region, in the order of `regions`. If `numbers` is a dataset DATASET, and the file has a list
/// of regions, `DATASET.regions`, each of `regions` must be in this list.
std::vector<double> load_regions(MPI_Comm comm, const Numbers& numbers, const std::vector<std::string>& regions);

/// Returns `steps` copies of `values` in one array [steps, size of `values`].
std::vector<double> repeated(const std::vector<double>& values, int steps);

}  // namespace diffsim::app
