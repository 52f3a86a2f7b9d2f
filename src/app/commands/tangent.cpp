// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "adjoint/directional.hpp"
#include "app/inputs.hpp"
#include "app/inverse_job.hpp"
#include "app/trajectory.hpp"
#include "diffsim/io/trajectory.hpp"

namespace diffsim::app {
namespace {

/// Returns the direction du at u that the scene defines by the keys `direction`. For a parameter without this key, all
/// dp are 1.
std::vector<double> direction_of(const Job& job, const InverseJob& inverse, const std::vector<double>& u) {
  const InverseProblem& problem = *inverse.problem;
  std::vector<double> du(problem.size(), 0.0);
  for (std::size_t k = 0; k < job.scene.parameters.size(); ++k) {
    const ParameterEntry& entry = job.scene.parameters[k];
    const Unknown& unknown = problem.unknowns()[k];
    std::vector<double> dp = problem.physical(k, u);
    const Array* const array = entry.direction ? entry.direction->array() : nullptr;
    if (!entry.direction || (array && array->shape.empty())) {
      dp.assign(dp.size(), array ? array->values.front() : 1.0);
    } else {
      std::vector<double> given =
          load_unknown(job.scene, *inverse.mesh, entry, *entry.direction, unknown, problem.components(k));
      if (given.size() == 1) given.assign(dp.size(), given.front());
      require_finite(job.comm, given, entry, entry.direction->place);
      dp = std::move(given);
    }
    const std::vector<double> part = problem.search_direction(k, u, dp);
    std::copy(part.begin(), part.end(), du.begin() + static_cast<std::ptrdiff_t>(problem.offset(k)));
  }
  return du;
}

}  // namespace

bool tangent(Job& job) {
  if (job.scene.output.contact_forces)
    job.warn("output.fields: contact_forces have no derivatives and are not written");
  InverseJob inverse(job);
  InverseProblem& problem = *inverse.problem;
  const std::vector<double> u = problem.start(), du = direction_of(job, inverse, u);
  const int steps = job.scene.solver.steps, every = job.scene.output.every;
  std::vector<std::string> fields = job.scene.output.fields;
  for (const std::string& name : job.scene.output.fields) fields.push_back(name + "_tangent");
  TrajectoryWriter writer(*inverse.mesh, job.output.path("tangent.h5"), fields, steps / every + 2);
  writer.label("tangent", "datasets ending in _tangent are derivatives along the direction of the parameters");
  TangentFrame frame;
  add_sensors_with_tangents(writer, job, *inverse.solver, frame);
  JoinedState halves(problem.initial());
  State joined = halves.make_joined();
  const double start = job.report.elapsed();
  const double slope =
      problem.tangent(u, du, [&](int n, const State& state, const State& change, const ParameterSet& direction) {
        if (n % every != 0 && n != steps) return;
        frame = {&state, &change, &direction};
        halves.first.copy_from(state);
        halves.second.copy_from(change);
        halves.join(joined);
        const Stopwatch io(job.report, "io");
        writer.write(n, n * job.scene.solver.dt, joined);
      });
  {
    const Stopwatch io(job.report, "io");
    writer.finish();
  }
  job.report.add_seconds("forward", job.report.elapsed() - start);
  report_solver(job, *inverse.solver);
  job.out << fmt::format("tangent: {}; {:.3g} s\n", size_text(job.scene, *inverse.mesh), job.report.elapsed() - start);
  if (!job.scene.objectives.empty()) {
    job.report["loss_derivative"] = slope;
    job.out << fmt::format("derivative of the loss along the direction: {:.10g} {}\n", slope, problem.unit());
  }
  job.out << "wrote " << job.output.path("tangent.h5") << ", " << job.output.path("tangent.xdmf") << ", "
          << job.output.path("report.json") << '\n';
  return true;
}

}  // namespace diffsim::app
