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

/// Calls the function `body`. If the function `body` throws an Error of kind `input`, throws an InputError whose
/// message is the location `place` in the scene file, followed by the message of the Error. An Error whose message
/// already begins with a location in the scene file is rethrown unchanged.
void at_place(const Place& place, const std::function<void()>& body);

/// Returns the region with the given name. Throws InputError at the location of the name in the scene file if the
/// region does not exist or has no vertices.
const Region& find_region(const TetrahedralMesh& mesh, const RegionName& name);

/// Returns the complete array `numbers` on every rank; if `numbers` is a dataset, reads the dataset. Throws InputError
/// unless the array has one of the shapes `shapes`, where an extent of -1 means any extent. `expected`: description of
/// the shapes, for the error message.
Array load_array(MPI_Comm comm, const Numbers& numbers, const std::vector<Shape>& shapes, const std::string& expected);

/// Returns an array [cells] with one value per local tetrahedron. `numbers` is a number, a dataset with one number, a
/// dataset with one value per cell, or a dataset with one value per region. A dataset DATASET has one value per region
/// if the file also contains the dataset `DATASET.regions`, the list of the regions; the returned value is NaN for
/// cells outside of all listed regions. If `body` is not empty, a dataset with one value per cell contains the values
/// of the cells of the body `body` only; the returned value is NaN for all other cells. If `body` is empty, a dataset
/// with one value per cell contains the values of all cells of the mesh; in a mesh of several bodies, the values of
/// each body are a dataset in the body's group of the file (io/fields.hpp).
std::vector<double> load_cells(const TetrahedralMesh& mesh, const Numbers& numbers, const std::string& body = {});

/// Returns values of a parameter that are constant in time, or values for each of `steps` steps: one value per local
/// cell of the kind `kind` or, if `kind` has no value, one value per owned vertex. The returned value is NaN for cells
/// and vertices without a value in a dataset `numbers`. If `body` is not empty, a dataset with one value per cell or
/// vertex contains the values of the body `body` only; if `body` is empty, such a dataset contains the values of all
/// bodies (see `load_cells`).
StepValues load_numbers(const TetrahedralMesh& mesh, const Numbers& numbers, std::optional<CellKind> kind, int steps,
                        const std::string& body = {});

/// Vectors on owned vertices: one vector per vertex, constant in time, or one vector per vertex and step.
struct VertexVectors {
  int steps = 0;               ///< number of steps; 0 if all steps have the same vectors
  std::vector<double> values;  ///< vectors on owned vertices, in an array [max(steps, 1), owned vertices, 3]
};
/// Returns the vectors that `numbers` defines on owned vertices. An array [3] or [steps, 3], or a dataset [3], defines
/// one vector for all vertices, except that the vectors at directors (mesh/directors.hpp) are zero. A dataset [N, 3] or
/// [steps, N, 3] contains one vector for each of the N vertices. If `steps` is 0, a dataset `numbers` must contain
/// vectors that are constant in time. If `body` is not empty, a dataset with one vector per vertex contains the vectors
/// of the body `body` only, and the returned vectors of all other bodies are NaN; if `body` is empty, the dataset
/// contains the vectors of all bodies (see `load_cells`).
VertexVectors load_vertices(const TetrahedralMesh& mesh, const Numbers& numbers, int steps,
                            const std::string& body = {});

/// Returns one number per region, in the order of `regions`. If `numbers` is a dataset DATASET and the file contains
/// `DATASET.regions`, a list of regions, every region in `regions` must be in the list.
std::vector<double> load_regions(MPI_Comm comm, const Numbers& numbers, const std::vector<std::string>& regions);

/// Returns `steps` copies of `values` in one array [steps, size of `values`].
std::vector<double> repeated(const std::vector<double>& values, int steps);

}  // namespace diffsim::app
