// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include "app/inputs.hpp"
#include "app/setup.hpp"
#include "app/text_file.hpp"
#include "io/observations.hpp"

namespace diffsim::app {
namespace {

std::unique_ptr<Loss> make_track(const TrackObjective& track, const Scene& scene, const TetrahedralMesh& mesh) {
  require_readable(mesh.comm(), track.observations, track.place);
  Observations observed;
  at_place(track.place,
           [&] { observed = read_observations(mesh, track.observations, track.steps.value_or(std::vector<int>{})); });
  if (!observed.steps.empty() && observed.steps.back() > scene.solver.steps)
    track.place.fail(
        fmt::format("has step {}, which is after the run's last step, {}; give `steps: [...]` or raise solver.steps",
                    observed.steps.back(), scene.solver.steps));
  std::unique_ptr<Loss> loss;
  at_place(track.place,
           [&] { loss = std::make_unique<TrackLoss>(mesh, observed.positions, find_region(mesh, track.region)); });
  return loss;
}

std::unique_ptr<Loss> make_target(const TargetObjective& target, const Scene& scene, const TetrahedralMesh& mesh) {
  const int step = target.step < 0 ? scene.solver.steps : target.step;
  return std::make_unique<TargetPositionLoss>(mesh, find_region(mesh, target.region), target.target, step);
}

}  // namespace

std::unique_ptr<SumLoss> make_loss(const Scene& scene, const TetrahedralMesh& mesh) {
  auto sum = std::make_unique<SumLoss>();
  for (const ObjectiveEntry& objective : scene.objectives) {
    const auto* track = std::get_if<TrackObjective>(&objective.kind);
    sum->add(
        track ? make_track(*track, scene, mesh) : make_target(std::get<TargetObjective>(objective.kind), scene, mesh),
        objective.weight);
  }
  return sum;
}

std::string missing_observations(MPI_Comm comm, const Scene& scene) {
  for (const ObjectiveEntry& objective : scene.objectives) {
    const auto* track = std::get_if<TrackObjective>(&objective.kind);
    if (track && !is_there(comm, track->observations)) return track->observations;
  }
  return {};
}

}  // namespace diffsim::app
