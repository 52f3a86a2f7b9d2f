// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/scene_record.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/load_types.hpp"
#include "app/made_values.hpp"
#include "app/save_scene.hpp"
#include "app/section_of_object.hpp"
#include "diffsim/core/error.hpp"
#include "mesh/cell_model.hpp"

namespace diffsim::app {
namespace {

/// Returns a load of zero: a vector or a number.
Value zero_of(bool is_vector) { return is_vector ? made_list({0.0, 0.0, 0.0}) : scalar_with(0.0); }

/// Adds `entries` to the list `key` of the document, which is created if it does not exist.
void append(Value& document, const std::string& key, const std::vector<Value>& entries) {
  if (entries.empty()) return;
  if (!find_key(document, key)) put(document, key, made_list());
  Value& list = *find_key(document, key);
  if (!list.is_list()) list = made_list({list});
  list.items.insert(list.items.end(), entries.begin(), entries.end());
}

/// Returns the number of steps of those parameters that have a value for each step; no value if there is none.
std::optional<int> steps_of_parameters(DifferentiableScene& scene, std::optional<int> given) {
  for (const Parameter& parameter : scene.parameters()) {
    if (parameter.steps() == 1) continue;
    if (given && *given != parameter.steps())
      refuse_scene("'" + parameter.name() + "' has values for " + std::to_string(parameter.steps()) +
                   " steps, but the number of steps is " + std::to_string(*given));
    given = parameter.steps();
  }
  return given;
}

/// Sets the number of steps in the section `solver`.
void set_steps(Value& document, int steps) {
  if (!find_key(document, "solver")) put(document, "solver", made_mapping());
  Value& solver = *find_key(document, "solver");
  if (Value* const given = find_key(solver, "steps"))
    *given = scalar_with(std::int64_t{steps});
  else
    put(solver, "steps", std::int64_t{steps});
}

/// Returns the number of steps in the section `solver`; no value without the key.
std::optional<int> steps_of(Value& document) {
  Value* const solver = find_key(document, "solver");
  Value* const steps = solver && solver->is_mapping() ? find_key(*solver, "steps") : nullptr;
  return steps ? std::optional(to_integer(*steps, 0)) : std::nullopt;
}

}  // namespace

SceneRecord::SceneRecord(std::shared_ptr<MeshRecord> mesh, Value document, std::string folder)
    : mesh_(std::move(mesh)), document_(std::move(document)), folder_(std::move(folder)) {}

SceneRecord::SceneRecord(std::shared_ptr<MeshRecord> mesh, const DifferentiableSolver& solver)
    : mesh_(std::move(mesh)), solver_(solver) {}

void SceneRecord::fix(const std::string& region, std::array<bool, 3> axes, bool clamp) {
  Value entry = made_mapping(), list = made_list();
  for (std::size_t c = 0; c < 3; ++c)
    if (axes[c]) list.items.push_back(scalar_with(std::string(1, "xyz"[c])));
  if (list.items.empty()) return;
  put(entry, "region", region);
  put(entry, "fix", std::move(list));
  if (clamp) put(entry, "clamp", true);
  boundary_.push_back(std::move(entry));
}

void SceneRecord::move(const std::string& region, const std::array<double, 3>& axis,
                       const std::array<double, 3>& origin) {
  Value entry = made_mapping(), motion = made_mapping();
  put(motion, "axis", made_list(axis));
  put(motion, "origin", made_list(origin));
  put(entry, "region", region);
  put(entry, "move", std::move(motion));
  boundary_.push_back(std::move(entry));
}

void SceneRecord::load(const std::string& key, const std::string& region, std::optional<double> coefficient) {
  Value entry = made_mapping();
  put(entry, "region", region);
  bool is_vector = true;  // for nodal loads
  for (const LoadType& type : load_types()) {
    if (type.key() != key) continue;
    is_vector = type.is_vector();
    for (const LoadCoefficient& one : type.coefficients) put(entry, one.key, coefficient.value_or(0.0));
  }
  put(entry, key, zero_of(is_vector));
  boundary_.push_back(std::move(entry));
}

void SceneRecord::attach(const std::string& region, const std::string& to, double stiffness) {
  Value entry = made_mapping();
  put(entry, "region", region);
  put(entry, "to", to);
  put(entry, "stiffness", stiffness);
  attachments_.push_back(std::move(entry));
}

void SceneRecord::join(const Joint& joint) {
  joints_.kind = Value::Kind::mapping;
  put(joints_, joint.name, section_of(joint));
}

void SceneRecord::drive(const std::string& joint, const JointDrive& drive) {
  Value entry = made_mapping();
  put(entry, "joint", joint);
  put_drive(entry, drive);
  boundary_.push_back(std::move(entry));
}

void SceneRecord::contact(const ContactOptions& options) { contact_ = options; }
void SceneRecord::refuse(const std::string& part) { refused_.push_back(part); }

Value SceneRecord::section_of_body(const BodyRecord& body, const DifferentiableScene& scene,
                                   const SideFiles& files) const {
  const auto region_of = [&](const DifferentiableMaterial& material) -> std::optional<std::string> {
    if (body.name.empty() || material.region.starts_with(body.name + "/")) return material.region;
    for (const MeshRecord::NamedShape& region : mesh_->regions)
      if (region.name == material.region && region.body == body.name) return body.name + "/" + region.name;
    return {};
  };
  Value section = made_mapping(), materials = made_list();
  std::string kind = body.name.empty() ? "solid" : "obstacle";
  for (const DifferentiableMaterial& material : scene.materials()) {
    const std::optional<std::string> region = region_of(material);
    if (!region) continue;
    const CellModel* const model = find_cell_model(material.model);
    kind = model ? model->name : material.model == rigid_model ? "rigid" : body.is_affine ? "affine" : "solid";
    Value entry = section_of(material, section);
    if (*region != "all" && *region != body.name + "/all") put(entry, "region", *region);
    if (kind != "rigid") materials.items.push_back(std::move(entry));
  }
  if (!materials.items.empty()) put(section, "material", std::move(materials));
  if (!body.name.empty()) put(section, "kind", kind);
  const bool has_surface = contact_ && std::any_of(contact_->surfaces.begin(), contact_->surfaces.end(),
                                                   [&](const BodySurface& of) { return of.body == body.name; });
  put_mesh(section, body, *scene.mesh(), kind == "obstacle", has_surface, files);
  if (!contact_ || body.name.empty()) return section;
  for (const BodyThickness& thickness : contact_->thicknesses)
    if (thickness.body == body.name && !find_key(section, "thickness")) put(section, "thickness", thickness.value);
  for (const BodySurface& of : contact_->surfaces) {
    if (of.body != body.name) continue;
    Value surface = made_mapping();
    put(surface, "file", files.write_surface("surface-" + body.name, of.mesh));
    put(section, "surface", std::move(surface));
  }
  return section;
}

void SceneRecord::put_bodies(Value& document, const DifferentiableScene& scene, const SideFiles& files) const {
  if (mesh_->bodies.empty()) refuse_scene("its mesh is the mesh of another scene file; save the scene of that file");
  if (mesh_->bodies.size() == 1 && mesh_->bodies.front().name.empty()) {
    Value body = section_of_body(mesh_->bodies.front(), scene, files);
    for (const char* const key : {"mesh", "material"}) put(document, key, *find_key(body, key));
    return;
  }
  for (const DifferentiableMaterial& material : scene.materials()) {
    const bool is_of_body = std::any_of(
        mesh_->regions.begin(), mesh_->regions.end(),
        [&](const MeshRecord::NamedShape& region) { return region.name == material.region && !region.body.empty(); });
    if (material.region.find('/') == std::string::npos && !is_of_body)
      refuse_scene("the material of the region '" + material.region +
                   "' belongs to no body; give materials of regions such as 'BODY/all'");
  }
  Value bodies = made_mapping();
  for (const BodyRecord& body : mesh_->bodies)
    if (!body.is_rotor) put(bodies, body.name, section_of_body(body, scene, files));
  put(document, "bodies", std::move(bodies));
}

void SceneRecord::put_contact(Value& document, const SideFiles& files) const {
  if (!contact_) return;
  Value section = section_of(*contact_, [&](const std::string& name, const TriangleMesh& surface) {
    return files.write_surface(name, surface);
  });
  const bool is_one_body = mesh_->bodies.size() == 1 && mesh_->bodies.front().name.empty();
  if (is_one_body && !contact_->thicknesses.empty())
    refuse_scene("contact of a mesh without named bodies has `thicknesses`; give `thickness`");
  for (const BodySurface& of : contact_->surfaces) {
    if (!is_one_body) continue;  // in the section of the body
    Value surface = made_mapping();
    put(surface, "file", files.write_surface("surface", of.mesh));
    put(section, "surface", std::move(surface));
  }
  put(document, "contact", std::move(section));
}

void SceneRecord::put_regions(Value& document) const {
  if (mesh_->regions.empty()) return;
  if (!find_key(document, "regions")) put(document, "regions", made_mapping());
  Value& regions = *find_key(document, "regions");
  for (const MeshRecord::NamedShape& region : mesh_->regions) {
    Value section = section_of(region.shape);
    if (!region.body.empty()) put(section, "body", region.body);
    if (Value* const given = find_key(regions, region.name))
      *given = std::move(section);
    else
      put(regions, region.name, std::move(section));
  }
}

void SceneRecord::save(DifferentiableScene& scene, const std::string& path, std::optional<int> num_steps) const {
  if (!refused_.empty()) refuse_scene("no scene file can describe " + refused_.front());
  Value document = document_.value_or(made_mapping());
  const std::optional<int> steps = steps_of_parameters(scene, num_steps ? num_steps : steps_of(document));
  const std::string to = std::filesystem::path(path).parent_path().string();
  std::vector<std::string> read;
  for (const BodyRecord& body : mesh_->bodies) read.push_back(body.file);
  const SideFiles files(scene.mesh()->comm(), path, std::move(read));
  move_paths(document, folder_, to);  // so that all paths are relative to the folder of the new file
  if (!document_) {
    put(document, "solver", section_of(solver_, steps));
    put_bodies(document, scene, files);
  } else if (steps) {
    set_steps(document, *steps);
  }
  put_contact(document, files);
  put_regions(document);
  append(document, "boundary", boundary_);
  if (!joints_.items.empty()) {
    if (!find_key(document, "joints")) put(document, "joints", made_mapping());
    Value& joints = *find_key(document, "joints");
    for (std::size_t i = 0; i < joints_.items.size(); ++i) put(joints, joints_.keys[i], joints_.items[i]);
  }
  append(document, "attach", attachments_);
  save_scene(scene, std::move(document), to, path);
}

}  // namespace diffsim::app
