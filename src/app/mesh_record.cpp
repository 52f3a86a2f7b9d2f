// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/mesh_record.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "app/made_values.hpp"
#include "app/section_of_object.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "io/mesh_file.hpp"

namespace diffsim::app {
namespace {

/// Part of a file's name in which characters that separate folders are replaced.
std::string part_of_name(std::string name) {
  for (char& c : name)
    if (c == '/' || c == '\\' || c == ':' || c == '|') c = '_';
  return name;
}

/// Writes the mesh file of a body, and adds the path of the file to `section`. Collective.
void put_written_mesh(Value& section, const BodyRecord& record, const TetrahedralMesh& mesh, bool is_placed,
                      const SideFiles& files) {
  const std::string name = record.name.empty() ? "mesh" : record.name;
  const auto& make = record.surface ? record.surface : record.make;
  MeshData data = make ? make(files.comm()) : block_of(mesh);
  for (const Placement& placement : record.placements)
    if (is_placed) place(data, placement);
  put(section, "file", files.write_mesh(name, data));
}

}  // namespace

std::string absolute_path(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

MeshData block_of(const TetrahedralMesh& mesh) {
  MeshData data;
  data.order = mesh.order();
  data.num_vertices = mesh.num_global_vertices();
  data.num_cells = mesh.num_global_cells();
  data.first_vertex = mesh.vertex_order().block_begin();
  data.first_cell = mesh.cell_order().block_begin();
  data.coordinates = mesh.file_positions();
  std::vector<std::int64_t> nodes;
  for (const int vertex : mesh.cells())
    nodes.push_back(mesh.vertex_order().file_index()[static_cast<std::size_t>(vertex)]);
  mesh.cell_order().to_file(nodes, mesh.nodes_per_cell(), data.cells);
  return data;
}

std::string SideFiles::relative(const std::string& path) const {
  return path_from(path, std::filesystem::path(scene_).parent_path().string());
}

std::string SideFiles::path_of(const std::string& name, const char* ending) const {
  const std::filesystem::path scene(scene_);
  const std::string path = (scene.parent_path() / (scene.stem().string() + '-' + part_of_name(name) + ending)).string();
  if (std::find(read_.begin(), read_.end(), absolute_path(path)) != read_.end())
    refuse_scene("the scene reads the file '" + path + "', which would be overwritten; give another path");
  return path;
}

std::string SideFiles::write_mesh(const std::string& name, const MeshData& data) const {
  const std::string path = path_of(name, ".h5");
  write_mesh_file(comm_, path, data);
  return std::filesystem::path(path).filename().string();
}

std::string SideFiles::write_surface(const std::string& name, const TriangleMesh& surface) const {
  const std::string path = path_of(name, ".obj");
  collectively(comm_, [&] {
    if (!is_first_rank(comm_)) return;
    std::ofstream file(path, std::ios::binary);
    for (const auto& x : surface.vertices)
      file << "v " << format_number(x[0]) << ' ' << format_number(x[1]) << ' ' << format_number(x[2]) << '\n';
    for (const auto& corners : surface.triangles)
      file << "f " << corners[0] + 1 << ' ' << corners[1] + 1 << ' ' << corners[2] + 1 << '\n';
    file.close();
    if (!file) throw InputError(path, 0, "", "cannot be written; check that the folder exists and has free space");
  });
  return std::filesystem::path(path).filename().string();
}

void put_mesh(Value& body, const BodyRecord& record, const TetrahedralMesh& mesh, bool reads_kind, bool is_placed,
              const SideFiles& files) {
  if (!record.refused.empty()) refuse_scene("it contains " + record.refused);
  Value section = made_mapping();
  if (record.is_affine && record.placements.size() > 1)
    refuse_scene("the affine body '" + record.name + "' is placed several times; call `place` once");
  const bool writes_file =
      (!record.box && record.file.empty()) || (is_placed && !record.placements.empty()) || record.placements.size() > 1;
  if (writes_file) {
    put_written_mesh(section, record, mesh, is_placed || record.placements.size() > 1, files);
  } else if (record.box) {
    Value box = made_mapping(), cells = made_list();
    for (const int count : record.box->cells) cells.items.push_back(scalar_with(std::int64_t{count}));
    put(box, "size", made_list(record.box->size));
    put(box, "cells", std::move(cells));
    put(section, "box", std::move(box));
  } else {
    put(section, "file", files.relative(record.file));
    if (record.scale != 1.0) put(section, "scale", record.scale);
  }
  if (record.name.empty() && mesh.order() == 2) put(section, "order", std::int64_t{2});
  if (reads_kind && record.cells) put(section, "cells", std::string(name_of(*record.cells)));
  put(body, "mesh", std::move(section));
  if (record.director) put(body, "director", made_list(*record.director));
  if (record.placements.size() == 1 && !is_placed) put(body, "placement", section_of(record.placements.front()));
}

}  // namespace diffsim::app
