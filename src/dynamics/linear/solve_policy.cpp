// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/solve_policy.hpp"

#include <algorithm>

namespace diffsim::dynamics {
namespace {

constexpr std::int64_t most_copied = 1000;    // largest number of unknowns for which each rank factors a copy
constexpr std::int64_t most_unpivoted = 600;  // largest number of unknowns for factors without pivoting

}  // namespace

bool SolvePolicy::is_at_fault(const Outcome& outcome) {
  if (outcome.converged || !outcome.may_be_outdated) return false;
  return outcome.indefinite_preconditioner || (outcome.definite && outcome.indefinite_matrix);
}

SolvePolicy::Next SolvePolicy::record(const Outcome& outcome, std::int64_t unknowns) {
  if (!is_at_fault(outcome)) return Next::accept;
  if (!careful_) {
    careful_ = true;
    return Next::retry;
  }
  if (!outcome.definite || unknowns > most_factored) return Next::accept;
  gave_up_ = true;
  ++changes_to_factors_;
  return Next::factor;
}

SmootherBounds smoother_bounds(double largest, double least_bound) {
  const double bound = std::max(1.1 * largest, least_bound);
  return {bound / 11.0, bound};
}

FactorChoice choose_factors(std::int64_t unknowns, int ranks, bool by_options, bool is_aij, bool needs_pivoting) {
  // Messages dominate the cost if ranks factor a small matrix together.
  const bool is_small = unknowns <= most_copied && !by_options;
  return {ranks > 1 && is_small, is_small && unknowns <= most_unpivoted && is_aij && !needs_pivoting};
}

}  // namespace diffsim::dynamics
