// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/adjoint_history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

constexpr int most_contributions = 64;
constexpr double negligible_ratio = std::numeric_limits<double>::epsilon();

/// Euclidean norm of the field `name` over all ranks; 0 if the state has no field of this name.
double norm(const State& state, const char* name, MPI_Comm comm) {
  for (const Field& field : state.fields())
    if (field.name() == name) return std::sqrt(sum_over_ranks(local_dot(field, field), comm));
  return 0.0;
}

}  // namespace

void AdjointHistory::observe(int n, const State& adjoint, bool is_complete) {
  if (!entries_.empty() && n >= entries_.back().step) {
    keep_largest();
    entries_.clear();
    contributed_.clear();
    negligible_.clear();
    largest_positions_ = largest_velocities_ = 0.0;
    contributions_ = skipped_ = 0;
  }
  const bool is_due = entries_.empty() || n == 0 || n % every_ == 0;
  if (!is_complete) {
    if (!is_due && contributions_ >= most_contributions) {
      ++skipped_;
      return;
    }
    before_ = norm(adjoint, "positions", comm_);
    before_step_ = n;
    return;
  }
  const bool has_contribution = before_step_ == n || entries_.empty();
  if (!is_due && !has_contribution) return;
  const Entry entry{n, norm(adjoint, "positions", comm_), norm(adjoint, "velocities", comm_)};
  const double so_far = contributed_.empty() ? 0.0 : contributed_.back();
  // The contribution of step n is counted 1 + `skipped_` times. The additional `skipped_` times stand for the
  // contributions that were not computed since the last recorded contribution.
  const double change = std::abs(entry.positions - (before_step_ == n ? before_ : 0.0));
  contributed_.push_back(so_far + (has_contribution ? (1 + skipped_) * change : 0.0));
  if (has_contribution) skipped_ = 0;
  largest_positions_ = std::max(largest_positions_, entry.positions);
  largest_velocities_ = std::max(largest_velocities_, entry.velocities);
  negligible_.push_back(is_negligible(adjoint, entry));
  entries_.push_back(entry);
  is_taken_ = false;
  if (has_contribution) ++contributions_;
  before_step_ = -1;
}

AdjointHistory::Growth AdjointHistory::growth() const {
  Growth growth;
  bool has_begun = false;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (contributed_[i] == 0.0) continue;
    if (!has_begun) growth.from = growth.to = entries_[i].step;
    has_begun = true;
    const double factor = entries_[i].positions / contributed_[i];
    if (factor <= growth.factor) continue;
    growth.factor = factor;
    growth.to = entries_[i].step;
  }
  return growth;
}

void AdjointHistory::keep_largest() {
  if (is_taken_) return;
  const Growth last = growth();
  if (std::isfinite(last.factor) && last.factor > largest_.factor) largest_ = last;
  is_taken_ = true;
}

AdjointHistory::Growth AdjointHistory::take_largest_growth() {
  keep_largest();
  return std::exchange(largest_, Growth{});
}

bool AdjointHistory::is_negligible(const State& adjoint, const Entry& entry) const {
  if (entry.velocities > negligible_ratio * largest_velocities_) return false;
  const double largest = std::max(largest_positions_, largest_velocities_);
  if (largest == 0.0) return false;
  for (const Field& field : adjoint.fields())
    if (field.name() != "positions" && field.name() != "velocities" &&
        norm(adjoint, field.name().c_str(), comm_) > negligible_ratio * largest)
      return false;
  return true;
}

std::optional<int> AdjointHistory::vanishes_before(bool are_fixed) const {
  if (entries_.empty() || entries_.back().step > 0 || contributions_ >= most_contributions) return std::nullopt;
  const bool has_rates = are_fixed && largest_velocities_ > 0.0;
  const double kept = has_rates ? entries_.back().positions : 0.0, few = 4.0 * negligible_ratio * largest_positions_;
  std::optional<int> step;
  for (std::size_t i = entries_.size(); i-- > 0;) {
    if (!negligible_[i] || std::abs(entries_[i].positions - kept) > (has_rates ? few : 0.25 * few)) break;
    step = entries_[i].step;
  }
  return step && *step > 0 ? step : std::nullopt;
}

}  // namespace diffsim
