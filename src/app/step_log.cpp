// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/step_log.hpp"

#include <fmt/core.h>

#include <cstdlib>

#include "diffsim/core/error.hpp"

namespace diffsim::app {

StepLog::StepLog(Job& job, DifferentiableScene& solver, std::optional<int> resumed)
    : job_(job), model_(dynamic_cast<const ImplicitModel*>(&solver.time_stepper())) {
  if (job.scene.output.log.empty()) return;
  path_ = job.output.path(job.scene.output.log);
  if (job.rank == 0) {
    const std::string header =
        std::string("step,time") +
        (model_ ? ",newton_iterations,linear_iterations,projections,cuts,obstructions,reductions,newton_residual,"
                  "held_rounds"
                : "") +
        (solver.has_contact_forces() ? ",min_distance,active_pairs,intersections" : "");
    const std::string rows = resumed ? rows_until(*resumed, header) : "";
    file_.open(path_);
    file_ << header << '\n' << rows << std::flush;
  }
  require_written();
}

std::string StepLog::rows_until(int last, const std::string& header) {
  std::ifstream table(path_);
  std::string line, rows;
  if (!std::getline(table, line) || line != header) return "";
  while (std::getline(table, line)) {
    const int n = std::atoi(line.c_str());
    if (n > last || table.eof()) break;  // the last line of a stopped run may be incomplete
    rows += line + '\n';
    if (n == last) kept_ = last;
  }
  return rows;
}

void StepLog::add(int n, const std::optional<ContactState>& contact) {
  if (!file_.is_open()) return;
  if (n == kept_) {
    if (model_) before_ = model_->statistics();
    return;
  }
  const Stopwatch io(job_.report, "io");
  file_ << fmt::format("{},{}", n, n * job_.scene.solver.dt);
  if (model_) {
    // The statistics are reset when a rollout begins, and no step leads to state 0. Therefore all counts in the row of
    // state 0 are zero.
    const ImplicitStatistics now = model_->statistics();
    if (n == 0) before_ = now;
    file_ << fmt::format(",{},{},{},{},{},{},{:.3g},{}", now.newton_iterations - before_.newton_iterations,
                         now.linear_iterations - before_.linear_iterations, now.projections - before_.projections,
                         now.cuts - before_.cuts, now.obstructions - before_.obstructions,
                         now.reductions - before_.reductions,
                         model_->last_residuals().empty() ? 0.0 : model_->last_residuals().back(),
                         now.held_rounds - before_.held_rounds);
    before_ = now;
  }
  if (contact) file_ << fmt::format(",{},{},{}", contact->min_distance, contact->active_pairs, contact->intersections);
  file_ << std::endl;
}

void StepLog::finish() {
  if (!path_.empty()) require_written();
}

void StepLog::require_written() {
  collectively(job_.comm, [&] {
    if (job_.rank == 0 && !file_) throw Error("'" + path_ + "' cannot be written", ErrorKind::system);
  });
}

}  // namespace diffsim::app
