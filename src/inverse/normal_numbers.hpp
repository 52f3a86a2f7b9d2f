// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim::inverse {

/// Numbers that identify this rank's values of the vector u of unknowns. The numbers do not depend on the number of
/// ranks, except those of entities without a location in a file. The number of a value of unknown k is computed from k
/// and, if all ranks share the values, from the index of the value. Otherwise the number is computed from k, from the
/// location of the value's cell, vertex or other entity in the mesh file, from the step and from the component.
/// Entities without a location in a file are numbered rank by rank. Collective.
std::vector<std::uint64_t> value_numbers(const InverseProblem& problem);

/// Independent samples of the standard normal distribution, one for each entry of `numbers`. Sample i depends on `seed`
/// and on numbers[i] only. Method: Box & Muller 1958, with uniformly distributed samples from the mixing function of
/// splitmix64.
std::vector<double> normal_numbers(const std::vector<std::uint64_t>& numbers, std::uint64_t seed);

}  // namespace diffsim::inverse
