// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/io/read_mesh.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <span>

#include "core/broadcast.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"
#include "io/files.hpp"
#include "io/mesh_file.hpp"
#include "mesh/elevate.hpp"
#include "mesh/readers/exodus_reader.hpp"
#include "mesh/readers/gmsh/gmsh_reader.hpp"
#include "mesh/readers/med_reader.hpp"
#include "mesh/readers/polygon_reader.hpp"
#include "mesh/readers/vtu_reader.hpp"

namespace diffsim {
namespace {

/// File extensions of VTK's XML formats, of Exodus, and of formats that must be converted with meshio first.
constexpr std::array vtk_xml = {".vtu", ".pvtu", ".vtp", ".pvtp"};
constexpr std::array exodus = {".e", ".exo", ".ex2", ".g", ".gen"};
constexpr std::array converted = {".inp", ".bdf", ".nas", ".fem", ".vtk", ".cgns", ".mesh", ".xdmf", ".su2"};

bool is_one_of(std::span<const char* const> endings, const std::string& ending) {
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

/// Broadcasts the counts and regions of the whole mesh from rank 0.
void broadcast_counts_and_regions(MPI_Comm comm, int rank, MeshData& mesh) {
  std::int64_t counts[8] = {mesh.num_vertices,
                            mesh.num_cells,
                            mesh.num_unused_vertices,
                            static_cast<std::int64_t>(mesh.regions.size()),
                            mesh.order,
                            mesh.lower_cells[0].num,
                            mesh.lower_cells[1].num,
                            mesh.lower_cells[2].num};
  DIFFSIM_MPI(MPI_Bcast(counts, 8, MPI_INT64_T, 0, comm));
  mesh.num_vertices = counts[0];
  mesh.num_cells = counts[1];
  mesh.num_unused_vertices = counts[2];
  mesh.regions.resize(static_cast<std::size_t>(counts[3]));
  mesh.order = static_cast<int>(counts[4]);
  for (std::size_t k = 0; k < mesh.lower_cells.size(); ++k) mesh.lower_cells[k].num = counts[5 + k];
  for (RegionInfo& region : mesh.regions) {
    int header[2] = {region.dimension, region.tag};
    DIFFSIM_MPI(MPI_Bcast(header, 2, MPI_INT, 0, comm));
    region.dimension = header[0];
    region.tag = header[1];
    broadcast_text(region.name, comm);
  }
  if (rank == 0) return;
  mesh.first_vertex = mesh.num_vertices;
  mesh.first_cell = mesh.num_cells;
  for (MeshData::LowerCells& cells : mesh.lower_cells) cells.first = cells.num;
}

std::string ending_of(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending;
}

bool is_hdf5_mesh(const std::string& path) {
  const std::string ending = ending_of(path);
  if (ending == ".h5" || ending == ".hdf5") return true;
  return ending != ".med" && !is_one_of(exodus, ending) && !is_one_of(converted, ending) && has_hdf5_signature(path);
}

MeshData read_serially(const std::string& path, double scale, bool allow_coincident_vertices, int order,
                       CellKind kind) {
  const std::string ending = ending_of(path);
  if (is_hdf5_mesh(path)) return read_lower_mesh_file(path, kind, scale, allow_coincident_vertices);
  if (is_polygon_file(path)) return read_polygon_mesh(path, kind, scale, allow_coincident_vertices);
  if (is_one_of(vtk_xml, ending)) return read_vtu(path, scale, allow_coincident_vertices, order, kind);
  if (ending == ".med") return read_med(path, scale, allow_coincident_vertices, order, kind);
  if (is_one_of(exodus, ending)) return read_exodus(path, scale, allow_coincident_vertices, order, kind);
  if (is_one_of(converted, ending))
    throw InputError(path, 0, "",
                     "has an unsupported format; convert the file: `meshio convert --sets-to-int-data " + path + " " +
                         std::filesystem::path(path).replace_extension(".vtu").string() +
                         "` (Debian's package meshio-tools, PyPI's meshio), and give the result");
  return read_gmsh(path, scale, allow_coincident_vertices, order, kind);
}

}  // namespace

MeshData read_mesh_data(MPI_Comm comm, const std::string& path, double scale, bool allow_coincident_vertices, int order,
                        CellKind kind) {
  const ProfilingRegion region("diffsim::io::read_mesh");
  if (order != 1 && order != 2) throw InputError("mesh order " + std::to_string(order) + " is not known; use 1 or 2");
  const int rank = rank_of(comm);
  int is_hdf5 = 0;  // 1 if the file is an HDF5 file that all ranks read in blocks, otherwise 0
  if (rank == 0) {
    is_hdf5 = kind == CellKind::tetrahedron && is_hdf5_mesh(path);
  }
  DIFFSIM_MPI(MPI_Bcast(&is_hdf5, 1, MPI_INT, 0, comm));
  MeshData mesh;
  if (is_hdf5) {
    mesh = read_mesh_file(comm, path, scale, allow_coincident_vertices, order);
  } else {
    collectively(comm, [&] {
      if (rank != 0) return;
      mesh = read_serially(path, scale, allow_coincident_vertices, order, kind);
    });
    broadcast_counts_and_regions(comm, rank, mesh);
  }
  if (order == 2 && kind == CellKind::tetrahedron) elevate(comm, mesh);
  return mesh;
}

TriangleMesh read_surface(const std::string& path, double scale) {
  if (is_polygon_file(path)) return read_triangles(path, scale);
  const MeshData mesh = read_serially(path, scale, false, 1, CellKind::triangle);
  TriangleMesh surface;
  std::vector<int> number(static_cast<std::size_t>(mesh.num_vertices), -1);
  const std::vector<std::int64_t>& nodes = mesh.lower(CellKind::triangle).nodes;
  for (const std::int64_t node : nodes) number[static_cast<std::size_t>(node)] = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] < 0) continue;
    number[v] = static_cast<int>(surface.vertices.size());
    surface.vertices.push_back({mesh.coordinates[3 * v], mesh.coordinates[3 * v + 1], mesh.coordinates[3 * v + 2]});
  }
  const auto at = [&](std::size_t i) { return number[static_cast<std::size_t>(nodes[i])]; };
  for (std::size_t i = 0; i < nodes.size(); i += 3) surface.triangles.push_back({at(i), at(i + 1), at(i + 2)});
  return surface;
}

std::shared_ptr<TetrahedralMesh> TetrahedralMesh::from_file(MPI_Comm comm, const std::string& path, double scale) {
  return read_mesh(comm, path, scale);
}

std::shared_ptr<TetrahedralMesh> read_mesh(MPI_Comm comm, const std::string& path, double scale,
                                           bool allow_coincident_vertices, int order,
                                           std::optional<int> quadrature_degree) {
  return std::make_shared<TetrahedralMesh>(comm, read_mesh_data(comm, path, scale, allow_coincident_vertices, order),
                                           quadrature_degree);
}

}  // namespace diffsim
