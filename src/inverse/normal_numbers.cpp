// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/normal_numbers.hpp"

#include <cmath>
#include <numbers>

#include "core/file_order.hpp"
#include "core/mix_bits.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::inverse {
namespace {

/// Uniform number in (0, 1) from the upper 53 bits of `bits`.
double uniform(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

/// Locations of this rank's owned entities in files. Entities without locations are numbered consecutively from rank to
/// rank.
std::vector<std::uint64_t> locations(const Entities& on) {
  std::vector<std::uint64_t> result(on.owned());
  const auto count = static_cast<std::uint64_t>(on.owned());
  std::uint64_t first = 0;
  if (!on.order()) {
    DIFFSIM_MPI(MPI_Exscan(&count, &first, 1, MPI_UINT64_T, MPI_SUM, on.comm()));
    if (is_first_rank(on.comm())) first = 0;
  }
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = on.order() ? static_cast<std::uint64_t>(on.order()->file_index()[i]) : first + i;
  return result;
}

}  // namespace

std::vector<std::uint64_t> value_numbers(const InverseProblem& problem) {
  std::vector<std::uint64_t> numbers(problem.size());
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
    const std::uint64_t base = mix_bits(k);
    const std::size_t begin = problem.offset(k);
    if (problem.unknowns()[k].shared()) {
      for (std::size_t i = 0; i < problem.count(k); ++i) numbers[begin + i] = base + i;
      continue;
    }
    // Layout of the values: [steps, owned entities, components].
    const Field& field = problem.field(k);
    const std::vector<std::uint64_t> at = locations(field.on());
    const auto components = static_cast<std::size_t>(field.components());
    for (std::size_t i = 0; i < problem.count(k); ++i) {
      const std::size_t entity = i / components, step = at.empty() ? 0 : entity / at.size();
      numbers[begin + i] = base + mix_bits(mix_bits(at[entity % at.size()]) + step * components + i % components);
    }
  }
  return numbers;
}

std::vector<double> normal_numbers(const std::vector<std::uint64_t>& numbers, std::uint64_t seed) {
  std::vector<double> result;
  result.reserve(numbers.size());
  for (const std::uint64_t number : numbers) {
    const std::uint64_t first = mix_bits(mix_bits(seed) ^ number), second = mix_bits(first);
    result.push_back(std::sqrt(-2.0 * std::log(uniform(first))) * std::cos(2.0 * std::numbers::pi * uniform(second)));
  }
  return result;
}

}  // namespace diffsim::inverse
