// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/job.hpp"

#include <fmt/format.h>

#include <cmath>

namespace diffsim::app {

void warn_if_unstable(Job& job, DifferentiableSolver& solver) {
  const double stable = solver.stable_substep();
  const double substep = job.scene.solver.dt / job.scene.solver.substeps;
  if (!(substep > stable)) return;
  job.warn(
      fmt::format("the substep, solver.dt/substeps = {:.3g} s, is above {:.3g} s, below which motions about rest are "
                  "stable; if the run fails use substeps: {:.0f}",
                  substep, stable, std::ceil(job.scene.solver.dt / stable)));
}

std::string size_text(const Scene& scene, const TetrahedralMesh& mesh) {
  return fmt::format("{} steps, {} vertices, {} cells", scene.solver.steps, mesh.num_global_vertices(),
                     mesh.num_global_cells());
}

}  // namespace diffsim::app
