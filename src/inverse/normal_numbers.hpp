// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "diffsim/inverse/problem.hpp"

namespace diffsim::inverse {

/// Numbers that identify this rank's values of u independently of the number of ranks. The number of a value of
/// unknown k consists of k and of the location, in the order of the file, of the value's cell, vertex or other entity.
/// Values of entities without a location in a file are numbered from rank to rank. Collective.
std::vector<std::uint64_t> value_numbers(const InverseProblem& problem);

/// Independent standard normal numbers, one for each entry of `numbers`. A number depends on `seed` and on its entry of
/// `numbers` only. Method: Box & Muller 1958, with uniform numbers from the mixing function of splitmix64.
std::vector<double> normal_numbers(const std::vector<std::uint64_t>& numbers, std::uint64_t seed);

}  // namespace diffsim::inverse
