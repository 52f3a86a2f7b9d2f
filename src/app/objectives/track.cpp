// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/inputs.hpp"
#include "app/objective_types.hpp"
#include "app/scene_sections.hpp"
#include "app/text_file.hpp"
#include "diffsim/inverse/losses.hpp"
#include "io/observations.hpp"

namespace diffsim::app {
namespace {

/// Misfit of positions from those in a file: positions of the vertices of a region (TrackLoss) or of material points.
class TrackObjective : public Objective {
 public:
  std::string observations;               ///< path of the observations file
  std::optional<std::vector<int>> steps;  ///< steps of the file to use; if absent, all steps
  RegionName region;
  Place place;  ///< location of the key `observations` in the scene file

  std::unique_ptr<Loss> make_loss(const Scene& scene, DifferentiableScene& solver) const override;
  std::vector<RegionName> regions() const override { return {region}; }
  std::string observations_file() const override { return observations; }
};

/// Creates the loss of positions of material points, or returns nullptr if the observations file has no points.
std::unique_ptr<Loss> make_point_track(const TrackObjective& track, const Scene& scene, const TetrahedralMesh& mesh) {
  std::vector<ObservedPoints> observed;
  at_place(track.place, [&] {
    observed = read_observed_points(mesh, track.observations, track.steps.value_or(std::vector<int>{}));
  });
  if (observed.empty()) return nullptr;
  if (track.region.name != "all") track.region.place.fail("cannot be combined with observed points; remove the region");
  for (const ObservedPoints& one : observed) require_steps(track.place, one.positions.rbegin()->first, scene);
  std::unique_ptr<Loss> loss;
  at_place(track.place, [&] { loss = make_point_track_loss(mesh, observed); });
  return loss;
}

std::unique_ptr<Loss> TrackObjective::make_loss(const Scene& scene, DifferentiableScene& solver) const {
  const TrackObjective& track = *this;
  const TetrahedralMesh& mesh = *solver.mesh();
  require_readable(mesh.comm(), track.observations, track.place);
  if (std::unique_ptr<Loss> loss = make_point_track(track, scene, mesh)) return loss;
  Observations observed;
  at_place(track.place,
           [&] { observed = read_observations(mesh, track.observations, track.steps.value_or(std::vector<int>{})); });
  if (!observed.steps.empty()) require_steps(track.place, observed.steps.back(), scene);
  std::unique_ptr<Loss> loss;
  at_place(track.place,
           [&] { loss = std::make_unique<TrackLoss>(mesh, observed.positions, find_region(mesh, track.region)); });
  return loss;
}

std::shared_ptr<const Objective> parse_track(const Mapping& mapping, const Scene& scene) {
  auto made = std::make_shared<TrackObjective>();
  TrackObjective& track = *made;
  const Value& path = mapping.need("observations", "the path of an HDF5 file laid out as trajectory.h5");
  track.observations = beside_scene(to_text(path), scene);
  track.place = path.place;
  track.region = parse_region_or_all(mapping);
  track.steps = parse_steps(mapping, scene);
  return made;
}

}  // namespace

ObjectiveType track_objective() {
  return {
      .name = "track", .keys = {"type", "observations", "steps", "region", "noise", "weight"}, .parse = &parse_track};
}

}  // namespace diffsim::app
