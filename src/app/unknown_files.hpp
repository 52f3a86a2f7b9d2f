// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app {

/// Replaces all superscripts of a unit by ASCII characters, which all readers of HDF5 attributes understand.
std::string in_ascii(std::string unit);

/// Returns the text that files contain for the unit of a loss: ASCII characters, for example "m^2" for "m²".
std::string unit_of_loss(const std::string& unit);

/// Writes the dataset `/GROUP/NAME` for each unknown. A global unknown has the shape [] or [3]. An unknown per region
/// has the shape [regions], and the dataset `NAME.regions` contains the regions' names. Values per cell, segment or
/// triangle, [cells], and per vertex, [vertices, …], are in the order of the mesh file. Values per step have the shape
/// [steps, …]. The coefficients of a linear map (`Unknown::map`) have the shape [modes].
///
/// `values(k)` returns the values of unknown k, in the layout of InverseProblem::physical. `are_derivatives`: the
/// values are derivatives of the problem's loss. Collective.
void write_unknowns(Hdf5File& file, const std::string& group, const Scene& scene, const TetrahedralMesh& mesh,
                    const InverseProblem& problem, const std::function<std::vector<double>(std::size_t k)>& values,
                    bool are_derivatives);

}  // namespace diffsim::app
