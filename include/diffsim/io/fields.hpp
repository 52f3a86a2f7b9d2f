// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/io/hdf5_file.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

// Arrays of `{file: FILE, dataset: DATASET}` in a scene, in the mesh file's order of vertices and cells, and those that
// runs write. Of a mesh of several bodies they stand in `/bodies/NAME` DATASET, one dataset a body, counted in the
// body. Where a body is named, DATASET itself has the values of that body, and those of the others are NaN. Reading
// throws InputError, naming file and dataset, where there is none of that name, its shape is another (both are said),
// or a value is not finite. Collective.

/// One value a cell, [C] → [local cells].
std::vector<double> read_cell_field(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                                    const std::string& body = {});

/// Several values a cell, [M, C] → [M, local cells].
struct CellModes {
  std::int64_t modes = 0;
  std::vector<double> values;
};
CellModes read_cell_modes(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                          CellKind kind = CellKind::tetrahedron);

/// Values at vertices or in cells, for one or several steps.
struct StepValues {
  std::int64_t steps = 1;
  std::vector<double> values;  ///< [steps, local vertices (ghosts too) or cells, components]
};
/// [N, components] (one step) or [S, N, components] → StepValues; one component: [N] or [S, N].
StepValues read_vertex_field(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                             int components, const std::string& body = {});

/// One value a cell of a kind, [C] (one step) or [S, C] → StepValues.
StepValues read_cell_steps(const TetrahedralMesh& mesh, const std::string& path, const std::string& dataset,
                           CellKind kind, const std::string& body = {});

/// A small array that every rank has whole.
struct Array {
  Shape shape;
  std::vector<double> values;
};
Array read_array(MPI_Comm comm, const std::string& path, const std::string& dataset);

/// [local cells] → [C].
void write_cell_field(Hdf5File& file, const TetrahedralMesh& mesh, const std::string& dataset,
                      const std::vector<double>& local, const std::string& units);

/// [steps, local cells of a kind] → [C], or [steps, C] where steps > 1.
void write_cell_steps(Hdf5File& file, const TetrahedralMesh& mesh, const std::string& dataset,
                      const std::vector<double>& local, CellKind kind, const std::string& units,
                      std::int64_t steps = 1);

/// [steps, owned or local vertices, components] → [N, components], or [steps, N, components] where steps > 1; one
/// component: [N] or [steps, N]. Vertices that no cell has get 0.
void write_vertex_field(Hdf5File& file, const TetrahedralMesh& mesh, const std::string& dataset,
                        const std::vector<double>& local, int components, const std::string& units,
                        std::int64_t steps = 1);

}  // namespace diffsim
