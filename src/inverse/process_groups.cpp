// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "inverse/process_groups.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/broadcast.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

/// Returns the values of all ranks of `comm`, in the order of the ranks.
std::vector<double> gathered(const std::vector<double>& values, MPI_Comm comm) {
  int ranks = 1;
  DIFFSIM_MPI(MPI_Comm_size(comm, &ranks));
  std::vector<int> counts(static_cast<std::size_t>(ranks)), offsets(counts.size(), 0);
  const int count = static_cast<int>(values.size());
  DIFFSIM_MPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm));
  for (std::size_t r = 1; r < counts.size(); ++r) offsets[r] = offsets[r - 1] + counts[r - 1];
  std::vector<double> all(static_cast<std::size_t>(offsets.back() + counts.back()));
  DIFFSIM_MPI(
      MPI_Allgatherv(values.data(), count, MPI_DOUBLE, all.data(), counts.data(), offsets.data(), MPI_DOUBLE, comm));
  return all;
}

}  // namespace

ProcessGroups::ProcessGroups(MPI_Comm all, MPI_Comm group, std::vector<int> numbers)
    : all_(all), group_(group), numbers_(std::move(numbers)) {
  const bool is_root = rank_of(group_) == 0;
  DIFFSIM_MPI(MPI_Comm_split(all_, is_root ? 0 : MPI_UNDEFINED, rank_of(all_), &roots_));
  std::vector<int> owners;
  if (is_root) {
    // Pairs of the number of an experiment and the rank of its group in roots_.
    std::vector<double> pairs;
    for (const int number : numbers_) pairs.insert(pairs.end(), {1.0 * number, 1.0 * rank_of(roots_)});
    pairs = gathered(pairs, roots_);
    owners.assign(pairs.size() / 2, -1);
    for (std::size_t i = 0; i < pairs.size(); i += 2)
      if (pairs[i] >= 0.0 && pairs[i] < static_cast<double>(owners.size()))
        owners[static_cast<std::size_t>(pairs[i])] = static_cast<int>(pairs[i + 1]);
  }
  total_ = static_cast<int>(owners.size());
  int complete = is_root ? std::find(owners.begin(), owners.end(), -1) == owners.end() && !owners.empty() : 1;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &complete, 1, MPI_INT, MPI_MIN, all_));
  if (complete == 0)
    throw Error("each experiment must belong to exactly one group, with numbers from 0 on", ErrorKind::input);
  if (is_root) first_root_ = owners.front();
  int first = is_root && rank_of(roots_) == first_root_ ? rank_of(all_) : 0;
  DIFFSIM_MPI(MPI_Allreduce(&first, &first_rank_, 1, MPI_INT, MPI_MAX, all_));
  DIFFSIM_MPI(MPI_Bcast(&total_, 1, MPI_INT, 0, group_));
}

ProcessGroups::~ProcessGroups() {
  if (roots_ != MPI_COMM_NULL) MPI_Comm_free(&roots_);
}

std::vector<Contribution> ProcessGroups::gather(const std::vector<Contribution>& own) const {
  std::vector<Contribution> all(static_cast<std::size_t>(total_));
  std::vector<double> losses(all.size());
  if (roots_ != MPI_COMM_NULL) {
    // For each experiment: number, loss, derivative.
    std::vector<double> values;
    for (std::size_t k = 0; k < own.size(); ++k) {
      values.insert(values.end(), {1.0 * numbers_.at(k), own[k].loss});
      values.insert(values.end(), own[k].derivative.begin(), own[k].derivative.end());
    }
    const std::size_t width = 2 + own.front().derivative.size();
    values = gathered(values, roots_);
    for (std::size_t i = 0; i < values.size(); i += width) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i);
      Contribution& to = all.at(static_cast<std::size_t>(values[i]));
      to.loss = values[i + 1];
      to.derivative.assign(begin + 2, begin + static_cast<std::ptrdiff_t>(width));
    }
    for (std::size_t k = 0; k < all.size(); ++k) losses[k] = all[k].loss;
  }
  DIFFSIM_MPI(MPI_Bcast(losses.data(), total_, MPI_DOUBLE, 0, group_));
  for (std::size_t k = 0; k < all.size(); ++k) all[k].loss = losses[k];
  return all;
}

std::vector<double> ProcessGroups::of_first(std::vector<double> values) const {
  if (roots_ != MPI_COMM_NULL)
    DIFFSIM_MPI(MPI_Bcast(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, first_root_, roots_));
  return values;
}

double ProcessGroups::of_first(double value) const {
  DIFFSIM_MPI(MPI_Bcast(&value, 1, MPI_DOUBLE, first_rank_, all_));
  return value;
}

double ProcessGroups::sum(double value) const {
  const std::vector<double> values = gathered({roots_ == MPI_COMM_NULL ? 0.0 : value}, all_);
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double ProcessGroups::largest(double value) const {
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, all_));
  return value;
}

void ProcessGroups::agree(const std::function<void()>& function) const {
  std::string failure;
  int failed = 0, kind = 0;
  try {
    function();
  } catch (const Error& error) {
    failure = error.what();
    failed = 1;
    kind = static_cast<int>(error.kind());
  }
  struct {
    int has_none, rank;
  } first{1 - failed, rank_of(all_)};
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_2INT, MPI_MINLOC, all_));
  if (first.has_none == 1) return;
  broadcast_text(failure, all_, first.rank);
  DIFFSIM_MPI(MPI_Bcast(&kind, 1, MPI_INT, first.rank, all_));
  throw Error(failure, static_cast<ErrorKind>(kind));
}

}  // namespace diffsim
