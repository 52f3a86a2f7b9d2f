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

/// Measured positions of some vertices at some time steps. A step number n denotes the state after n steps.
struct Observations {
  std::vector<int> steps;  ///< in ascending order
  /// Map from the number n of each observed step to the positions (m) measured after n steps, [owned vertices, 3]; NaN
  /// for vertices that were not observed.
  std::map<int, std::vector<double>> positions;
};

/// Reads a file of observed positions of vertices. The dataset `/step` [K] contains the numbers of the K observed
/// steps, in any order. The dataset `/positions` [K, N_obs, 3] contains the positions (m) of the N_obs observed
/// vertices at the K observed steps. The dataset `/vertices` [N_obs] lists the observed vertices by their 0-based
/// numbers in the mesh file. If the dataset `/vertices` does not exist, all vertices are observed. The value NaN marks
/// a position that was not observed. For a mesh of several bodies, the observations of the body NAME are the datasets
/// `/bodies/NAME/positions` and `/bodies/NAME/vertices`, and vertices are numbered within the body. A body without a
/// dataset `/bodies/NAME/positions` is not observed.
///
/// The list `steps` selects the steps to read; if the list is empty, all steps are read. Throws InputError if a
/// selected step is missing, if the file has a step twice, if vertex numbers are out of range or repeated, if a dataset
/// is missing or has a wrong shape or type, if positions are infinite, if no body is observed, or if the file belongs
/// to another mesh. To detect observations of another mesh, read_observations() compares the attribute
/// `mesh_fingerprint` of the file, if the attribute exists, with the fingerprint of `mesh`. If the dataset `vertices`
/// does not exist, read_observations() also compares the number of observed vertices with the number of vertices of the
/// mesh or body. Collective.
Observations read_observations(const TetrahedralMesh& mesh, const std::string& path, std::vector<int> steps = {});

/// Reads the positions of P material points at K observed steps, where step n denotes the state after n steps. The
/// dataset `/points` [P, 3] contains the rest positions (m) of P material points, `/positions` [K, P, 3] the positions
/// (m) at the K observed steps, and `/step` [K] the step numbers. If the dataset `/step` does not exist, row n of
/// `/positions` belongs to step n. For a mesh of several bodies, the observations of the body NAME are the datasets
/// `/bodies/NAME/points` and `/bodies/NAME/positions`, and `/step` is common to all bodies. Returns one entry, the same
/// on every rank, for each body whose material points are in the file; the returned list is empty if the file has no
/// dataset of points. The list `steps` selects the steps to read; if the list is empty, all steps are read. Throws
/// InputError under the conditions of `read_observed_values`, if a body has both datasets `points` and `vertices`, or
/// if one body has `points` and another body has `positions` without `points`. Collective.
std::vector<ObservedPoints> read_observed_points(const TetrahedralMesh& mesh, const std::string& path,
                                                 const std::vector<int>& steps);

/// Reads `columns` observed values for each of K steps from a dataset [K, columns], or [K] if `columns` is 1.
/// read_observed_values() reads the first dataset of the list `datasets` that exists in the file. The dataset `/step`
/// [K] contains the step number of each row of the observed values, in any order; without `/step`, row n belongs to
/// step n. The value NaN marks a value that was not observed. Returns a map from step numbers to values [columns]. The
/// list `steps` selects the steps to read; if the list is empty, all steps are read. Throws InputError if no dataset of
/// the list `datasets` exists, if a selected step is missing, if the file has a step twice, if a dataset has a wrong
/// shape or type, or if values are infinite. Collective.
std::map<int, std::vector<double>> read_observed_values(MPI_Comm comm, const std::string& path,
                                                        const std::vector<std::string>& datasets, std::size_t columns,
                                                        const std::vector<int>& steps);

/// Reads K images (masks) of height × width pixels, one for each of K observed steps, from a dataset [K, height,
/// width]. The dataset `/step` [K] and the argument `steps` have the same meaning as in `read_observed_values`. The
/// value NaN marks a pixel that was not observed. Returns a map from step numbers to images [height, width]. Throws
/// InputError under the conditions of `read_observed_values`. Collective.
std::map<int, std::vector<double>> read_observed_images(MPI_Comm comm, const std::string& path,
                                                        const std::string& dataset, std::size_t height,
                                                        std::size_t width, const std::vector<int>& steps);

}  // namespace diffsim
