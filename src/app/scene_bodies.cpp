// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Parser of the section `bodies` of a scene.
#include <fmt/core.h>

#include <algorithm>

#include "app/scene_sections.hpp"
#include "diffsim/mesh/construction.hpp"
#include "mesh/cell_model.hpp"

namespace diffsim::app {
namespace {

std::array<double, 3> parse_scale(const Value& value) {
  const std::vector<const Value*> items = to_items(value);
  if (items.size() != 1 && items.size() != 3) value.place.fail("give a number, or one for each of x, y and z");
  std::array<double, 3> scale{};
  for (std::size_t c = 0; c < 3; ++c) {
    const Value& item = *items[items.size() == 1 ? 0 : c];
    if (to_number(item) < 0.0)
      item.place.fail(item.text + " would mirror the body and invert its cells; give a number above 0");
    scale[c] = to_positive(item, "");
  }
  return scale;
}

Placement parse_placement(const Value& value) {
  const Mapping mapping(value, {"scale", "rotate", "translate"});
  Placement placement;
  if (const Value* scale = mapping.find("scale")) placement.scale = parse_scale(*scale);
  if (const Value* rotate = mapping.find("rotate")) {
    const Mapping rotation(*rotate, {"axis", "angle"});
    const Value& axis = rotation.need("axis", "[x, y, z], a direction through the origin");
    placement.axis = to_vector(axis);
    if (placement.axis == std::array<double, 3>{}) axis.place.fail("is zero; give a direction");
    placement.angle = to_number(rotation.need("angle", "a number, rad"));
  }
  if (const Value* translate = mapping.find("translate")) placement.translate = to_vector(*translate);
  return placement;
}

/// Returns true if `key` is a parameter of the body's cells that scenes give next to the key `material`, not inside the
/// value of `material`.
bool has_beside_material(const BodyEntry& body, const std::string& key) {
  if (!body.cells) return false;
  const std::vector<std::string>& beside = body.cells->beside_material;
  return std::any_of(beside.begin(), beside.end(),
                     [&](const std::string& name) { return body.cells->key_of(name) == key; });
}

/// Sets the kind of cells that are read for an obstacle or an affine body, of which only the surface is used:
/// triangles, or tetrahedra whose boundary is the surface.
void read_surface_of(MeshSection& mesh, const std::string& what) {
  if (mesh.order != 1) mesh.place.fail("has order 2, but " + what + " has flat triangles; give order: 1");
  const bool is_box = std::holds_alternative<BoxMesh>(mesh.source);
  if (!mesh.cells) mesh.cells = is_box ? CellKind::tetrahedron : CellKind::triangle;
  mesh.boundary = mesh.cells == CellKind::tetrahedron;
}

void finish_obstacle(const Mapping& mapping, BodyEntry& body) {
  const auto refuse = [&](const char* key, const char* why) {
    if (mapping.has(key)) mapping.place_of(key).fail(why);
  };
  refuse("material", "is only allowed for deformable bodies, not for obstacles; remove it, or give kind: solid");
  refuse("initial", "is only allowed for bodies that move freely, not for obstacles; move an obstacle with `boundary`");
  refuse("surface",
         "is only allowed for bodies of tetrahedra; the contact surface of an obstacle is its own triangles");
  read_surface_of(body.mesh, "an obstacle");
}

/// Parses the keys that only rods and beams have. In contact, a rod's thickness is twice its radius.
void parse_rod(const Mapping& mapping, BodyEntry& body) {
  const bool has_radius = has_beside_material(body, "radius");
  const Value *radius = mapping.find("radius"), *director = mapping.find("director");
  if (radius && !has_radius) radius->place.fail("is the radius of a rod's section; give kind: rod, or remove `radius`");
  if (director && !(body.cells && body.cells->has_directors))
    director->place.fail("is only allowed for rods and beams; give kind: rod or beam, or remove `director`");
  if (director) body.director = to_vector(*director);
  if (body.director == std::array<double, 3>{})
    director->place.fail("is zero; give a vector that is not parallel to a segment");
  if (radius && !body.thickness && !radius->is_mapping()) body.thickness = 2.0 * to_positive(*radius, "m");
}

/// Adds the material of a rigid body. The material has one parameter, the density, which is given next to `mesh`.
void add_rigid_material(const Mapping& mapping, Scene& scene, const BodyEntry& body) {
  if (mapping.has("material"))
    mapping.place_of("material").fail("is only allowed for bodies that deform; give `density` next to `mesh` instead");
  const Value& density = mapping.need("density", "a number, kg/m³");
  MaterialEntry material;
  material.model = rigid_model;
  material.place = mapping.place();
  material.body = body.name;
  material.region = RegionName{body.name + "/all", body.place};
  material.values.emplace("density", Numbers{Array{{}, {to_positive(density, "kg/m³")}}, density.place});
  scene.materials.push_back(std::move(material));
}

void finish_solid(const Mapping& mapping, Scene& scene, BodyEntry& body) {
  if (body.affine) {
    if (mapping.has("surface"))
      mapping.place_of("surface").fail(
          "is only allowed for bodies of tetrahedra; the contact surface of an affine body is its mesh; remove "
          "`surface`");
    read_surface_of(body.mesh, "an affine body");
    if (dimension_of(*body.mesh.cells) < 2)
      body.mesh.place.fail(
          fmt::format("gives {}, but an affine body needs a closed surface; give a file of triangles or "
                      "tetrahedra",
                      name_of(*body.mesh.cells)));
  } else {
    require_tetrahedra(body.mesh);
  }
  if (body.rigid)
    add_rigid_material(mapping, scene, body);
  else if (const Value* material = mapping.find("material"))
    parse_materials(*material, scene, body.name);
  const BodyEntry* const first = first_solid(scene);
  if (!first) return;
  if (body.mesh.order != first->mesh.order && (body.affine || first->affine))
    body.place.fail("is in a scene with affine bodies, which requires linear cells; give all bodies order: 1");
  if (body.mesh.order != first->mesh.order)
    body.mesh.place.fail("differs in `order` from an earlier body; give all bodies the same `order`");
  if (body.mesh.quadrature_degree != first->mesh.quadrature_degree)
    body.mesh.place.fail("differs in `quadrature_degree` from an earlier body; give all bodies the same value");
}

RobotEntry parse_robot(const std::string& name, const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"urdf", "base", "placement", "initial", "armature"});
  RobotEntry robot;
  robot.name = name;
  const Value& file = mapping.need("urdf", "the path of a URDF file");
  robot.place = file.place;
  robot.file = beside_scene(to_text(file), scene);
  if (const Value* base = mapping.find("base"))
    robot.options.fixed_base = to_choice(*base, {"fixed", "free"}) == "fixed";
  if (const Value* placement = mapping.find("placement")) {
    robot.options.placement = parse_placement(*placement);
    if (robot.options.placement.scale != std::array{1.0, 1.0, 1.0})
      placement->place.fail(
          "`scale` is not allowed for robots, whose masses do not follow from their shapes; remove it");
  }
  if (const Value* initial = mapping.find("initial")) {
    const Mapping start(*initial, {"joints", "joint_velocities"});
    const auto parse = [&](const char* key, std::map<std::string, double>& values) {
      const Value* const joints = start.find(key);
      if (!joints) return;
      if (!joints->is_mapping()) joints->place.fail("give a value for each joint, such as {elbow: 0.3}");
      for (std::size_t i = 0; i < joints->items.size(); ++i)
        values.emplace(joints->keys[i], to_number(joints->items[i]));
    };
    parse("joints", robot.options.coordinates);
    parse("joint_velocities", robot.options.velocities);
  }
  if (const Value* armature = mapping.find("armature")) {
    if (!armature->is_mapping()) armature->place.fail("give a value for each joint, such as {elbow: 0.01}");
    for (std::size_t i = 0; i < armature->items.size(); ++i)
      robot.options.armatures.emplace(armature->keys[i],
                                      to_positive(armature->items[i], "kg m², or kg for a prismatic joint"));
  }
  return robot;
}

void finish_cells(const Mapping& mapping, Scene& scene, BodyEntry& body) {
  const CellModel& model = *body.cells;
  const std::string plural = name_of(model.cells);
  if (mapping.has("surface"))
    mapping.place_of("surface").fail("is only allowed for bodies of tetrahedra, but this body has " + plural +
                                     "; remove `surface`");
  const bool is_surface = model.cells == CellKind::triangle && std::holds_alternative<TriangleMesh>(body.mesh.source);
  if (!is_surface && !std::holds_alternative<std::string>(body.mesh.source))
    body.mesh.place.fail("gives no " + plural + "; a body of kind " + model.name + " needs a file with " + plural);
  if (body.mesh.order != 1)
    body.mesh.place.fail("has order 2, but a body of kind " + model.name + " has linear cells; give order: 1");
  if (body.mesh.cells.value_or(model.cells) != model.cells)
    body.mesh.place.fail(fmt::format("gives {}, but a body of kind {} needs a file with {}", name_of(*body.mesh.cells),
                                     model.name, plural));
  body.mesh.cells = model.cells;
  parse_cell_material(mapping.need("material", "the parameters of " + model.name), scene, body.name, mapping, model);
}

}  // namespace

void require_tetrahedra(const MeshSection& mesh) {
  const CellKind kind = std::holds_alternative<TriangleMesh>(mesh.source) ? CellKind::triangle
                                                                          : mesh.cells.value_or(CellKind::tetrahedron);
  if (kind != CellKind::tetrahedron)
    mesh.place.fail(
        fmt::format("gives {}, but a solid needs tetrahedra; give a file with tetrahedra or a box, or, among `bodies`, "
                    "kind: obstacle",
                    name_of(kind)));
}

bool has_thick_cells(const BodyEntry& body) {
  return has_beside_material(body, "thickness") || has_beside_material(body, "radius");
}

const BodyEntry* first_solid(const Scene& scene) {
  for (const BodyEntry& body : scene.bodies)
    if (body.kind == BodyEntry::Kind::solid) return &body;
  return nullptr;
}

void parse_bodies(const Value& value, Scene& scene) {
  if (!value.is_mapping() || value.items.empty())
    value.place.fail("give a mapping of names, such as `crate: {mesh: {file: …}, material: {…}}`");
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const Value& item = value.items[i];
    const Mapping mapping(item, {"kind", "mesh", "placement", "material", "initial", "thickness", "surface", "radius",
                                 "director", "density", "urdf", "base", "armature"});
    BodyEntry body;
    body.name = value.keys[i];
    body.place = mapping.place();
    if (body.name == "all" || body.name.find_first_of("/|:") != std::string::npos)
      body.place.fail("a body cannot have this name: `all`, /, | and : have other meanings; choose another name");
    if (mapping.has("urdf") || mapping.has("base")) {
      scene.robots.push_back(parse_robot(value.keys[i], item, scene));
      continue;
    }
    if (mapping.has("armature"))
      mapping.place_of("armature").fail("is only allowed for robots and in `joints`; give it in `joints`");
    if (const Value* kind = mapping.find("kind")) {
      std::vector<std::string> kinds{"solid", "affine", "rigid", "obstacle"};
      for (const CellModel* const model : cell_models()) kinds.push_back(model->name);
      const std::string chosen = to_choice(*kind, kinds);
      body.cells = find_cell_model(chosen);
      body.kind = body.cells             ? BodyEntry::Kind::cells
                  : chosen == "obstacle" ? BodyEntry::Kind::obstacle
                                         : BodyEntry::Kind::solid;
      body.rigid = chosen == "rigid";
      body.affine = chosen == "affine" || body.rigid;
    }
    body.mesh = parse_mesh(mapping.need("mesh", "{file: …} or {box: …}"), scene);
    if (const Value* placement = mapping.find("placement")) body.placement = parse_placement(*placement);
    if (const Value* initial = mapping.find("initial"))
      body.initial = parse_initial(*initial, scene, body.name, body.affine);
    // A thickness read from a file, with one value per cell, is not used in contact.
    if (const Value* thickness = mapping.find("thickness");
        thickness && !(thickness->is_mapping() && has_beside_material(body, "thickness")))
      body.thickness = to_non_negative(*thickness, "m");
    parse_rod(mapping, body);
    if (mapping.has("density") && !body.rigid)
      mapping.place_of("density").fail("next to `mesh` is only allowed for kind: rigid; give it in `material`");
    if (const Value* surface = mapping.find("surface")) body.surface = parse_surface(*surface, scene);
    if (body.kind == BodyEntry::Kind::obstacle)
      finish_obstacle(mapping, body);
    else if (body.kind == BodyEntry::Kind::cells)
      finish_cells(mapping, scene, body);
    else
      finish_solid(mapping, scene, body);
    scene.bodies.push_back(std::move(body));
  }
  scene.material_list = true;
}

}  // namespace diffsim::app
