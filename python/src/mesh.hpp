// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "runtime.hpp"
#include "scene_record.hpp"

namespace diffsim::python {

/// Python object that owns a mesh.
class MeshHandle final : public Handle {
 public:
  MeshHandle() = default;
  explicit MeshHandle(std::shared_ptr<TetrahedralMesh> mesh) : mesh_(std::move(mesh)) {}
  ~MeshHandle() override {
    const ReleaseScope scope;
    release();
  }
  void release() override { mesh_.reset(); }

  TetrahedralMesh& get() const { return *shared(); }
  const std::shared_ptr<TetrahedralMesh>& shared() const {
    if (!mesh_) throw_finalised();
    return mesh_;
  }
  nb::object comm;    ///< mpi4py communicator, which must live as long as the mesh
  MeshRecord record;  ///< sources of the mesh, which all objects of the mesh share

 private:
  std::shared_ptr<TetrahedralMesh> mesh_;
};

}  // namespace diffsim::python
