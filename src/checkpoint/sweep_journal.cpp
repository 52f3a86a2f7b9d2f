// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/sweep_journal.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "checkpoint/hdf5_store.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

constexpr const char* adjoint_kind = "adjoint";
/// Maximum number of entries of a kind on the disk: the last entry, and the entry before the last as a replacement in
/// case the last entry is damaged.
constexpr std::size_t entries_kept = 2;

double number_of(const Hdf5File& file, const std::string& name) {
  const auto value = file.attribute("/", name);
  if (value && std::holds_alternative<double>(*value)) return std::get<double>(*value);
  if (value && std::holds_alternative<std::int64_t>(*value)) return static_cast<double>(std::get<std::int64_t>(*value));
  throw Error(file.path() + ": has no attribute " + name, ErrorKind::system);
}

}  // namespace

SweepJournal::SweepJournal(std::shared_ptr<CheckpointDirectory> directory, RowOrder order, double interval,
                           std::function<bool()> must_stop)
    : directory_(std::move(directory)), order_(order), interval_(interval), must_stop_(std::move(must_stop)) {}

void SweepJournal::begin(const State& initial, const ParameterSet& parameters) {
  directory_->begin_point(order_.signature(initial, parameters));
  // `begin_point` removes states of other sweeps. All remaining states were stored by an earlier run of this sweep.
  saved_.clear();
  found_ = states();
  for (const char* kind : {snapshot_kind, rounded_kind})
    for (const int step : directory_->numbers(kind)) hold(kind, step);
  directory_->annotate({0.0});
  last_ = MPI_Wtime();
}

void SweepJournal::drop(const std::string& kind, int number, const std::string& why) {
  directory_->warn(why + "; it is not used");
  directory_->unpin(kind, number);
  directory_->erase(kind, number);
}

void SweepJournal::hold(const char* kind, int step) {
  directory_->pin(kind, step);
  directory_->erase(kind, step);  // the file is removed by `unpin`
}

void SweepJournal::let_go(int step) {
  for (const char* kind : {snapshot_kind, rounded_kind}) directory_->unpin(kind, step);
}

std::optional<SweepJournal::Reversal> SweepJournal::load_reversal(int first, State& adjoint, ParameterSet& gradient) {
  // Entries are tried in ascending order of their numbers: the entry with the lowest number has the most reversed
  // steps.
  for (const int next : directory_->numbers(adjoint_kind)) {
    if (next < first) continue;  // an entry of a sweep that reversed steps before `first`
    try {
      const Hdf5File file = directory_->open(adjoint_kind, next);
      order_.from_file(file, "/adjoint", adjoint);
      order_.from_file(file, "/gradient", gradient);
      return Reversal{next, static_cast<int>(number_of(file, "num_steps")), number_of(file, "loss")};
    } catch (const Error& error) {
      if (!is_damage(error)) throw;
      drop(adjoint_kind, next, error.what());
    }
  }
  return {};
}

std::optional<SweepJournal::Progress> SweepJournal::load_progress(State& scratch) {
  // A forward run does not resume from a rounded state.
  std::vector<int> steps = directory_->numbers(snapshot_kind);
  for (; !steps.empty(); steps.pop_back()) {
    const int step = steps.back();
    if (!load_state(step, scratch)) continue;
    const Hdf5File file = directory_->open(snapshot_kind, step);
    return Progress{step, order_.read_shares(file, "/note", 1).at(0)};
  }
  return {};
}

std::vector<int> SweepJournal::states() const {
  const std::vector<int> whole = directory_->numbers(snapshot_kind), rounded = directory_->numbers(rounded_kind);
  std::vector<int> all;
  std::set_union(whole.begin(), whole.end(), rounded.begin(), rounded.end(), std::back_inserter(all));
  return all;
}

bool SweepJournal::load_state(int step, State& state) {
  const char* const kind = directory_->has(snapshot_kind, step) ? snapshot_kind : rounded_kind;
  try {
    const Hdf5File file = directory_->open(kind, step);
    order_.from_file(file, "/state", state);
    return true;
  } catch (const Error& error) {
    if (!is_damage(error)) throw;
    drop(kind, step, error.what());
    return false;
  }
}

void SweepJournal::save_state(int step, const State& state, double loss_share) {
  last_ = MPI_Wtime();
  const bool there = directory_->has(snapshot_kind, step);
  if ((!saved_.empty() && saved_.back() == step) || (there && std::binary_search(found_.begin(), found_.end(), step)))
    return;
  if (!there) {
    note(loss_share);
    directory_->write(snapshot_kind, step, order_.to_file("/state", state));
    hold(snapshot_kind, step);
  } else {
    directory_->pin(snapshot_kind, step);  // the store has written the file
  }
  saved_.push_back(step);
  while (saved_.size() > entries_kept) {
    directory_->unpin(snapshot_kind, saved_.front());
    saved_.pop_front();
  }
}

void SweepJournal::save_reversal(const Reversal& reversal, const State& adjoint, const ParameterSet& gradient) {
  last_ = MPI_Wtime();
  if (directory_->has(adjoint_kind, reversal.next)) return;
  std::vector<FileArray> arrays = order_.to_file("/adjoint", adjoint);
  for (FileArray& array : order_.to_file("/gradient", gradient)) arrays.push_back(std::move(array));
  directory_->write(adjoint_kind, reversal.next, std::move(arrays),
                    {{"num_steps", std::int64_t{reversal.num_steps}}, {"loss", reversal.loss}});
  std::vector<int> there = directory_->numbers(adjoint_kind);
  for (; there.size() > entries_kept; there.pop_back()) directory_->erase(adjoint_kind, there.back());
  // States from `reversal.next` on are no longer needed.
  for (; !saved_.empty() && saved_.back() >= reversal.next; saved_.pop_back()) let_go(saved_.back());
  for (; !found_.empty() && found_.back() >= reversal.next; found_.pop_back()) let_go(found_.back());
}

SweepJournal::Request SweepJournal::poll() {
  const int rank = rank_of(order_.comm());
  // The clock of the first rank alone determines whether the interval has ended.
  int request = must_stop_ && must_stop_() ? 2 : rank == 0 && MPI_Wtime() - last_ >= interval_ ? 1 : 0;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &request, 1, MPI_INT, MPI_MAX, order_.comm()));
  directory_->publish(false);
  return request == 2 ? Request::stop : request == 1 ? Request::save : Request::none;
}

void SweepJournal::stop(const std::string& where) {
  directory_->publish(true);
  throw SweepStopped("stopped " + where + "; the checkpoint is in '" + path() +
                     "'; use --resume to continue from the checkpoint");
}

}  // namespace diffsim
