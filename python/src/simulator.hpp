// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "diffsim/simulation/simulator.hpp"
#include "scene.hpp"

namespace diffsim::python {

/// Python object that owns a simulator.
class SimulatorHandle : public Handle {
 public:
  SimulatorHandle(std::shared_ptr<Simulator> simulator, std::shared_ptr<SharedScene> scene)
      : scene_(std::move(scene)), simulator_(std::move(simulator)), version_(scene_->version()) {}
  ~SimulatorHandle() override {
    const ReleaseScope scope;
    release();
  }
  void release() override {
    last_.reset();
    simulator_.reset();
    scene_.reset();
  }

  const std::shared_ptr<SharedScene>& scene() const {
    if (!scene_) throw_finalised();
    return scene_;
  }
  /// Returns the simulator, after preparing the scene again if the scene has changed. Throws Error during a sweep.
  Simulator& get() {
    scene()->require_idle();
    if (version_ != scene_->version()) {
      simulator_->scene();
      version_ = scene_->version();
    }
    return *simulator_;
  }
  DifferentiableSimulator& differentiable() { return dynamic_cast<DifferentiableSimulator&>(get()); }
  /// Returns the simulator during a sweep that the caller has begun.
  DifferentiableSimulator& differentiable_in_sweep() { return dynamic_cast<DifferentiableSimulator&>(*simulator_); }
  const std::shared_ptr<Simulator>& shared() const { return simulator_; }
  MPI_Comm comm() const { return scene()->get().mesh()->comm(); }
  double dt() { return const_cast<DifferentiableScene&>(scene()->get()).dt(); }

  std::shared_ptr<Trajectory> last_;  ///< trajectory of the last rollout of a differentiable simulator
  long version_of_rollout_ = -1;      ///< version of the scene at the last rollout
  long num_sweeps_ = 0;               ///< number of rollouts and other sweeps so far
  bool has_gradient_ = false;         ///< true if the gradient of the last rollout has been computed

 private:
  std::shared_ptr<SharedScene> scene_;
  std::shared_ptr<Simulator> simulator_;
  long version_;
};

/// Python object that owns a differentiable simulator.
class DifferentiableSimulatorHandle final : public SimulatorHandle {
 public:
  using SimulatorHandle::SimulatorHandle;
};

}  // namespace diffsim::python
