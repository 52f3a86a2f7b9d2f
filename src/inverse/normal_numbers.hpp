// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim::inverse {

/// Identification numbers of this rank's values of the vector u of unknowns. The number of a value does not depend on
/// the number of ranks, unless the value belongs to an entity without a location in the mesh file. If all ranks share
/// the values of unknown k, the number of a value is computed from k and the index of the value. Otherwise, the number
/// is computed from k, the time step and the component of the value, and the location, in the mesh file, of the vertex,
/// cell or other entity to which the value belongs. Entities without a location in the mesh file are numbered
/// consecutively from rank to rank. Collective.
std::vector<std::uint64_t> value_numbers(const InverseProblem& problem);

/// Independent samples of the standard normal distribution, one for each entry of `numbers`. Sample i depends on `seed`
/// and on `numbers[i]` only. The samples are computed by the method of Box & Muller 1958 from uniformly distributed
/// samples of the mixing function of splitmix64.
std::vector<double> normal_numbers(const std::vector<std::uint64_t>& numbers, std::uint64_t seed);

}  // namespace diffsim::inverse
