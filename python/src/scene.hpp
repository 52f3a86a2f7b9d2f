// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "diffsim/simulation/simulator.hpp"
#include "runtime.hpp"
#include "scene_record.hpp"

namespace diffsim::python {

/// Scene that several Python objects share: an independent scene, or the scene of a simulator.
class SharedScene {
 public:
  SharedScene(std::shared_ptr<DifferentiableScene> scene, SceneRecord record)
      : scene_(std::move(scene)), record_(std::move(record)) {}
  SharedScene(std::shared_ptr<Simulator> simulator, SceneRecord record)
      : simulator_(std::move(simulator)), record_(std::move(record)) {}

  const DifferentiableScene& get() const { return const_cast<SharedScene*>(this)->scene(); }
  /// Returns the scene for changes, which make trajectories of earlier rollouts invalid. Throws Error during a rollout
  /// or a reverse sweep, in which Python losses and observers run.
  DifferentiableScene& change() {
    require_idle();
    ++version_;
    return scene();
  }
  /// Returns the scene for calls that change neither parameters nor constraints. Throws the same Errors as `change`.
  DifferentiableScene& use() {
    require_idle();
    return scene();
  }
  /// Begins a block in which a program writes the memory of a parameter, and returns the scene. Until `end_edit`,
  /// `change` and `use` throw. Throws Error during a rollout or a reverse sweep. Blocks may be nested.
  DifferentiableScene& begin_edit() {
    require_no_sweep();
    ++num_edits_;
    ++version_;
    return scene();
  }
  /// Ends the block that `begin_edit` began, and returns the scene.
  DifferentiableScene& end_edit() {
    --num_edits_;
    ++version_;
    return scene();
  }
  /// Returns the mesh, with an owner that ranks destroy together.
  std::shared_ptr<TetrahedralMesh> mesh() const { return mesh_ ? mesh_ : get().mesh(); }
  /// Sets the result of `mesh`, for a scene whose mesh has been created by the scene's owner.
  void set_mesh(std::shared_ptr<TetrahedralMesh> mesh) { mesh_ = std::move(mesh); }
  /// Returns a number that changes with each change of the scene through this object.
  long version() const { return version_; }
  /// Throws Error during a rollout, a reverse sweep, or a block between `begin_edit` and `end_edit`.
  void require_idle() const;
  /// Returns the options of contact with which the scene was created or changed; no value without contact.
  const std::optional<ContactOptions>& contact() const { return contact_; }
  void set_contact(const ContactOptions& options) { contact_ = options; }
  /// Returns the record of how the scene was made.
  const SceneRecord& record() const { return record_; }

 private:
  friend class Sweep;
  void require_no_sweep() const;
  DifferentiableScene& scene() { return simulator_ ? simulator_->scene() : *scene_; }

  std::shared_ptr<DifferentiableScene> scene_;
  std::shared_ptr<Simulator> simulator_;
  std::shared_ptr<TetrahedralMesh> mesh_;  // nullptr for the mesh of the scene
  SceneRecord record_;
  std::optional<ContactOptions> contact_;
  long version_ = 0;
  int num_edits_ = 0;  // number of blocks that `begin_edit` has begun and `end_edit` has not ended
  bool in_sweep_ = false;
};

/// Scope of a rollout or a reverse sweep of a scene. In this scope, Python losses and observers must not change the
/// scene.
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

/// Python object that refers to a scene.
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

/// Python object that refers to the parameters of a scene.
class ParametersHandle final : public SceneHandle {
 public:
  using SceneHandle::SceneHandle;
};

/// Returns the materials in a Python object, which is a material or a sequence of materials.
Materials materials_of(nb::handle object);

}  // namespace diffsim::python
