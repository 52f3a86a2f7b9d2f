// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "scene_record.hpp"

#include "diffsim/core/error.hpp"

#ifdef DIFFSIM_PYTHON_SCENES
#include "app/scene_record.hpp"

namespace diffsim::python {

BodyRecord record_box(const std::array<double, 3>& size, const std::array<int, 3>& cells) {
  return std::make_shared<const app::BodyRecord>(app::BodyRecord{.box = app::BodyRecord::Box{size, cells}});
}

BodyRecord record_file(const std::string& path, double scale, CellKind cells, bool is_affine) {
  app::BodyRecord body{.file = app::absolute_path(path), .scale = scale, .is_affine = is_affine};
  if (!is_affine) body.cells = cells;
  return std::make_shared<const app::BodyRecord>(std::move(body));
}

BodyRecord record_arrays() { return std::make_shared<const app::BodyRecord>(); }

BodyRecord record_refused(const std::string& part) {
  return std::make_shared<const app::BodyRecord>(app::BodyRecord{.refused = part});
}

BodyRecord record_affine(MakeMesh make_surface) {
  return std::make_shared<const app::BodyRecord>(
      app::BodyRecord{.surface = std::move(make_surface), .is_affine = true});
}

BodyRecord record_rotor() { return std::make_shared<const app::BodyRecord>(app::BodyRecord{.is_rotor = true}); }

BodyRecord record_with_director(const BodyRecord& body, const std::optional<std::array<double, 3>>& director) {
  app::BodyRecord made = *body;
  made.director = director;
  return std::make_shared<const app::BodyRecord>(std::move(made));
}

BodyRecord record_placed(const BodyRecord& body, const Placement& placement) {
  app::BodyRecord placed = *body;
  placed.placements.push_back(placement);
  return std::make_shared<const app::BodyRecord>(std::move(placed));
}

MeshRecord record_mesh(const BodyRecord& body) { return record_mesh(std::vector<NamedRecord>{{"", body, {}}}); }

MeshRecord record_mesh(const std::vector<NamedRecord>& bodies) {
  auto mesh = std::make_shared<app::MeshRecord>();
  for (const NamedRecord& body : bodies) {
    mesh->bodies.push_back(*body.record);
    mesh->bodies.back().name = body.name;
    mesh->bodies.back().make = body.make;
  }
  return mesh;
}

void record_region(const MeshRecord& mesh, const std::string& name, const RegionShape& shape, const std::string& body) {
  mesh->regions.push_back({name, shape, body});
}

SceneRecord::SceneRecord(MeshRecord mesh, const DifferentiableSolver& solver)
    : record_(std::make_shared<app::SceneRecord>(std::move(mesh), solver)) {}

MeshRecord SceneRecord::mesh() const { return record_->mesh(); }
void SceneRecord::fix(const std::string& region, const std::array<bool, 3>& axes, bool clamp) const {
  record_->fix(region, axes, clamp);
}
void SceneRecord::move(const std::string& region, const std::array<double, 3>& axis,
                       const std::array<double, 3>& origin) const {
  record_->move(region, axis, origin);
}
void SceneRecord::load(const std::string& key, const std::string& region, std::optional<double> coefficient) const {
  record_->load(key, region, coefficient);
}
void SceneRecord::attach(const std::string& region, const std::string& to, double stiffness) const {
  record_->attach(region, to, stiffness);
}
void SceneRecord::contact(const ContactOptions& options) const { record_->contact(options); }
void SceneRecord::join(const Joint& joint) const { record_->join(joint); }
void SceneRecord::drive(const std::string& joint, const JointDrive& drive) const { record_->drive(joint, drive); }
void SceneRecord::refuse(const std::string& part) const { record_->refuse(part); }
void SceneRecord::save(DifferentiableScene& scene, const std::string& path, std::optional<int> num_steps) const {
  record_->save(scene, path, num_steps);
}

}  // namespace diffsim::python

#else

namespace diffsim::python {

BodyRecord record_box(const std::array<double, 3>&, const std::array<int, 3>&) { return {}; }
BodyRecord record_file(const std::string&, double, CellKind, bool) { return {}; }
BodyRecord record_arrays() { return {}; }
BodyRecord record_refused(const std::string&) { return {}; }
BodyRecord record_affine(MakeMesh) { return {}; }
BodyRecord record_rotor() { return {}; }
BodyRecord record_with_director(const BodyRecord&, const std::optional<std::array<double, 3>>&) { return {}; }
BodyRecord record_placed(const BodyRecord&, const Placement&) { return {}; }
MeshRecord record_mesh(const BodyRecord&) { return {}; }
MeshRecord record_mesh(const std::vector<NamedRecord>&) { return {}; }
void record_region(const MeshRecord&, const std::string&, const RegionShape&, const std::string&) {}

SceneRecord::SceneRecord(MeshRecord, const DifferentiableSolver&) {}
MeshRecord SceneRecord::mesh() const { return {}; }
void SceneRecord::fix(const std::string&, const std::array<bool, 3>&, bool) const {}
void SceneRecord::move(const std::string&, const std::array<double, 3>&, const std::array<double, 3>&) const {}
void SceneRecord::load(const std::string&, const std::string&, std::optional<double>) const {}
void SceneRecord::attach(const std::string&, const std::string&, double) const {}
void SceneRecord::contact(const ContactOptions&) const {}
void SceneRecord::join(const Joint&) const {}
void SceneRecord::drive(const std::string&, const JointDrive&) const {}
void SceneRecord::refuse(const std::string&) const {}
void SceneRecord::save(DifferentiableScene&, const std::string&, std::optional<int>) const {
  throw InputError(
      "this build of the package does not write scenes of the runner; build it with the library's sources");
}

}  // namespace diffsim::python

#endif
