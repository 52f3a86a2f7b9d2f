// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/trajectory.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "app/setup.hpp"
#include "app/unknown_files.hpp"
#include "body/parameters.hpp"
#include "core/broadcast.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/io/trajectory.hpp"
#include "io/trajectory_frame.hpp"

namespace diffsim::app {
namespace {

/// Exception that ends a rollout on all ranks.
struct Stopped {
  int step, cause;
};

/// Cause of a stop request on any rank, the same on all ranks; 0 if there is none.
int agreed_cause(const StopRequest* stop, MPI_Comm comm) {
  if (!stop) return 0;
  int cause = stop->cause();
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &cause, 1, MPI_INT, MPI_MAX, comm));
  return cause;
}

/// Adds the contact forces between each pair of bodies or obstacles to the frames. The forces of all pairs are computed
/// together, once per frame.
void add_contact_forces(TrajectoryWriter& writer, DifferentiableScene& solver) {
  struct Frame {
    int step = -1;
    std::vector<ContactForce> forces;
  };
  const auto frame = std::make_shared<Frame>();
  const std::vector<ContactForce> pairs = solver.contact_forces(0, solver.initial_state());
  for (std::size_t k = 0; k < pairs.size(); ++k)
    writer.add_values({"contact/" + pairs[k].between[0] + "|" + pairs[k].between[1],
                       "N",
                       {"x", "y", "z"},
                       [frame, k, &solver](int step, const State& state) {
                         if (frame->step != step) *frame = {step, solver.contact_forces(step, state)};
                         const std::array<double, 3>& force = frame->forces[k].force;
                         return std::vector<double>(force.begin(), force.end());
                       }});
}

}  // namespace

std::vector<std::string> fixed_or_moved_regions(const Scene& scene) {
  std::vector<std::string> names;
  for (const BoundaryEntry& entry : scene.boundary) {
    const bool is_listed = entry.kind == BoundaryEntry::Kind::fix || entry.kind == BoundaryEntry::Kind::move;
    if (is_listed && std::find(names.begin(), names.end(), entry.region.name) == names.end())
      names.push_back(entry.region.name);
  }
  return names;
}

std::string scene_of_run(const Job& job) {
  std::string lines;
  collectively(job.comm, [&] {
    if (job.rank != 0) return;
    std::vector<std::string> without{"objective", "parameters", "priors", "constraints"};
    if (job.scene.feedback.empty()) without.push_back("sensors");  // a feedback makes the states depend on sensors
    lines = to_lines(problem_parts(job.scene_text, job.scene.file, without));
  });
  broadcast_text(lines, job.comm);
  return lines;
}

namespace {

/// Adds the coordinates of joints to each frame: first the joints of the scene, then those of each robot.
void add_joints(TrajectoryWriter& writer, const Job& job, DifferentiableScene& solver) {
  const std::vector<Joint> joints = solver.system().joints();
  std::size_t first = 0;
  const auto add = [&](const std::string& dataset, std::vector<std::string> names) {
    if (names.empty()) return;
    const std::size_t begin = first, count = names.size();
    first += count;
    std::vector<std::string> units;
    for (std::size_t j = begin; j < first; ++j)
      units.emplace_back(JointParameters::of_kind(JointParameters::target, joints[j].kind).unit);
    writer.add_values(
        {dataset, joined_units(units), std::move(names), [&solver, begin, count](int, const State& state) {
           const std::vector<double> all = solver.joint_coordinates(state);
           const auto from = all.begin() + static_cast<std::ptrdiff_t>(begin);
           return std::vector<double>(from, from + static_cast<std::ptrdiff_t>(count));
         }});
  };
  std::vector<std::string> names;
  for (const JointEntry& entry : job.scene.joints) names.push_back(entry.joint.name);
  add("joints", names);
  for (const RobotEntry& entry : job.scene.robots) {
    names.clear();
    for (const Joint& joint : entry.robot->joints) names.push_back(joint.name.substr(entry.name.size() + 1));
    add("bodies/" + entry.name + "/joints", names);
  }
}

/// Sensors that the scene's output contains, with the names of their datasets.
std::vector<std::pair<std::string, std::shared_ptr<Sensor>>> sensors_of(const Job& job, DifferentiableScene& solver) {
  std::vector<std::pair<std::string, std::shared_ptr<Sensor>>> all;
  if (job.scene.output.reactions)
    for (const std::string& region : fixed_or_moved_regions(job.scene))
      all.emplace_back("reaction/" + region,
                       solver.sensor({.quantity = SensorQuantity::reaction, .place = {.region = region}}));
  for (const SensorEntry& entry : job.scene.sensors)
    all.emplace_back("sensors/" + entry.name, make_sensor(entry, solver));
  return all;
}

}  // namespace

void add_sensors(TrajectoryWriter& writer, const Job& job, DifferentiableScene& solver) {
  for (const auto& [dataset, sensor] : sensors_of(job, solver))
    writer.add_values({dataset, sensor->unit(), sensor->components(),
                       [sensor = sensor](int step, const State& state) { return sensor->value(step, state); }});
}

void add_sensors_with_tangents(TrajectoryWriter& writer, const Job& job, DifferentiableScene& solver,
                               const TangentFrame& frame) {
  for (const auto& [dataset, sensor] : sensors_of(job, solver)) {
    writer.add_values(
        {dataset, sensor->unit(), sensor->components(),
         [sensor = sensor, &frame](int step, const State&) { return sensor->value(step, *frame.state); }});
    writer.add_values(
        {dataset + "_tangent", sensor->unit(), sensor->components(), [sensor = sensor, &frame](int step, const State&) {
           return sensor->tangent(step, *frame.state, *frame.tangent, *frame.direction);
         }});
  }
}

std::string record_trajectory(Job& job, DifferentiableScene& solver,
                              const std::function<void(const StateObserver&)>& roll, const StopRequest* stop,
                              EarlierFrames* earlier) {
  const TetrahedralMesh& mesh = *solver.mesh();
  const int steps = job.scene.solver.steps, every = job.scene.output.every;
  const int frames = steps / every + 1 + (steps % every != 0 ? 1 : 0);
  TrajectoryWriter writer(mesh, job.output.path("trajectory.h5"), job.scene.output.fields, frames);
  writer.label(scene_attribute, scene_of_run(job));
  add_joints(writer, job, solver);
  add_sensors(writer, job, solver);
  if (job.scene.output.contact_forces && solver.has_contact_forces()) add_contact_forces(writer, solver);
  const auto finish = [&](bool complete) {
    const Stopwatch io(job.report, "io");
    writer.finish(complete);
  };
  if (earlier) {
    const Stopwatch io(job.report, "io");
    for (const std::int64_t step : earlier->steps) {
      read_trajectory_frame(mesh, earlier->path, static_cast<int>(step), earlier->state);
      writer.write(static_cast<int>(step), static_cast<double>(step) * job.scene.solver.dt, earlier->state);
    }
  }
  try {
    roll([&](int n, const State& state) {
      const int cause = n < steps ? agreed_cause(stop, job.comm) : 0;
      if (n % every == 0 || n == steps || cause != 0 || writer.num_frames() == 0) {
        const Stopwatch io(job.report, "io");
        writer.write(n, n * job.scene.solver.dt, state);
      }
      if (cause != 0) throw Stopped{n, cause};
    });
  } catch (const Stopped& stopped) {
    finish(false);
    return fmt::format("stopped at step {} of {} by {}", stopped.step, steps, StopRequest::name(stopped.cause));
  } catch (const Error&) {
    if (job.agreement.reached()) finish(false);
    throw;
  }
  finish(true);
  return {};
}

}  // namespace diffsim::app
