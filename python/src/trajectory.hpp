// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "diffsim/core/error.hpp"
#include "simulator.hpp"

namespace diffsim::python {

/// Python object that owns the states of a rollout. A trajectory also owns the simulator, which therefore lives as long
/// as all its trajectories.
class TrajectoryHandle final : public Handle {
 public:
  TrajectoryHandle(std::shared_ptr<Trajectory> trajectory, const SimulatorHandle& simulator)
      : scene_(simulator.scene()),
        simulator_(simulator.shared()),
        trajectory_(std::move(trajectory)),
        version_(scene_->version()) {}
  ~TrajectoryHandle() override {
    const ReleaseScope scope;
    release();
  }
  void release() override {
    trajectory_.reset();
    simulator_.reset();
    scene_.reset();
  }
  Trajectory& get() const {
    if (!trajectory_) throw_finalised();
    return *trajectory_;
  }
  const std::shared_ptr<SharedScene>& scene() const {
    if (!scene_) throw_finalised();
    return scene_;
  }
  /// Returns the state after step n. Throws Error if the scene has changed since the rollout.
  const State& state(int n) const {
    Trajectory& trajectory = get();
    scene_->require_idle();
    if (scene_->version() != version_)
      throw Error("the scene or its parameters have changed since the rollout; read the states before, or run again");
    return trajectory.state(n);
  }
  /// Throws Error (input) if `scene` is not the scene of the rollout.
  void require_scene(const SharedScene& scene) const {
    if (&scene.get() != &scene_->get())
      throw Error("the sensor belongs to another scene than the trajectory", ErrorKind::input);
  }

 private:
  std::shared_ptr<SharedScene> scene_;
  std::shared_ptr<Simulator> simulator_;
  std::shared_ptr<Trajectory> trajectory_;
  long version_;
};

}  // namespace diffsim::python
