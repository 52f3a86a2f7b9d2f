// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Functions of InverseProblem for multiple shooting.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "checkpoint/from_options.hpp"
#include "checkpoint/sweep_journal.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/prior.hpp"
#include "diffsim/inverse/problem.hpp"
#include "inverse/parametrisation.hpp"
#include "inverse/process_groups.hpp"

namespace diffsim {

std::unique_ptr<InverseProblem> InverseProblem::with_model(Model& model, Loss& loss, const std::vector<Unknown>& more,
                                                           std::optional<int> num_steps) {
  if (has_experiments())
    throw Error("a problem with several experiments cannot be given another model", ErrorKind::input);
  std::vector<Unknown> unknowns = unknowns_;
  unknowns.insert(unknowns.end(), more.begin(), more.end());
  const int steps = num_steps.value_or(num_steps_);
  CheckpointOptions options = checkpoints_;
  use_subdirectory("windows", options);
  auto made =
      make_schedule_
          ? std::make_unique<InverseProblem>(model, initial_, steps, loss, std::move(unknowns), make_schedule_, store_)
          : std::make_unique<InverseProblem>(model, initial_, steps, loss, std::move(unknowns), options);
  made->copy_unknowns(*this);
  made->priors_ = priors_;
  made->prior_factor_ = prior_factor_;
  made->make_product_schedule_ = make_product_schedule_;
  made->origin_ = this;
  made->groups_ = groups_;
  made->windows_ = groups_ ? WindowsOfGroups::own_windows : WindowsOfGroups::none;
  made->shared_unit_ = shared_unit_;
  made->watcher_ = [this](long taken, int reached, int from) {
    if (watcher_) watcher_(taken, reached, from);
    if (journal_ && journal_->poll() == SweepJournal::Request::stop) journal_->stop("in multiple shooting");
  };
  return made;
}

void InverseProblem::share_windows(MPI_Comm all, int group) {
  collectively(all, [&] {
    if (has_experiments())
      throw Error("groups of processes cannot share the windows of a problem with several experiments",
                  ErrorKind::input);
    require_shared_unknowns();
  });
  groups_ = std::make_shared<ProcessGroups>(all, comm(), std::vector<int>{group});
  windows_ = WindowsOfGroups::whole_rollout;
}

}  // namespace diffsim
