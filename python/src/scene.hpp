// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "diffsim/simulation/simulator.hpp"
#include "runtime.hpp"

namespace diffsim::python {

/// Scene that Python objects share: a scene of its own, or that of a simulator.
class SharedScene {
 public:
  explicit SharedScene(std::shared_ptr<DifferentiableScene> scene) : scene_(std::move(scene)) {}
  explicit SharedScene(std::shared_ptr<Simulator> simulator) : simulator_(std::move(simulator)) {}

  const DifferentiableScene& get() const { return const_cast<SharedScene*>(this)->scene(); }
  /// Scene to be changed. Trajectories of earlier rollouts become invalid. Throws Error while a function of the caller
  /// runs within a rollout or a reverse sweep.
  DifferentiableScene& change() {
    require_idle();
    ++version_;
    return scene();
  }
  /// Number of changes so far.
  long version() const { return version_; }
  void require_idle() const;

 private:
  friend class Sweep;
  DifferentiableScene& scene() { return simulator_ ? simulator_->scene() : *scene_; }

  std::shared_ptr<DifferentiableScene> scene_;
  std::shared_ptr<Simulator> simulator_;
  long version_ = 0;
  bool in_sweep_ = false;
};

/// Scope of a rollout or a reverse sweep of a scene, during which functions of the caller must not change the scene.
class Sweep {
 public:
  explicit Sweep(SharedScene& scene) : scene_(scene) {
    scene.require_idle();
    scene.in_sweep_ = true;
  }
  ~Sweep() { scene_.in_sweep_ = false; }
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

 private:
  SharedScene& scene_;
};

/// Handle of the scene, or of its parameters.
class SceneHandle : public Handle {
 public:
  explicit SceneHandle(std::shared_ptr<SharedScene> scene) : scene_(std::move(scene)) {}
  ~SceneHandle() override {
    const ReleaseScope scope;
    release();
  }
  void release() override { scene_.reset(); }
  const std::shared_ptr<SharedScene>& shared() const {
    if (!scene_) throw_finalised();
    return scene_;
  }

 private:
  std::shared_ptr<SharedScene> scene_;
};

/// Handle of the parameters of a scene.
class ParametersHandle final : public SceneHandle {
 public:
  using SceneHandle::SceneHandle;
};

/// Materials of a Python object: a material or a sequence of materials.
Materials materials_of(nb::handle object);

}  // namespace diffsim::python
