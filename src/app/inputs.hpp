// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/io/fields.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::app {

// Everything here is collective and throws the same InputError, at the place in the scene, on all ranks.

/// Runs `body`; an error of its input is told as one at `place`.
void at_place(const Place& place, const std::function<void()>& body);

/// A region that exists and has vertices, or InputError where the scene names it.
const Region& find_region(const TetrahedralMesh& mesh, const RegionName& name);

/// Numbers that every rank has whole, of one of the shapes; see `expect_shape`.
Array load_array(MPI_Comm comm, const Numbers& numbers, const std::vector<Shape>& shapes, const std::string& expected);

/// Values of local cells [cells]: from a number, a dataset with one value a cell, one number, or one a region where
/// `DATASET.regions` names these. Cells of regions that are not named are NaN. `body`: the dataset is of that body's
/// cells, and others are NaN; empty: of the whole mesh.
std::vector<double> load_cells(const TetrahedralMesh& mesh, const Numbers& numbers, const std::string& body = {});

/// Values of a parameter that has one number a cell of a kind below tetrahedra, or an owned vertex, for one step or for
/// `steps`; NaN where a dataset has none. `kind`: of the cells; none: vertices. `body` as of load_cells.
StepValues load_numbers(const TetrahedralMesh& mesh, const Numbers& numbers, std::optional<CellKind> kind, int steps,
                        const std::string& body = {});

/// Vectors on owned vertices: [3], [steps, 3], a dataset [N, 3] or [steps, N, 3], `steps` 0 meaning no steps.
struct VertexVectors {
  int steps = 0;               ///< 0: the same for all
  std::vector<double> values;  ///< [max(steps, 1), owned vertices, 3]
};
/// `body` as of load_cells.
VertexVectors load_vertices(const TetrahedralMesh& mesh, const Numbers& numbers, int steps,
                            const std::string& body = {});

/// Numbers by region, for names that have to be among `regions`, in their order.
std::vector<double> load_regions(MPI_Comm comm, const Numbers& numbers, const std::vector<std::string>& regions);

/// [steps, rows…] from [rows…].
std::vector<double> repeated(const std::vector<double>& values, int steps);

}  // namespace diffsim::app
