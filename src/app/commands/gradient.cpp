// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include "app/approximation.hpp"
#include "app/unknown_files.hpp"

namespace diffsim::app {

bool gradient(Job& job) {
  InverseJob inverse(job);
  InverseProblem& problem = *inverse.problem;
  const std::vector<double> u = problem.start();
  std::vector<double> by_u;
  const double loss = problem.gradient(u, by_u);
  inverse.make_room();
  std::vector<std::vector<double>> gradients;
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k)
    gradients.push_back(problem.physical_gradient(k, u, by_u));
  const double norm = gradient_norm(problem, gradients);
  if (job.groups.number == 0) {
    const Stopwatch io(job.report, "io");
    Hdf5File file = Hdf5File::create(job.comm, job.output.path("gradient.h5"), "diffsim gradient", 1);
    inverse.label(file);
    file.write_array<double>("/loss", {loss}, {}, unit_of_loss(problem.unit()));
    write_unknowns(
        file, "gradient", job.scene, *inverse.mesh, problem, [&](std::size_t k) { return gradients[k]; }, true);
    file.publish();
  }
  const SweepStatistics& statistics = problem.statistics();
  job.report["loss"] = loss;
  report_experiments(job, problem);
  job.report["gradient_norm"] = norm;
  inverse.report_sweeps();
  inverse.report_adjoint();
  inverse.warn_about_independent_unknowns(loss);
  std::string approximation = inverse.approximation();
  if (!approximation.empty() && job.scene.measure_error) {
    const std::vector<double> whole = gradient_by(job, inverse, exact(job.scene.checkpoint), u);
    const double error = relative_error(job.comm, by_u, whole);
    job.report["checkpoint"]["gradient_error"] = error;
    approximation += fmt::format("; relative error of the gradient: {:.2e}", error);
  }
  inverse.progress.clear();
  job.out << fmt::format("gradient: {}; forward {:.3g} s, backward {:.3g} s\n", size_text(job.scene, *inverse.mesh),
                         statistics.forward_seconds, statistics.backward_seconds)
          << fmt::format("loss {:.10g} {}, norm of the gradient {:.6g}\n", loss, problem.unit(), norm);
  if (!approximation.empty()) job.out << "APPROXIMATE: " << approximation << '\n';
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    const std::vector<std::string> names = value_names(problem, k);
    for (std::size_t i = 0; i < names.size() && names.size() <= 20; ++i)
      job.out << fmt::format("  dL/d {} = {:.10g}\n", names[i], gradients[k][i]);
  }
  job.out << "wrote " << job.output.path("gradient.h5") << ", " << job.output.path("report.json") << '\n';
  inverse.finish();
  return true;
}

}  // namespace diffsim::app
