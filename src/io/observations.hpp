// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "diffsim/io/trajectory.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

/// Measured positions of some vertices at some steps.
struct Observations {
  std::vector<int> steps;                        ///< in ascending order
  std::map<int, std::vector<double>> positions;  ///< for each step: [owned vertices, 3], m; NaN if not observed
};

/// Reads an observations file: `/step` [K], the numbers of the K observed steps in any order, and `/positions` [K,
/// N_obs, 3] (m), the positions of N_obs observed vertices after these steps. `/vertices` [N_obs] lists the observed
/// vertices by their 0-based numbers in the mesh file. Without `/vertices`, all vertices are observed. The value NaN
/// marks a position that was not observed. For a mesh of several bodies the datasets are `/bodies/NAME/positions` and
/// `/bodies/NAME/vertices`, and vertices are numbered within the body. A body without these datasets is not observed.
///
/// `steps` selects the steps to read; if `steps` is empty, all steps are read. Throws InputError if a selected step is
/// missing, if the file has a step twice, if vertices are out of range or repeated, if shapes or types are wrong, if
/// values are infinite, or if the file belongs to another mesh. The meshes are compared by the number of vertices and,
/// if the file has the attribute `mesh_fingerprint`, by this fingerprint. Collective.
Observations read_observations(const TetrahedralMesh& mesh, const std::string& path, std::vector<int> steps = {});

/// Reads observed positions of P material points after K steps: `/points` [P, 3] (m), the rest positions; `/positions`
/// [K, P, 3] (m), the observed positions; and `/step` [K], the numbers of the steps. Without `/step`, row n of
/// `/positions` belongs to step n. For a mesh of several bodies the datasets are `/bodies/NAME/points` and
/// `/bodies/NAME/positions`. Returns one entry, the same on every rank, for each body whose points are in the file; the
/// list is empty if the file has no dataset of points. `steps` selects the steps to read; if `steps` is empty, all
/// steps are read. Throws InputError under the conditions of `read_observed_values`, if a body has both `points` and
/// `vertices`, and if some of several bodies with positions have no points. Collective.
std::vector<ObservedPoints> read_observed_points(const TetrahedralMesh& mesh, const std::string& path,
                                                 const std::vector<int>& steps);

/// Reads `columns` values for each of K steps from a dataset [K, columns], or [K] if `columns` is 1. The dataset is the
/// first of `datasets` that exists in the file. The dataset `/step` [K] gives the step of each row, in any order;
/// without `/step`, row n belongs to step n. The value NaN marks a value that was not observed. Returns a map from
/// steps to values [columns]. `steps` selects the steps to read; if `steps` is empty, all steps are read. Throws
/// InputError if no dataset exists, if a selected step is missing, if the file has a step twice, if shapes or types are
/// wrong, or if values are infinite. Collective.
std::map<int, std::vector<double>> read_observed_values(MPI_Comm comm, const std::string& path,
                                                        const std::vector<std::string>& datasets, std::size_t columns,
                                                        const std::vector<int>& steps);

/// Reads K images of height × width pixels from a dataset [K, height, width], the masks after K steps. The dataset
/// `/step` [K] and `steps` have the same meaning as in `read_observed_values`. The value NaN marks a pixel that was not
/// observed. Returns a map from steps to images [height, width]. Throws InputError under the conditions of
/// `read_observed_values`. Collective.
std::map<int, std::vector<double>> read_observed_images(MPI_Comm comm, const std::string& path,
                                                        const std::string& dataset, std::size_t height,
                                                        std::size_t width, const std::vector<int>& steps);

}  // namespace diffsim
