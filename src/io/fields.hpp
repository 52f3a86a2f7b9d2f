// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim {

// Functions that read the arrays named in a scene by `{file: FILE, dataset: DATASET}`, and functions that write the
// arrays of a run. In all arrays, vertices and cells are in the order of the mesh file. For a mesh of several bodies
// there is one dataset per body, with the body's own numbering; the name of the dataset is `/bodies/NAME` followed by
// DATASET. If a function is called with the name of a body, DATASET itself contains the values of this body; in the
// result, the values of all other bodies are NaN. The functions that read throw InputError if the dataset does not
// exist, has a wrong shape, or contains a value that is not finite. The error message names the file and the dataset
// and, for a wrong shape, gives the actual and the expected shape. All functions are collective.

/// Reads one value per tetrahedron from one dataset of the shape [C] per body, where C is the number of the body's
/// tetrahedra. Returns one value for each local tetrahedron of this rank.
std::vector<double> read_cell_field(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                                    const std::string& body = {});

/// Array of M values per cell, read from a dataset of the shape [M, C], where C is the number of cells.
/// `CellModes::values` has the shape [M, local cells], where M = `modes` is the number of values per cell.
struct CellModes {
  std::int64_t modes = 0;
  std::vector<double> values;
};
CellModes read_cell_modes(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                          CellKind kind = CellKind::tetrahedron);

/// Values at vertices or in cells, for one or several time steps.
struct StepValues {
  std::int64_t steps = 1;
  std::vector<double> values;  ///< values, [steps, local vertices (including ghosts) or local cells, components]
};
/// Reads values at N vertices from a dataset [N, components] (constant in time) or [S, N, components] (S steps); for
/// one component the dataset has the shape [N] or [S, N]. read_vertex_field() sets the values at directors, which have
/// no rows in the dataset, to 0.
StepValues read_vertex_field(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                             int components, const std::string& body = {});

/// Reads one value for each of the C cells of the kind `kind` from a dataset [C] (constant in time) or [S, C] (S
/// steps).
StepValues read_cell_steps(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                           CellKind kind, const std::string& body = {});

/// Small array, of which every rank has a full copy.
struct Array {
  Shape shape;
  std::vector<double> values;
};
Array read_array(MPI_Comm comm, const std::string& path, const std::string& dataset);

/// Writes one value per tetrahedron, [local cells], as one dataset [C] per body, where C is the number of the body's
/// tetrahedra.
void write_cell_field(Hdf5File& file, const TetrahedralMesh& mesh, const std::string& dataset,
                      const std::vector<double>& local, const std::string& units);

/// Writes values [steps, local cells of the given kind] as a dataset [C], or as a dataset [steps, C] if steps > 1,
/// where C is the number of cells of the given kind.
void write_cell_steps(Hdf5File& file, const TetrahedralMesh& mesh, const std::string& dataset,
                      const std::vector<double>& local, CellKind kind, const std::string& units,
                      std::int64_t steps = 1);

/// Writes values [steps, owned or local vertices, components] as a dataset [N, components] for N vertices, or [steps,
/// N, components] if steps > 1; for one component the dataset has the shape [N] or [steps, N]. In the dataset, the
/// values at vertices that belong to no cell are 0.
void write_vertex_field(Hdf5File& file, const TetrahedralMesh& mesh, const std::string& dataset,
                        const std::vector<double>& local, int components, const std::string& units,
                        std::int64_t steps = 1);

}  // namespace diffsim
