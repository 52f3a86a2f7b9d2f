// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/inverse_job.hpp"

#include <algorithm>
#include <cmath>

#include "app/inputs.hpp"

namespace diffsim::app {

InverseJob::InverseJob(Job& job) : progress(Progress::style_for(job.rank), job.line.command, "steps"), job_(job) {
  const Scene& scene = job.scene;
  mesh = make_mesh(job.comm, scene);
  job.report.set_mesh(*mesh);
  solver = std::make_unique<DifferentiableSolver>(make_solver(scene, mesh));
  objectives = make_loss(scene, *mesh);
  loss = std::make_unique<WatchedLoss>(*objectives, progress, scene.solver.steps);
  std::vector<Unknown> unknowns = make_unknowns(scene, *solver);
  warn_if_unstable(job, *solver);
  job.begin();

  at_place(scene.checkpoint_place, [&] { store = make_store(scene.checkpoint, job.comm); });
  problem = std::make_unique<InverseProblem>(
      solver->model(), solver->initial_state(), scene.solver.steps, *loss, std::move(unknowns),
      [this](int num_steps) { return next_schedule(num_steps); }, *store);
}

std::unique_ptr<Schedule> InverseJob::next_schedule(int num_steps) {
  add_statistics();
  if (!job_.scene.checkpoint.memory.is_given()) return make_schedule(job_.scene.checkpoint, num_steps);
  if (!plan_) make_plan(num_steps);
  return plan_->checkpoints.make_schedule();
}

void InverseJob::make_plan(int num_steps) {
  std::vector<std::string> names;
  for (const Unknown& unknown : problem->unknowns())
    if (solver->parameters().find(unknown.parameter) &&
        std::find(names.begin(), names.end(), unknown.parameter) == names.end())
      names.push_back(unknown.parameter);
  at_place(job_.scene.checkpoint_place, [&] {
    plan_ = plan_sweep(job_.scene.checkpoint, solver->model(), problem->initial(),
                       solver->parameters().zero_like(names), num_steps);
  });
  progress.clear();
  job_.out << "checkpoints: " << plan_->summary() << '\n' << std::flush;
}

void InverseJob::add_statistics() {
  if (problem) done_ += problem->statistics();
}

void InverseJob::report_sweeps() {
  add_statistics();
  job_.report.add_seconds("forward", done_.forward_seconds);
  job_.report.add_seconds("backward", done_.backward_seconds);
  const CheckpointOptions& options = job_.scene.checkpoint;
  nlohmann::ordered_json& report = job_.report["checkpoint"];
  report = {{"schedule", plan_ ? "planned" : options.schedule},
            {"store", options.store},
            {"advances", done_.advances},
            {"recordings", done_.recordings},
            {"stores", done_.stores},
            {"restores", done_.restores},
            {"bytes_written", done_.bytes_written},
            {"seconds_waiting", done_.seconds_waiting}};
  if (!plan_) return;
  const CheckpointPlan& plan = plan_->checkpoints;
  report["plan"] = {{"snapshots", plan.snapshots},
                    {"records", plan.records},
                    {"bytes", plan.bytes},
                    {"recomputations", plan.recomputations},
                    {"step_seconds", plan_->step_seconds},
                    {"adjoint_seconds", plan_->adjoint_seconds},
                    {"expected_seconds", plan_->expected_seconds()}};
}

double gradient_norm(const InverseProblem& problem, const std::vector<std::vector<double>>& gradients) {
  double shared = 0.0, own = 0.0;
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    double& sum = problem.unknowns()[k].shared() ? shared : own;
    for (const double value : gradients[k]) sum += value * value;
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, problem.comm()));
  return std::sqrt(shared + own);
}

}  // namespace diffsim::app
