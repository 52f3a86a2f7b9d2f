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

/// Replaces the exponents ², ³ and ⁴ in a unit by ^2, ^3 and ^4, because not all readers of HDF5 attributes understand
/// characters other than ASCII.
std::string in_ascii(std::string unit);

/// Converts the unit of a loss to the form in which result files contain units: ASCII characters, for example "m^2" for
/// "m²".
std::string unit_of_loss(const std::string& unit);

/// Writes the dataset `/GROUP/NAME` for each unknown NAME, where GROUP is `group`. The shape of the dataset is [] or
/// [components] for the values of a global unknown, and [regions] for an unknown with one value per region. For an
/// unknown with one value per region, the dataset `/GROUP/NAME.regions` contains the names of the regions. Values per
/// cell, segment or triangle, of the shape [cells], and values per vertex, of the shape [vertices] or [vertices,
/// components], are in the order of the mesh file. If an unknown has values for each step, the first extent of its
/// dataset is the number of steps. The coefficients of a linear map (`Unknown::map`) have the shape [modes].
///
/// `values`: function that returns the values of unknown k in the layout of InverseProblem::physical.
/// `are_derivatives`: true if `values` returns derivatives of the problem's loss. Collective.
void write_unknowns(Hdf5File& file, const std::string& group, const Scene& scene, const TetrahedralMesh& mesh,
                    const InverseProblem& problem, const std::function<std::vector<double>(std::size_t k)>& values,
                    bool are_derivatives);

}  // namespace diffsim::app
