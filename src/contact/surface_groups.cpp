// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/surface_groups.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "mesh/bodies.hpp"

namespace diffsim::contact {
namespace {

/// Key of a face; all occurrences of a face on a rank have the same key.
std::array<int, 4> key_of(const Face& face) {
  std::array<int, 3> corners = face.vertices;
  std::sort(corners.begin(), corners.end());
  return {face.cell, corners[0], corners[1], corners[2]};
}

std::int64_t number_of(const TetrahedralMesh& mesh, int vertex) {
  return mesh.vertex_order().file_index()[static_cast<std::size_t>(vertex)];
}

/// Text of the corners of a face, for example "3, 7, 9 of gripper".
std::string text_of(const TetrahedralMesh& mesh, const Face& face) {
  std::string text;
  const std::int64_t first =
      mesh.bodies().empty()
          ? 0
          : mesh.bodies()[static_cast<std::size_t>(body_of_vertex(mesh.bodies(), number_of(mesh, face.vertices[0])))]
                .first_vertex;
  for (std::size_t k = 0; k < 2; ++k)
    if (face.vertices[k] != face.vertices[2]) text += std::to_string(number_of(mesh, face.vertices[k]) - first) + ", ";
  return text + vertex_name(mesh.bodies(), number_of(mesh, face.vertices[2]));
}

/// Faces of this rank's surface: the boundary of tetrahedra, then the triangles, segments and points that are cells, in
/// the order of `surface_pieces`.
std::vector<Face> surface_faces(const TetrahedralMesh& mesh) {
  std::vector<Face> faces = mesh.boundary();
  for (const CellKind kind : {CellKind::triangle, CellKind::segment, CellKind::point})
    for (const SurfacePiece& piece : pieces_of_kind(mesh, kind)) faces.push_back({-1, piece});
  return faces;
}

/// Adds the keys of a region's cells of one kind to `keys`.
void add_cells(const TetrahedralMesh& mesh, const std::string& region, CellKind kind,
               std::set<std::array<int, 4>>& keys) {
  const std::vector<int>& vertices = mesh.lower_cells(kind).vertices;
  const auto corners = static_cast<std::size_t>(corners_of(kind));
  for (const int cell : mesh.region(region).lower_cells[index_of(kind)]) {
    const auto corner = [&](std::size_t k) {
      return vertices[corners * static_cast<std::size_t>(cell) + std::min(k, corners - 1)];
    };
    keys.insert(key_of({-1, {corner(0), corner(1), corner(2)}}));
  }
}

/// Index of the region of each face; `regions.size()` for a face without a region. Collective.
std::vector<std::size_t> regions_of(const std::vector<Face>& surface, const TetrahedralMesh& mesh,
                                    const std::vector<std::string>& regions) {
  std::vector<std::size_t> found(surface.size(), regions.size());
  for (std::size_t r = 0; r < regions.size(); ++r) {
    std::set<std::array<int, 4>> faces;
    for (const Face& face : mesh.faces(regions[r])) faces.insert(key_of(face));
    for (const CellKind kind : lower_kinds) add_cells(mesh, regions[r], kind, faces);
    std::int64_t count = 0;
    collectively(mesh.comm(), [&] {
      for (std::size_t f = 0; f < surface.size(); ++f) {
        if (!faces.contains(key_of(surface[f]))) continue;
        ++count;
        if (found[f] < r)
          throw Error("regions '" + regions[found[f]] + "' and '" + regions[r] + "' both have the face of vertices " +
                          text_of(mesh, surface[f]) + "; contact pairs need disjoint regions",
                      ErrorKind::input);
        found[f] = r;
      }
    });
    if (sum_over_ranks(count, mesh.comm()) == 0)
      throw Error("region '" + regions[r] + "' has no face of the contact surface; give a region with such faces",
                  ErrorKind::input);
  }
  return found;
}

}  // namespace

SurfaceGroups surface_groups(const TetrahedralMesh& mesh, const std::vector<std::string>& regions) {
  const std::size_t num_regions = regions.size();
  const std::vector<Face> faces = surface_faces(mesh);
  const std::vector<std::size_t> of_faces = regions_of(faces, mesh, regions);
  const auto group_of_body = [&](int vertex) {
    return static_cast<int>(num_regions) + body_of_vertex(mesh.bodies(), number_of(mesh, vertex));
  };
  SurfaceGroups groups;
  std::vector<std::array<int, 3>> triangles;
  const auto num_vertices = static_cast<std::size_t>(mesh.num_vertices());
  // [vertices, regions]: number of triangles of the region at the vertex.
  std::vector<PetscInt> counts(num_regions * num_vertices, 0);
  for (std::size_t f = 0; f < of_faces.size(); ++f) {
    add_triangles_of(faces[f], triangles);
    for (std::size_t t = groups.triangles.size(); t < triangles.size(); ++t) {
      const std::size_t region = of_faces[f];
      groups.triangles.push_back(region < num_regions ? static_cast<int>(region) : group_of_body(triangles[t][0]));
      if (region == num_regions) continue;
      for (const int v : triangles[t]) ++counts[num_regions * static_cast<std::size_t>(v) + region];
    }
  }
  if (num_regions > 0) {
    mesh.vertex_exchange().add_to_owners(counts, static_cast<int>(num_regions));
    mesh.vertex_exchange().copy_to_ghosts(counts, static_cast<int>(num_regions));
  }
  for (std::size_t v = 0; v < num_vertices; ++v) {
    const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(num_regions * v),
               end = begin + static_cast<std::ptrdiff_t>(num_regions);
    const auto first = std::find_if(begin, end, [](PetscInt count) { return count > 0; });
    groups.vertices.push_back(first < end ? static_cast<int>(first - begin) : group_of_body(static_cast<int>(v)));
  }
  return groups;
}

std::vector<int> surface_vertices(const TetrahedralMesh& mesh, const std::vector<std::string>& regions,
                                  const std::vector<std::size_t>& groups, int dimension) {
  std::vector<int> vertices = surface_areas(mesh, dimension).vertices;
  if (groups.empty()) return vertices;
  const SurfaceGroups all = surface_groups(mesh, regions);
  std::erase_if(vertices, [&](int v) {
    const auto group = static_cast<std::size_t>(all.vertices[static_cast<std::size_t>(v)]);
    return std::find(groups.begin(), groups.end(), group) == groups.end();
  });
  return vertices;
}

}  // namespace diffsim::contact
