// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/mesh_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "core/even_share.hpp"
#include "core/petsc_handle.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "io/hdf5_file.hpp"
#include "io/mesh_checks.hpp"
#include "mesh/validate.hpp"

namespace diffsim {
namespace {

using Kind = DatasetInfo::Kind;
constexpr char mesh_format[] = "diffsim mesh";

std::string dataset_of(CellKind kind) {
  return kind == CellKind::tetrahedron ? "/cells" : std::string("/") + name_of(kind);
}
std::string regions_of(CellKind kind) { return "/regions" + dataset_of(kind); }

/// Throws InputError if the file has other kinds of cells, but none of the given kind. The message lists the cells that
/// the file has.
void require_cells(const Hdf5File& file, CellKind kind) {
  if (file.has(dataset_of(kind))) return;
  std::string has;
  for (const CellKind other : {CellKind::tetrahedron, CellKind::triangle, CellKind::segment, CellKind::point})
    if (file.has(dataset_of(other)))
      has += (has.empty() ? "" : " and ") + std::to_string(file.info(dataset_of(other)).shape.at(0)) + " " +
             name_of(other);
  if (!has.empty())
    throw InputError(file.path(), 0, "", std::string("no ") + name_of(kind) + ", but " + has + "; give another file");
}

Hdf5File open_mesh(MPI_Comm comm, const std::string& path) {
  Hdf5File file = Hdf5File::open(comm, path);
  if (const auto format = file.attribute("/", "format"); format && *format != AttributeValue(mesh_format))
    if (const auto* text = std::get_if<std::string>(&*format))
      throw InputError(path, 0, "", "is not a mesh, but a " + *text + "; give a mesh file");
  return file;
}

void check_mesh_scale(double scale) {
  if (!(scale > 0) || !std::isfinite(scale))
    throw InputError("mesh scale " + std::to_string(scale) + " is not a positive number; give metres per file unit");
}

/// Reads the rows [entity, …, region] of a membership list, checks them, and sends each row to the rank whose block
/// contains the row's entity. `ends`: exclusive upper bound of the values in each column.
template <std::size_t columns>
std::vector<std::array<std::int64_t, columns>> read_memberships(const Hdf5File& file, const std::string& dataset,
                                                                const std::string& meaning,
                                                                const std::array<std::int64_t, columns>& ends) {
  using Row = std::array<std::int64_t, columns>;
  if (!file.has(dataset)) return {};
  const DatasetInfo info = file.require(dataset, Kind::integer, {-1, std::int64_t{columns}}, meaning);
  const EvenShare rows(file.comm(), info.shape[0]), entities(file.comm(), ends[0]);
  const std::vector<std::int64_t> values = file.read_rows<std::int64_t>(dataset, rows.size);
  std::vector<Row> mine;
  collectively(file.comm(), [&] {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] < 0 || values[i] >= ends[i % columns])
        throw InputError(file.path(), 0, dataset,
                         "row " + std::to_string(rows.first + static_cast<std::int64_t>(i / columns)) + ", column " +
                             std::to_string(i % columns) + ": " + std::to_string(values[i]) + " is not in 0 to " +
                             std::to_string(ends[i % columns] - 1) + " (" + meaning + ")");
    mine.resize(static_cast<std::size_t>(rows.size));
    for (std::size_t i = 0; i < values.size(); ++i) mine[i / columns][i % columns] = values[i];
  });
  std::vector<Row> entries = redistribute(file.comm(), mine, [&](const Row& row) { return entities.owner(row[0]); });
  // Sort the entries by region, then by entity, and remove duplicates.
  std::sort(entries.begin(), entries.end(),
            [](const Row& a, const Row& b) { return std::tie(a[columns - 1], a) < std::tie(b[columns - 1], b); });
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  return entries;
}

void read_regions(const Hdf5File& file, MeshData& mesh) {
  if (!file.has("/regions/names")) return;
  const std::vector<std::string> names = file.read_strings("/regions/names");
  const auto count = static_cast<std::int64_t>(names.size());
  file.require("/regions/dimensions", Kind::integer, {count}, "one for each name");
  file.require("/regions/tags", Kind::integer, {count}, "one for each name");
  const std::vector<std::int64_t> dimensions = file.read_array<std::int64_t>("/regions/dimensions");
  const std::vector<std::int64_t> tags = file.read_array<std::int64_t>("/regions/tags");
  for (std::size_t r = 0; r < names.size(); ++r) {
    if (dimensions[r] < 0 || dimensions[r] > 3)
      throw InputError(
          file.path(), 0, "/regions/dimensions",
          "region " + std::to_string(r) + " has dimension " + std::to_string(dimensions[r]) + "; it must be 0 to 3");
    if (tags[r] < std::numeric_limits<int>::min() || tags[r] > std::numeric_limits<int>::max())
      throw InputError(file.path(), 0, "/regions/tags", std::to_string(tags[r]) + " does not fit in 32 bits");
    mesh.regions.push_back({names[r], static_cast<int>(dimensions[r]), static_cast<int>(tags[r])});
  }
  for (const CellKind kind : lower_kinds)
    if (mesh.lower(kind).num > 0)
      for (const auto& row : read_memberships<2>(file, regions_of(kind), "cell, region", {mesh.lower(kind).num, count}))
        mesh.lower(kind).regions.push_back({row[0], static_cast<std::int32_t>(row[1])});
  for (const auto& row : read_memberships<2>(file, "/regions/vertices", "vertex, region", {mesh.num_vertices, count}))
    mesh.vertex_regions.push_back({row[0], static_cast<std::int32_t>(row[1])});
  if (mesh.num_cells == 0) return;
  for (const auto& row : read_memberships<2>(file, "/regions/cells", "cell, region", {mesh.num_cells, count}))
    mesh.cell_regions.push_back({row[0], static_cast<std::int32_t>(row[1])});
  for (const auto& row : read_memberships<3>(file, "/regions/faces", "cell, face, region", {mesh.num_cells, 4, count}))
    mesh.face_regions.push_back({row[0], static_cast<std::int32_t>(row[1]), static_cast<std::int32_t>(row[2])});
}

void keep_corners(MeshData& mesh) {
  if (mesh.order == 1) return;
  std::vector<std::int64_t> corners;
  for (std::size_t i = 0; i < mesh.cells.size(); ++i)
    if (i % 10 < 4) corners.push_back(mesh.cells[i]);
  mesh.cells = std::move(corners);
  mesh.order = 1;
}

}  // namespace

MeshData read_mesh_file(MPI_Comm comm, const std::string& path, double scale, bool allow_coincident_vertices,
                        int order) {
  const ProfilingRegion region("diffsim::io::read_mesh_file");
  check_mesh_scale(scale);
  const Hdf5File file = open_mesh(comm, path);
  require_cells(file, CellKind::tetrahedron);
  MeshData mesh;
  mesh.num_vertices = file.require("/vertices", Kind::real, {-1, 3}, "[vertices, 3]").shape[0];
  const Shape shape = file.require("/cells", Kind::integer, {-1, -1}, "[cells, 4] or [cells, 10]").shape;
  const bool second_order = shape[1] == nodes_of_order(2);
  if (!second_order) file.require("/cells", Kind::integer, {-1, 4}, "[cells, 4] or [cells, 10]");
  mesh.num_cells = shape[0];
  if (mesh.num_cells == 0) throw InputError(path, 0, "/cells", "no tetrahedra; mesh the volume");
  if (std::max(mesh.num_vertices, mesh.num_cells) > std::numeric_limits<PetscInt>::max())
    throw InputError(path, 0, "", "has more vertices or cells than this PETSc can number; use one with 64-bit indices");
  const EvenShare vertices(comm, mesh.num_vertices), cells(comm, mesh.num_cells);
  mesh.first_vertex = vertices.first;
  mesh.first_cell = cells.first;
  mesh.coordinates = file.read_rows<double>("/vertices", vertices.size);
  for (double& x : mesh.coordinates) x *= scale;
  mesh.cells = file.read_rows<std::int64_t>("/cells", cells.size);
  mesh.order = second_order ? 2 : 1;
  if (order == 1) keep_corners(mesh);
  validate_blocks(comm, mesh, path, allow_coincident_vertices);
  read_regions(file, mesh);
  return mesh;
}

MeshData read_lower_mesh_file(const std::string& path, CellKind kind, double scale, bool allow_coincident_vertices) {
  check_mesh_scale(scale);
  const Hdf5File file = open_mesh(MPI_COMM_SELF, path);
  MeshData mesh;
  MeshData::LowerCells& cells = mesh.lower(kind);
  const std::string dataset = dataset_of(kind);
  require_cells(file, kind);
  mesh.num_vertices = file.require("/vertices", Kind::real, {-1, 3}, "[vertices, 3]").shape[0];
  cells.num = file.require(dataset, Kind::integer, {-1, corners_of(kind)}, "[cells, corners]").shape[0];
  mesh.coordinates = file.read_rows<double>("/vertices", mesh.num_vertices);
  for (double& x : mesh.coordinates) x *= scale;
  cells.nodes = file.read_rows<std::int64_t>(dataset, cells.num);
  ValidateOptions options;
  options.allow_coincident_vertices = allow_coincident_vertices;
  mesh.num_unused_vertices = validate_lower_cells(mesh, kind, path, options);
  read_regions(file, mesh);
  return mesh;
}

void write_mesh_file(MPI_Comm comm, const std::string& path, const MeshData& mesh) {
  const ProfilingRegion region("diffsim::io::write_mesh_file");
  Hdf5File file = Hdf5File::create(comm, path, mesh_format, 1);
  file.write_rows("/vertices", mesh.coordinates, {3}, "m");
  // A mesh without any cells is written as a mesh of zero tetrahedra.
  const bool solid = mesh.num_cells > 0 || mesh.num_of(mesh.kind()) == 0;
  if (solid) file.write_rows("/cells", mesh.cells, {mesh.nodes_per_cell()});
  for (const CellKind kind : lower_kinds)
    if (mesh.lower(kind).num > 0) file.write_rows(dataset_of(kind), mesh.lower(kind).nodes, {corners_of(kind)});
  std::vector<std::string> names;
  std::vector<std::int64_t> dimensions, tags, entries;
  for (const RegionInfo& info : mesh.regions) {
    names.push_back(info.name);
    dimensions.push_back(info.dimension);
    tags.push_back(info.tag);
  }
  const Shape count{static_cast<std::int64_t>(names.size())};
  file.write_strings("/regions/names", names);
  file.write_array("/regions/dimensions", dimensions, count);
  file.write_array("/regions/tags", tags, count);
  const auto write_entries = [&](const std::string& dataset, std::int64_t columns) {
    file.write_rows(dataset, entries, {columns});
    entries.clear();
  };
  if (solid) {
    for (const auto& entry : mesh.cell_regions) entries.insert(entries.end(), {entry.cell, entry.region});
    write_entries(regions_of(CellKind::tetrahedron), 2);
    for (const auto& entry : mesh.face_regions) entries.insert(entries.end(), {entry.cell, entry.face, entry.region});
    write_entries("/regions/faces", 3);
  }
  for (const CellKind kind : lower_kinds) {
    if (mesh.lower(kind).num == 0) continue;
    for (const auto& entry : mesh.lower(kind).regions) entries.insert(entries.end(), {entry.cell, entry.region});
    write_entries(regions_of(kind), 2);
  }
  for (const auto& entry : mesh.vertex_regions) entries.insert(entries.end(), {entry.vertex, entry.region});
  write_entries("/regions/vertices", 2);
  file.publish();
}

}  // namespace diffsim
