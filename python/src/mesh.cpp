// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "converted_file.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/io/read_mesh.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "shared_objects.hpp"

namespace diffsim::python {
namespace {

/// Returns the rows of an array of shape [n, N]. An array without values may have any shape.
template <std::size_t N, class To, class T>
std::vector<std::array<To, N>> rows(const ArrayOf<T>& array, const std::string& what) {
  if (array.values.empty()) return {};
  if (array.shape.size() != 2 || array.shape[1] != N)
    throw InputError(what + " must be an array of shape [n, " + std::to_string(N) + "]");
  std::vector<std::array<To, N>> result(array.shape[0]);
  for (std::size_t i = 0; i < result.size(); ++i)
    for (std::size_t k = 0; k < N; ++k) {
      const T value = array.values[N * i + k];
      if constexpr (std::is_integral_v<T>)
        if (value != static_cast<T>(static_cast<To>(value)))
          throw InputError(what + ": " + std::to_string(value) + " is too large");
      result[i][k] = static_cast<To>(value);
    }
  return result;
}

/// Calls make(communicator) in a LibraryScope, and stores the mpi4py communicator with the new mesh. `record`: source
/// of the mesh. `arguments`: arguments of the caller, which must be the same on all ranks; `names`: their names.
template <class Make, class... Arguments>
MeshHandle* new_mesh(nb::object comm, const BodyRecord& record, const Make& make, const char* names,
                     const Arguments&... arguments) {
  const MPI_Comm on = communicator(comm);
  std::shared_ptr<TetrahedralMesh> mesh;
  {
    const LibraryScope scope;
    require_same_on_all_ranks(on, names, arguments...);
    mesh = share_on_all_ranks(on, std::shared_ptr<TetrahedralMesh>(make(on)));
  }
  auto* handle = new MeshHandle(std::move(mesh));
  handle->comm = std::move(comm);
  handle->record = record_mesh(record);
  return handle;
}

std::shared_ptr<TetrahedralMesh> mesh_of_arrays(MPI_Comm comm, nb::handle vertices, nb::handle tets) {
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<int, 4>> cells;
  collectively(comm, [&] {
    const nb::gil_scoped_acquire with_gil;
    if (!is_first_rank(comm)) return;
    points = rows<3, double>(doubles(vertices, "vertices"), "vertices");
    cells = rows<4, int>(integers(tets, "tets"), "tets");
  });
  return share_on_all_ranks(comm, std::make_shared<TetrahedralMesh>(comm, points, cells));
}

/// Returns the shape of the region that the arguments of define_region describe. Throws InputError unless exactly one
/// shape is given.
RegionShape shape_of_region(const std::optional<std::array<std::array<double, 3>, 2>>& box,
                            const std::optional<std::array<double, 3>>& center, std::optional<double> radius,
                            const nb::object& vertices) {
  if (box.has_value() + center.has_value() + !vertices.is_none() != 1 || center.has_value() != radius.has_value())
    throw InputError("define_region needs exactly one of: box, center with radius, vertices");
  if (box) return BoxShape{(*box)[0], (*box)[1]};
  if (center) return SphereShape{*center, *radius};
  return VertexList{integers(vertices, "vertices").values};
}

void define_region(MeshHandle& mesh, const std::string& name, std::optional<std::array<std::array<double, 3>, 2>> box,
                   std::optional<std::array<double, 3>> center, std::optional<double> radius, nb::object vertices,
                   const std::string& body) {
  RegionShape shape =
      read_on_all_ranks(mesh.get().comm(), [&] { return shape_of_region(box, center, radius, vertices); });
  const LibraryScope scope;
  require_same_on_all_ranks(mesh.get().comm(), "name, box, center, radius, body", name, box, center, radius, body);
  mesh.get().define_region(name, shape, body);
  record_region(mesh.record, name, shape, body);
}

/// Returns a one-dimensional numpy array of the numbers.
template <class T>
nb::object list_of(std::vector<T> numbers) {
  const std::size_t count = numbers.size();
  return to_numpy(std::move(numbers), {count});
}

void bind_constructors(nb::class_<MeshHandle>& bound) {
  bound
      .def(
          "__init__",
          [](MeshHandle* self, nb::object vertices, nb::object tets, nb::object comm) {
            const MPI_Comm on = communicator(comm);
            std::shared_ptr<TetrahedralMesh> mesh;
            {
              const LibraryScope scope;
              mesh = mesh_of_arrays(on, vertices, tets);
            }
            new (self) MeshHandle(std::move(mesh));
            self->comm = std::move(comm);
            self->record = record_mesh(record_arrays());
          },
          nb::arg("vertices").none(), nb::arg("tets").none(), nb::arg("comm") = nb::none(),
          R"(Create a mesh of linear tetrahedra.

vertices: array [vertices, 3], in m. tets: integer array [tetrahedra, 4], the vertex numbers of each tetrahedron,
positively oriented. Only the first rank's arrays are used; other ranks may pass None.)",
          nb::sig("def __init__(self, vertices: object, tets: object, comm: object | None = None) -> None"))
      .def_static(
          "from_file",
          [](const std::string& path, double scale, nb::object comm, int order) {
            return new_mesh(
                std::move(comm), record_mesh_file(path, scale),
                [&](MPI_Comm on) {
                  const ConvertedFile file(on, path);
                  return read_mesh(on, file.path(), scale, false, order);
                },
                "path, scale, order", path, scale, order);
          },
          nb::arg("path"), nb::arg("scale") = 1.0, nb::arg("comm") = nb::none(), nb::arg("order") = 1,
          R"(Read a mesh file: Gmsh, VTU, HDF5, MED or Exodus, or any format that the package meshio reads, such as Abaqus.

scale: factor that converts the file's coordinates to m. order: 1 for linear cells, 2 for second-order cells. Groups of
the file become regions. meshio runs on the first rank. Collective.)");
}

/// Binds cubes and boxes.
void bind_boxes(nb::class_<MeshHandle>& bound) {
  bound
      .def_static(
          "create_cube",
          [](int resolution, double size, nb::object comm) {
            return new_mesh(
                std::move(comm), record_box({size, size, size}, {resolution, resolution, resolution}),
                [&](MPI_Comm on) { return TetrahedralMesh::create_cube(on, resolution, size); }, "resolution, size",
                resolution, size);
          },
          nb::arg("resolution") = 10, nb::arg("size") = 1.0, nb::arg("comm") = nb::none(),
          R"(Create the cube [0, size]³, in m, of 6·resolution³ tetrahedra.

The sides of the cube are the regions x_min, …, z_max.)")
      .def_static(
          "box",
          [](std::array<double, 3> size, std::array<int, 3> cells, int order, nb::object comm) {
            return new_mesh(
                std::move(comm), record_box(size, cells),
                [&](MPI_Comm on) { return TetrahedralMesh::box(on, size, cells, order); }, "size, cells, order", size,
                cells, order);
          },
          nb::arg("size"), nb::arg("cells"), nb::arg("order") = 1, nb::arg("comm") = nb::none(),
          R"(Create a box of cells[0] × cells[1] × cells[2] bricks with six tetrahedra each.

One corner is the origin, and the opposite corner is `size`, [3], in m. order: 1 for linear cells, 2 for second-order
cells. The sides of the box are the regions x_min, …, z_max.)");
}

void bind_properties(nb::class_<MeshHandle>& bound) {
  bound
      .def_prop_ro(
          "comm", [](const MeshHandle& mesh) { return mesh.comm; },
          "Communicator of mpi4py with which the mesh was created, or None.")
      .def_prop_ro(
          "comm_handle", [](const MeshHandle& mesh) { return std::int64_t{MPI_Comm_c2f(mesh.get().comm())}; },
          "Handle of the communicator, for MPI.Comm.f2py of mpi4py. The communicator must not be freed.")
      .def_prop_ro(
          "order", [](const MeshHandle& mesh) { return mesh.get().order(); }, "Order of the cells: 1 or 2.")
      .def_prop_ro(
          "num_vertices", [](const MeshHandle& mesh) { return mesh.get().num_global_vertices(); },
          "Number of vertices of the whole mesh.")
      .def_prop_ro(
          "num_cells", [](const MeshHandle& mesh) { return mesh.get().num_global_cells(); },
          "Number of tetrahedra of the whole mesh.")
      .def_prop_ro(
          "num_local_vertices", [](const MeshHandle& mesh) { return mesh.get().num_vertices(); },
          "Number of this rank's vertices, including copies of other ranks' vertices.")
      .def_prop_ro(
          "num_owned_vertices", [](const MeshHandle& mesh) { return mesh.get().num_owned_vertices(); },
          "Number of vertices that this rank owns. The owned vertices are the first local vertices.")
      .def_prop_ro(
          "num_local_cells", [](const MeshHandle& mesh) { return mesh.get().num_cells(); },
          "Number of this rank's tetrahedra.")
      .def_prop_ro(
          "rest_positions",
          [](const MeshHandle& mesh) {
            const auto& x = mesh.get().rest_positions();
            return to_numpy(x, {x.size() / 3, 3});
          },
          "Copy of the rest positions, [local vertices, 3], in m.",
          nb::sig("def rest_positions(self) -> numpy.ndarray"))
      .def_prop_ro(
          "cells",
          [](const MeshHandle& mesh) {
            const auto cells = mesh.get().cells();
            const auto nodes = static_cast<std::size_t>(mesh.get().nodes_per_cell());
            return to_numpy(std::vector<int>(cells.begin(), cells.end()), {cells.size() / nodes, nodes});
          },
          "Copy of the local vertex numbers of this rank's tetrahedra, [local cells, 4 or 10].",
          nb::sig("def cells(self) -> numpy.ndarray"))
      .def_prop_ro(
          "global_vertices", [](const MeshHandle& mesh) { return list_of(vertex_numbers(mesh.get())); },
          "Numbers of the local vertices in the mesh file, or in the array `vertices`: [local vertices].",
          nb::sig("def global_vertices(self) -> numpy.ndarray"))
      .def_prop_ro(
          "global_cells", [](const MeshHandle& mesh) { return list_of(cell_numbers(mesh.get())); },
          "Numbers of this rank's tetrahedra in the mesh file, or in the array `tets`: [local cells].",
          nb::sig("def global_cells(self) -> numpy.ndarray"));
}

void bind_regions(nb::class_<MeshHandle>& bound) {
  bound
      .def_prop_ro(
          "region_names", [](const MeshHandle& mesh) { return mesh.get().region_names(); }, "Names of the regions.")
      .def(
          "region",
          [](const MeshHandle& mesh, const std::string& name) {
            std::vector<int> vertices;
            {
              const LibraryScope scope;
              vertices = mesh.get().region(name).vertices;
            }
            return list_of(std::move(vertices));
          },
          nb::arg("name"), "Return the local numbers of the vertices of a region, ascending. Collective.",
          nb::sig("def region(self, name: str) -> numpy.ndarray"))
      .def(
          "region_cells",
          [](const MeshHandle& mesh, const std::string& name) {
            std::vector<int> cells;
            {
              const LibraryScope scope;
              cells = mesh.get().region(name).cells;
            }
            return list_of(std::move(cells));
          },
          nb::arg("name"), "Return the local numbers of the tetrahedra of a region, ascending. Collective.",
          nb::sig("def region_cells(self, name: str) -> numpy.ndarray"))
      .def("define_region", &define_region, nb::arg("name"), nb::kw_only(), nb::arg("box") = nb::none(),
           nb::arg("center") = nb::none(), nb::arg("radius") = nb::none(), nb::arg("vertices") = nb::none(),
           nb::arg("body") = "",
           R"(Define a region by exactly one of: box, ball (center and radius), list of vertices. Collective.

box: two opposite corners [min, max], in m. center, radius: in m. vertices: numbers in the mesh file, the same on all
ranks. body: if given,
the region contains only vertices of this body, and `vertices` are numbered from the body's first vertex.)");
}

}  // namespace

void bind_mesh(nb::module_& module) {
  nb::class_<MeshHandle> bound(module, "TetrahedralMesh",
                               R"(Mesh of tetrahedra, distributed over the ranks of a communicator.

Each cell is on one rank. Each vertex is owned by one rank, and the other ranks that need the vertex have copies. A rank
numbers its owned vertices first, then its copies; these are its local vertices. `comm` is a communicator of mpi4py, or
None for all ranks. All functions that create a mesh are collective.)");
  bind_constructors(bound);
  bind_boxes(bound);
  bind_properties(bound);
  bind_regions(bound);
  bound.def("__repr__", [](const MeshHandle& mesh) {
    return nb::str("TetrahedralMesh({} vertices, {} cells)")
        .format(mesh.get().num_global_vertices(), mesh.get().num_global_cells());
  });
}

}  // namespace diffsim::python
