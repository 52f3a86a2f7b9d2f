// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/trajectory.hpp"

#include "diffsim/core/error.hpp"
#include "diffsim/io/trajectory.hpp"

namespace diffsim::app {

void record_trajectory(Job& job, const TetrahedralMesh& mesh, const std::function<void(const StateObserver&)>& roll) {
  const Scene& scene = job.scene;
  const int frames = scene.solver.steps / scene.output.every + 1;
  TrajectoryWriter writer(mesh, job.output.path("trajectory.h5"), scene.output.fields, frames);
  const auto finish = [&](bool complete) {
    const Stopwatch io(job.report, "io");
    writer.finish(complete);
  };
  try {
    roll([&](int n, const State& state) {
      if (n % scene.output.every != 0) return;
      const Stopwatch io(job.report, "io");
      writer.write(n, n * scene.solver.dt, state);
    });
  } catch (const Error&) {
    if (job.agreement.reached()) finish(false);
    throw;
  }
  finish(true);
}

}  // namespace diffsim::app
