// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Members of the Python class TetrahedralMesh that describe surfaces and segments, for pictures.

#include <nanobind/stl/string.h>

#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "mesh.hpp"

namespace diffsim::python {
namespace {

/// Returns the nodes and the cells of this rank's boundary faces, without those of affine bodies.
nb::tuple boundary_faces(const MeshHandle& handle) {
  std::vector<int> nodes, cells;
  std::size_t width = 3;
  {
    const LibraryScope scope;
    const TetrahedralMesh& mesh = handle.get();
    if (mesh.order() == 2) width = 6;
    for (const Face& face : mesh.boundary()) {
      if (mesh.affine_body(face.cell)) continue;
      for (int i = 0; i < static_cast<int>(width); ++i) nodes.push_back(face.node(i));
      cells.push_back(face.cell);
    }
  }
  const std::size_t count = cells.size();
  return nb::make_tuple(to_numpy(std::move(nodes), {count, width}), to_numpy(std::move(cells), {count}));
}

nb::object cells_of_kind(const MeshHandle& handle, CellKind kind) {
  const auto corners = static_cast<std::size_t>(corners_of(kind));
  std::vector<int> vertices = handle.get().lower_cells(kind).vertices;
  const std::size_t count = vertices.size() / corners;
  return to_numpy(std::move(vertices), {count, corners});
}

/// Returns the surfaces of the affine bodies whose cells are on this rank.
nb::list affine_surfaces(const MeshHandle& handle) {
  const TetrahedralMesh& mesh = handle.get();
  const auto width = static_cast<std::size_t>(mesh.nodes_per_cell());
  nb::list made;
  for (int cell = 0; cell < mesh.num_cells(); ++cell) {
    const AffineBody* const affine = mesh.affine_body(cell);
    if (!affine) continue;
    std::string name;
    for (const MeshBody& body : mesh.bodies())
      if (body.affine.get() == affine) name = body.name;
    const auto first = mesh.cells().begin() + static_cast<std::ptrdiff_t>(width * static_cast<std::size_t>(cell));
    std::vector<double> points;
    for (const auto& point : affine->surface.vertices) points.insert(points.end(), point.begin(), point.end());
    std::vector<int> triangles;
    for (const auto& triangle : affine->surface.triangles)
      triangles.insert(triangles.end(), triangle.begin(), triangle.end());
    const std::size_t num_points = points.size() / 3, num_triangles = triangles.size() / 3;
    made.append(nb::make_tuple(name, to_numpy(std::vector<int>(first, first + 4), {4}),
                               to_numpy(std::move(points), {num_points, 3}),
                               to_numpy(std::move(triangles), {num_triangles, 3})));
  }
  return made;
}

}  // namespace

void bind_mesh_surface(nb::module_& module) {
  nb::borrow<nb::class_<MeshHandle>>(module.attr("TetrahedralMesh"))
      .def("boundary_faces", &boundary_faces,
           R"(Return this rank's boundary faces of tetrahedra, as arrays (faces, cells). Collective.

faces: local vertex numbers, [faces, 3], or [faces, 6] for second-order cells: the corners, then the middles of the
edges (0, 1), (1, 2) and (2, 0). Normals point out of the tetrahedra. cells: local numbers of the tetrahedra, [faces].
Cells of affine bodies are left out.)",
           nb::sig("def boundary_faces(self) -> tuple[numpy.ndarray, numpy.ndarray]"))
      .def_prop_ro(
          "triangles", [](const MeshHandle& mesh) { return cells_of_kind(mesh, CellKind::triangle); },
          "Copy of the local vertex numbers of this rank's triangles of shells and cloth, [triangles, 3].",
          nb::sig("def triangles(self) -> numpy.ndarray"))
      .def_prop_ro(
          "segments", [](const MeshHandle& mesh) { return cells_of_kind(mesh, CellKind::segment); },
          "Copy of the local vertex numbers of this rank's segments of springs, ropes and rods, [segments, 2].",
          nb::sig("def segments(self) -> numpy.ndarray"))
      .def("affine_surfaces", &affine_surfaces,
           R"(Return the surfaces of this rank's affine bodies, a list of tuples (name, nodes, points, triangles).

nodes: local numbers of the four vertices that determine the motion, [4]. points: rest positions of the surface, [n, 3],
m. triangles: numbers of points, [m, 3]. The name is empty for a mesh of one body without a name.)",
           nb::sig("def affine_surfaces(self) -> list[tuple[str, numpy.ndarray, numpy.ndarray, numpy.ndarray]]"));
}

}  // namespace diffsim::python
