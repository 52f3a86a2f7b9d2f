// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/inverse_job.hpp"

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
  warn_about_solver(job, *solver);
  warn_about_contact(job, *mesh);
  job.begin();

  at_place(scene.checkpoint_place, [&] { store = make_store(scene.checkpoint, job.comm); });
  const auto schedule = [this](int num_steps) {
    add_statistics();
    return make_schedule(job_.scene.checkpoint, num_steps);
  };
  problem = std::make_unique<InverseProblem>(solver->model(), solver->initial_state(), scene.solver.steps, *loss,
                                             std::move(unknowns), schedule, *store);
}

void InverseJob::add_statistics() {
  if (!problem) return;
  forward_seconds_ += problem->statistics().forward_seconds;
  backward_seconds_ += problem->statistics().backward_seconds;
}

void InverseJob::report_seconds() {
  add_statistics();
  job_.report.add_seconds("forward", forward_seconds_);
  job_.report.add_seconds("backward", backward_seconds_);
  report_solver(job_, *solver);
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
