// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "app/inputs.hpp"
#include "app/setup.hpp"
#include "app/text_file.hpp"
#include "core/nearest_word.hpp"
#include "diffsim/body/joint.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "io/observations.hpp"

namespace diffsim::app {
namespace {

/// Throws InputError at `place` if `last`, the last step of an observations file, is after the last step of the run.
void require_steps(const Place& place, int last, const Scene& scene) {
  if (last > scene.solver.steps)
    place.fail(
        fmt::format("has step {}, which is after the run's last step, {}; give `steps: [...]` or raise solver.steps",
                    last, scene.solver.steps));
}

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

std::unique_ptr<Loss> make_track(const TrackObjective& track, const Scene& scene, const TetrahedralMesh& mesh) {
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

std::unique_ptr<Loss> make_target(const TargetObjective& target, const Scene& scene, const TetrahedralMesh& mesh) {
  const int step = target.step < 0 ? scene.solver.steps : target.step;
  const Region& region = find_region(mesh, target.region);
  if (target.of_velocity) return std::make_unique<TargetVelocityLoss>(mesh, region, target.target, step);
  return std::make_unique<TargetPositionLoss>(mesh, region, target.target, step);
}

std::unique_ptr<Loss> make_joint(const JointObjective& objective, const Scene& scene, const TetrahedralMesh& mesh) {
  std::vector<Joint> joints;
  for (const JointEntry& entry : scene.joints) joints.push_back(entry.joint);
  for (const RobotEntry& entry : scene.robots)
    joints.insert(joints.end(), entry.robot->joints.begin(), entry.robot->joints.end());
  const auto joint =
      std::find_if(joints.begin(), joints.end(), [&](const Joint& other) { return other.name == objective.joint; });
  if (joint == joints.end()) {
    std::vector<std::string> names;
    for (const Joint& known : joints) names.push_back(known.name);
    const std::string close = nearest(objective.joint, names);
    objective.place.fail("there is no joint '" + objective.joint + "'" +
                         (close.empty() ? "" : "; did you mean '" + close + "'?"));
  }
  const std::int64_t steps = scene.solver.steps;
  const std::vector<double> given =
      load_array(mesh.comm(), objective.target,
                 objective.all_steps ? std::vector<Shape>{{}, {steps}} : std::vector<Shape>{{}}, "a number or [steps]")
          .values;
  std::map<int, double> targets;
  const int last = static_cast<int>(steps);
  if (!objective.all_steps) targets[objective.step < 0 ? last : objective.step] = given.at(0);
  for (int n = 1; objective.all_steps && n <= last; ++n)
    targets[n] = given.size() == 1 ? given[0] : given[static_cast<std::size_t>(n) - 1];
  std::unique_ptr<Loss> loss;
  at_place(objective.place, [&] { loss = std::make_unique<JointLoss>(mesh, *joint, std::move(targets)); });
  return loss;
}

std::unique_ptr<Loss> make_sensor_loss(const SensorObjective& objective, const Scene& scene,
                                       DifferentiableScene& solver) {
  const MPI_Comm comm = solver.mesh()->comm();
  const std::shared_ptr<Sensor> sensor = make_sensor(objective.sensor, solver);
  std::map<int, std::vector<double>> observed;
  if (objective.observations.empty()) {
    observed[objective.step < 0 ? scene.solver.steps : objective.step] = objective.target;
  } else {
    require_readable(comm, objective.observations, objective.place);
    at_place(objective.place, [&] {
      observed = read_observed_values(comm, objective.observations, objective.datasets, sensor->components().size(),
                                      objective.steps.value_or(std::vector<int>{}));
    });
    require_steps(objective.place, observed.rbegin()->first, scene);
  }
  std::unique_ptr<Loss> loss;
  at_place(objective.place,
           [&] { loss = std::make_unique<SensorLoss>(sensor, std::move(observed), objective.options); });
  return loss;
}

std::unique_ptr<Loss> make_silhouette(const SilhouetteObjective& objective, const Scene& scene,
                                      const TetrahedralMesh& mesh) {
  require_readable(mesh.comm(), objective.observations, objective.place);
  std::map<int, std::vector<double>> masks;
  const auto height = static_cast<std::size_t>(objective.camera.height),
             width = static_cast<std::size_t>(objective.camera.width);
  at_place(objective.place, [&] {
    masks = read_observed_images(mesh.comm(), objective.observations, objective.dataset, height, width,
                                 objective.steps.value_or(std::vector<int>{}));
  });
  require_steps(objective.place, masks.rbegin()->first, scene);
  std::unique_ptr<Loss> loss;
  at_place(objective.place, [&] {
    loss = make_silhouette_loss(mesh, objective.camera, masks,
                                {.region = objective.region.name, .filter = objective.filter});
  });
  return loss;
}

}  // namespace

std::unique_ptr<Loss> make_sensor_value(const SensorValueEntry& entry, const Scene& scene,
                                        DifferentiableScene& solver) {
  std::vector<int> steps = entry.steps.value_or(std::vector<int>{});
  if (entry.step) {
    steps.push_back(*entry.step < 0 ? scene.solver.steps : *entry.step);
  } else if (!entry.steps) {
    for (int n = 1; n <= scene.solver.steps; ++n) steps.push_back(n);
  }
  std::unique_ptr<Loss> loss;
  at_place(entry.sensor.place, [&] {
    loss = std::make_unique<SensorValueLoss>(make_sensor(entry.sensor, solver), entry.weights, std::move(steps),
                                             entry.power);
  });
  if (entry.is_maximised) loss->multiply(-1.0);
  return loss;
}

namespace {

/// Visitor that creates the loss of an objective.
struct MakeLoss {
  const Scene& scene;
  DifferentiableScene& solver;
  const TetrahedralMesh& mesh = *solver.mesh();
  std::unique_ptr<Loss> operator()(const TrackObjective& track) const { return make_track(track, scene, mesh); }
  std::unique_ptr<Loss> operator()(const TargetObjective& target) const { return make_target(target, scene, mesh); }
  std::unique_ptr<Loss> operator()(const JointObjective& joint) const { return make_joint(joint, scene, mesh); }
  std::unique_ptr<Loss> operator()(const SensorObjective& sensor) const {
    return make_sensor_loss(sensor, scene, solver);
  }
  std::unique_ptr<Loss> operator()(const SensorValueEntry& entry) const {
    return make_sensor_value(entry, scene, solver);
  }
  std::unique_ptr<Loss> operator()(const SilhouetteObjective& outline) const {
    return make_silhouette(outline, scene, mesh);
  }
  std::unique_ptr<Loss> operator()(const EffortObjective& effort) const {
    return std::make_unique<EffortLoss>(mesh.comm(), effort.parameter, scene.solver.dt, scene.solver.steps);
  }
};

}  // namespace

std::unique_ptr<SumLoss> make_loss(const Scene& scene, DifferentiableScene& solver) {
  auto sum = std::make_unique<SumLoss>();
  for (const ObjectiveEntry& objective : scene.objectives) {
    std::unique_ptr<Loss> loss = std::visit(MakeLoss{scene, solver}, objective.kind);
    const auto* sensor = std::get_if<SensorObjective>(&objective.kind);
    const bool has_covariance = sensor && !sensor->options.covariance.empty();
    if (objective.noise || has_covariance)
      sum->add_likelihood(std::move(loss), objective.noise.value_or(1.0), objective.weight);
    else
      sum->add(std::move(loss), objective.weight);
  }
  return sum;
}

std::string missing_observations(MPI_Comm comm, const Scene& scene) {
  for (const ObjectiveEntry& objective : scene.objectives) {
    const auto* track = std::get_if<TrackObjective>(&objective.kind);
    if (track && !is_there(comm, track->observations)) return track->observations;
    const auto* sensor = std::get_if<SensorObjective>(&objective.kind);
    if (sensor && !sensor->observations.empty() && !is_there(comm, sensor->observations)) return sensor->observations;
    const auto* outline = std::get_if<SilhouetteObjective>(&objective.kind);
    if (outline && !is_there(comm, outline->observations)) return outline->observations;
  }
  return {};
}

}  // namespace diffsim::app
