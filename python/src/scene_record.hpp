// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Records of how meshes and scenes were made, from which scene files are written. In builds without the runner
// (DIFFSIM_PYTHON_SCENES is not defined), records are empty.
#pragma once

#include <mpi.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/contact/contact.hpp"
#include "diffsim/dynamics/integrator.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/region.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim::app {
struct BodyRecord;
struct MeshRecord;
class SceneRecord;
}  // namespace diffsim::app

namespace diffsim::python {

using BodyRecord = std::shared_ptr<const app::BodyRecord>;
using MeshRecord = std::shared_ptr<app::MeshRecord>;
using MakeMesh = std::function<MeshData(MPI_Comm)>;

// ---- bodies and meshes

BodyRecord record_box(const std::array<double, 3>& size, const std::array<int, 3>& cells);
/// `path` may be relative to the current directory.
BodyRecord record_file(const std::string& path, double scale, CellKind cells = CellKind::tetrahedron,
                       bool is_affine = false);
/// Record of a mesh that was made from arrays.
BodyRecord record_arrays();
/// Record of a mesh that a scene file cannot describe. `part`: the mesh, for the message.
BodyRecord record_refused(const std::string& part);
/// Record of an affine body; `make_surface` creates the mesh of its surface.
BodyRecord record_affine(MakeMesh make_surface);
BodyRecord record_rotor();
/// Record of a body whose segments have directors. `director`: direction of all directors, or no value for default
/// ones.
BodyRecord record_with_director(const BodyRecord& body, const std::optional<std::array<double, 3>>& director);
/// Record of a body that is placed after its other placements.
BodyRecord record_placed(const BodyRecord& body, const Placement& placement);
/// Record of a mesh of one body without a name.
MeshRecord record_mesh(const BodyRecord& body);
/// Body of a mesh of several bodies: the name, the record, and the function that creates the body before placement.
struct NamedRecord {
  std::string name;
  BodyRecord record;
  MakeMesh make;
};
/// Record of a mesh of several bodies.
MeshRecord record_mesh(const std::vector<NamedRecord>& bodies);
/// Notes that a region was defined.
void record_region(const MeshRecord& mesh, const std::string& name, const RegionShape& shape, const std::string& body);

// ---- scenes

/// Record of how a scene was made.
class SceneRecord {
 public:
  SceneRecord(MeshRecord mesh, const DifferentiableSolver& solver);
  explicit SceneRecord(std::shared_ptr<app::SceneRecord> record) : record_(std::move(record)) {}

  /// Record of the scene's mesh.
  MeshRecord mesh() const;
  // Parts of the scene, as in app::SceneRecord.
  void fix(const std::string& region, const std::array<bool, 3>& axes, bool clamp = false) const;
  void move(const std::string& region, const std::array<double, 3>& axis, const std::array<double, 3>& origin) const;
  void load(const std::string& key, const std::string& region, std::optional<double> coefficient = {}) const;
  void join(const Joint& joint) const;
  void drive(const std::string& joint, const JointDrive& drive) const;
  void attach(const std::string& region, const std::string& to, double stiffness) const;
  void contact(const ContactOptions& options) const;
  void refuse(const std::string& part) const;
  void save(DifferentiableScene& scene, const std::string& path, std::optional<int> num_steps) const;

 private:
  std::shared_ptr<app::SceneRecord> record_;  // nullptr in builds without the runner
};

}  // namespace diffsim::python
