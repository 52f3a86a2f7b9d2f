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

/// Returns the unit of the parameter with the name `parameter` of the problem's model or initial state, in ASCII
/// characters, for example "Pa"; "1" for a dimensionless parameter.
std::string unit_of(const InverseProblem& problem, const std::string& parameter);

/// Returns the text that describes the units of an array of values in result files: the unit if all values have the
/// same unit, or else the units in the order of the values, separated by commas, for example "1, m".
std::string joined_units(const std::vector<std::string>& units);

/// Writes the values of each unknown NAME of the inverse problem to the dataset `/GROUP/NAME`, where GROUP is the
/// argument `group`. The dataset of a global unknown has the shape [] or [components], and the dataset of an unknown
/// with one value per region has the shape [regions]. For an unknown NAME with one value per region, the dataset
/// `/GROUP/NAME.regions` contains the names of the regions. Datasets of unknowns on tetrahedra, segments or triangles
/// have the shape [cells], and datasets of unknowns on vertices have the shape [vertices] or [vertices, components], in
/// the order of the mesh file. The units are those of the model's parameters; the unit of an unknown with one value per
/// joint is `joined_units` of the joints' units. If an unknown has values for each step, the first extent of its
/// dataset is the number of steps. The dataset of an unknown with a linear map p = p0 + B u (`Unknown::map`) has one
/// entry for each column of B.
///
/// `values`: function that returns the values of unknown k, the standard deviations of these values, or the derivatives
/// of the loss with respect to these values, in the layout of InverseProblem::physical. `are_derivatives`: true if
/// `values` returns derivatives of the problem's loss. Collective.
void write_unknowns(Hdf5File& file, const std::string& group, const Scene& scene, const TetrahedralMesh& mesh,
                    const InverseProblem& problem, const std::function<std::vector<double>(std::size_t k)>& values,
                    bool are_derivatives);

}  // namespace diffsim::app
