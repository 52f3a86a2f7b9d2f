// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/scene.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/io/hdf5_file.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim::app {

/// Unit of a loss as files have it, in ASCII: "m^2".
std::string unit_of_loss(const Loss& loss);

/// Writes `/GROUP/NAME` for each unknown: [] or [3] for global, [regions] with `NAME.regions`, [cells] and [vertices,
/// 3] in the file's order, [steps, …]. `values(k)`: of unknown k, as InverseProblem::physical gives them;
/// `are_derivatives`: of the problem's loss. Collective.
void write_unknowns(Hdf5File& file, const std::string& group, const Scene& scene, const TetrahedralMesh& mesh,
                    const InverseProblem& problem, const std::function<std::vector<double>(std::size_t k)>& values,
                    bool are_derivatives);

/// Whether all ranks have the same values of unknown k, and names for them: "youngs_modulus[soft]", "gravity.x"; empty
/// if not.
std::vector<std::string> value_names(const InverseProblem& problem, std::size_t k);

}  // namespace diffsim::app
