// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "app/obstacle_shapes.hpp"
#include "app/scene_sections.hpp"
#include "diffsim/mesh/impl/quadrature.hpp"
#include "mesh/rectangle.hpp"

namespace diffsim::app {
namespace {

BoxMesh parse_box_mesh(const Value& value) {
  const Mapping mapping(value, {"size", "cells"});
  const Value& size = mapping.need("size", "[x, y, z] in m");
  const Value& cells = mapping.need("cells", "[nx, ny, nz], the bricks along each side");
  BoxMesh box{to_vector(size), {}};
  for (const Value& item : size.items) to_positive(item, "m");
  to_vector(cells);
  for (std::size_t i = 0; i < 3; ++i) box.cells[i] = to_integer(cells.items[i], 1);
  return box;
}

TriangleMesh parse_sheet(const Value& value) {
  const Mapping mapping(value, {"size", "cells"});
  const auto two = [&](const char* key, const std::string& what) {
    const Value& given = mapping.need(key, what);
    if (!given.is_list() || given.items.size() != 2) given.place.fail("give " + what);
    return &given.items;
  };
  const std::vector<Value>& size = *two("size", "[x, y] in m");
  const std::vector<Value>& cells = *two("cells", "[nx, ny], the cells along each side");
  const double a = to_positive(size[0], "m"), b = to_positive(size[1], "m");
  const int nx = to_integer(cells[0], 1), ny = to_integer(cells[1], 1);
  if (std::int64_t{nx + 1} * (ny + 1) > std::numeric_limits<int>::max() / 2)
    mapping.place_of("cells").fail("gives too many triangles for a built-in sheet; give a file");
  return rectangle_triangles({a, b}, {nx, ny});
}

RegionShape parse_shape(const Mapping& mapping) {
  const std::string kind = mapping.one_of({"box", "sphere", "vertices"});
  const Value& shape = *mapping.find(kind);
  if (kind == "box") {
    const Mapping box(shape, {"min", "max"});
    const Value& max = box.need("max", "the highest corner, [x, y, z] in m");
    const BoxShape result{to_vector(box.need("min", "the lowest corner, [x, y, z] in m")), to_vector(max)};
    for (std::size_t i = 0; i < 3; ++i)
      if (result.max[i] < result.min[i])
        max.items[i].place.fail(format_number(result.max[i]) + " is below min, " + format_number(result.min[i]) +
                                "; exchange min and max");
    return result;
  }
  if (kind == "sphere") {
    const Mapping sphere(shape, {"center", "radius"});
    return SphereShape{to_vector(sphere.need("center", "[x, y, z] in m")),
                       to_positive(sphere.need("radius", "m > 0"), "m")};
  }
  if (!shape.is_list() || shape.items.empty())
    shape.place.fail("give a list of vertex numbers, counted from 0 in the file's order");
  VertexList list;
  for (const Value& item : shape.items) list.vertices.push_back(to_integer64(item, 0));
  return list;
}

}  // namespace

MeshSection parse_mesh(const Value& value, const Scene& scene) {
  const Mapping mapping(value, {"file", "box", "sheet", "sphere", "cylinder", "order", "quadrature_degree", "scale",
                                "allow_coincident_vertices", "cells"});
  MeshSection mesh;
  mesh.place = mapping.place();
  const std::string source = mapping.one_of({"file", "box", "sheet", "sphere", "cylinder"});
  const Value& given = *mapping.find(source);
  mesh.place = mapping.place_of(source);
  if (source == "file") mesh.source = beside_scene(to_text(given), scene);
  if (source == "box") mesh.source = parse_box_mesh(given);
  if (source == "sheet") mesh.source = parse_sheet(given);
  if (source == "sphere") mesh.source = parse_sphere(given);
  if (source == "cylinder") mesh.source = parse_cylinder(given);
  if (const Value* cells = mapping.find("cells"))
    mesh.cells = cell_kind(to_choice(*cells, {name_of(CellKind::tetrahedron), name_of(CellKind::triangle),
                                              name_of(CellKind::segment), name_of(CellKind::point)}));
  if (mesh.cells && dimension_of(*mesh.cells) < 2 && source != "file")
    mapping.place_of("cells").fail(fmt::format("{} are read from files; give a `file`", name_of(*mesh.cells)));
  const CellKind built_in = source == "box" ? CellKind::tetrahedron : CellKind::triangle;
  if (mesh.cells && source != "file" && *mesh.cells != built_in)
    mapping.place_of("cells").fail(
        fmt::format("is {}, but a {} has {}; remove `cells`", name_of(*mesh.cells), source, name_of(built_in)));
  if (const Value* order = mapping.find("order")) mesh.order = to_integer(*order, 1, 2);
  if (const Value* degree = mapping.find("quadrature_degree")) {
    if (mesh.order == 1)
      degree->place.fail(
          "requires second-order cells, because linear cells have one quadrature point; give order: 2 too, or remove "
          "it");
    mesh.quadrature_degree = to_integer(*degree, std::numeric_limits<int>::min());
    if (mesh.quadrature_degree != FourPoints::degree && mesh.quadrature_degree != FourteenPoints::degree)
      degree->place.fail(std::to_string(*mesh.quadrature_degree) + " is not known; give 2 or 5");
  }
  if (const Value* scale = mapping.find("scale")) mesh.scale = to_positive(*scale, "");
  if (const Value* allow = mapping.find("allow_coincident_vertices"))
    mesh.allow_coincident_vertices = to_boolean(*allow);
  return mesh;
}

std::vector<RegionEntry> parse_regions(const Value& value, const Scene& scene) {
  std::vector<std::string> bodies;
  for (const BodyEntry& body : scene.bodies) bodies.push_back(body.name);
  if (!value.is_mapping()) value.place.fail("give a mapping of names, such as `foot: {box: {min: …, max: …}}`");
  std::vector<RegionEntry> regions;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const Value& item = value.items[i];
    if (value.keys[i] == "all") item.place.fail("`all` is always the whole mesh; choose another name");
    if (item.kind == Value::Kind::nothing) item.place.fail("has no shape; give box, sphere or vertices");
    const Mapping mapping(item, {"box", "sphere", "vertices", "body"});
    RegionEntry region{value.keys[i], parse_shape(mapping), "", item.place};
    if (const Value* body = mapping.find("body")) {
      if (bodies.empty()) body->place.fail("is only allowed in a scene with `bodies`; remove it");
      region.body = to_choice(*body, bodies);
    }
    regions.push_back(std::move(region));
  }
  return regions;
}

}  // namespace diffsim::app
