// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/construction.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "core/even_share.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "mesh/validate.hpp"

namespace diffsim {
namespace {

constexpr int cells_per_brick = 6;

/// Order of the axes for each tetrahedron of a brick. The corners of a tetrahedron are the four points of the path from
/// (0,0,0) to (1,1,1) that consists of one unit step along each axis, in this order.
constexpr int paths[cells_per_brick][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
/// True if the path is an even permutation of the axes. The sign of the permutation is the tetrahedron's orientation.
constexpr bool is_even[cells_per_brick] = {true, false, false, true, true, false};

/// Returns the product of the three `factors` and `times`. Throws InputError if the product exceeds 64 bits.
std::int64_t checked_product(const std::array<std::int64_t, 3>& factors, std::int64_t times) {
  std::int64_t product = times;
  for (const std::int64_t factor : factors) {
    if (product > std::numeric_limits<std::int64_t>::max() / factor)
      throw InputError("box: more tetrahedra than 64-bit numbers count; use fewer cells");
    product *= factor;
  }
  return product;
}

void check_size(const std::array<double, 3>& size, const std::array<int, 3>& cells) {
  std::array<double, 3> spacing;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string name(1, static_cast<char>('x' + axis));
    if (!(size[axis] > 0) || !std::isfinite(size[axis]))
      throw InputError("box: size in " + name + " is " + std::to_string(size[axis]) +
                       "; it must be positive and finite, in metres");
    if (cells[axis] <= 0)
      throw InputError("box: number of cells in " + name + " is " + std::to_string(cells[axis]) +
                       "; it must be at least 1");
    spacing[axis] = size[axis] / cells[axis];
    if (!std::isnormal(spacing[axis])) throw InputError("box: size in " + name + " is too small; give metres");
  }
  // Every tetrahedron has an edge along each axis, and its longest edge L is the brick's diagonal. The ratio det[x1-x0,
  // x2-x0, x3-x0] / L³ is therefore the product of the three spacings, each divided by the diagonal.
  const double diagonal = std::hypot(spacing[0], spacing[1], spacing[2]);
  if (!(spacing[0] / diagonal * (spacing[1] / diagonal) * (spacing[2] / diagonal) > min_relative_volume))
    throw InputError("box: its cells are too flat to have a volume in double precision; make their edges more alike");
}

/// Throws InputError if the block of this rank does not fit into the machine's memory. Called before any allocation.
void check_memory(std::int64_t num_vertices, std::int64_t num_bricks, int num_ranks) {
  const double needed =
      24.0 * static_cast<double>(num_vertices) + 32.0 * cells_per_brick * static_cast<double>(num_bricks);
  const double installed = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (needed > installed)
    throw InputError("box: " + std::to_string(num_bricks) + " bricks of six tetrahedra a rank (" +
                     std::to_string(num_ranks) + " ranks) exceed this machine's memory; use fewer cells or more ranks");
}

class Grid {
 public:
  Grid(const std::array<double, 3>& size, const std::array<std::int64_t, 3>& bricks) : size_(size), bricks_(bricks) {}

  void vertex_position(std::int64_t vertex, double* x) const {
    const auto index = split(vertex, 1);
    for (std::size_t axis = 0; axis < 3; ++axis)
      x[axis] = size_[axis] * (static_cast<double>(index[axis]) / static_cast<double>(bricks_[axis]));
  }

  /// Appends the six tetrahedra of a brick to the mesh, and the tetrahedra's faces on the sides of the box to the
  /// regions.
  void add_brick(std::int64_t brick, MeshData& mesh) const {
    const auto index = split(brick, 0);
    const std::array<std::int64_t, 3> stride = {1, bricks_[0] + 1, (bricks_[0] + 1) * (bricks_[1] + 1)};
    const std::int64_t corner = index[0] + stride[1] * index[1] + stride[2] * index[2];
    for (int t = 0; t < cells_per_brick; ++t) {
      const auto first = static_cast<std::size_t>(paths[t][0]), second = static_cast<std::size_t>(paths[t][1]),
                 third = static_cast<std::size_t>(paths[t][2]);
      std::int64_t middle[2] = {corner + stride[first], corner + stride[first] + stride[second]};
      if (!is_even[t]) std::swap(middle[0], middle[1]);
      mesh.cells.insert(mesh.cells.end(), {corner, middle[0], middle[1], corner + stride[0] + stride[1] + stride[2]});
      // All vertices of the tetrahedron but the lowest corner are at the brick's upper end along the axis `first`. All
      // vertices but the highest corner are at the brick's lower end along the axis `third`.
      const std::int64_t cell = cells_per_brick * brick + t;
      if (index[first] == bricks_[first] - 1) mesh.face_regions.push_back({cell, 0, 2 * paths[t][0] + 1});
      if (index[third] == 0) mesh.face_regions.push_back({cell, 3, 2 * paths[t][2]});
    }
  }

 private:
  std::array<std::int64_t, 3> split(std::int64_t number, std::int64_t extra) const {
    const std::int64_t nx = bricks_[0] + extra, ny = bricks_[1] + extra;
    return {number % nx, number / nx % ny, number / nx / ny};
  }

  std::array<double, 3> size_;
  std::array<std::int64_t, 3> bricks_;
};

}  // namespace

MeshData box_mesh(const std::array<double, 3>& size, const std::array<int, 3>& cells, int rank, int num_ranks) {
  if (num_ranks < 1 || rank < 0 || rank >= num_ranks)
    throw Error("box: rank " + std::to_string(rank) + " of " + std::to_string(num_ranks) + " does not exist");
  check_size(size, cells);
  const std::array<std::int64_t, 3> bricks = {cells[0], cells[1], cells[2]};
  const Grid grid(size, bricks);

  MeshData mesh;
  mesh.num_cells = checked_product(bricks, cells_per_brick);
  mesh.num_vertices = checked_product({bricks[0] + 1, bricks[1] + 1, bricks[2] + 1}, 1);
  const EvenShare my_bricks(rank, num_ranks, mesh.num_cells / cells_per_brick);
  const EvenShare my_vertices(rank, num_ranks, mesh.num_vertices);
  mesh.first_cell = cells_per_brick * my_bricks.first;
  mesh.first_vertex = my_vertices.first;
  for (const char* name : {"x_min", "x_max", "y_min", "y_max", "z_min", "z_max"})
    mesh.regions.push_back({name, 2, static_cast<int>(mesh.regions.size()) + 1});

  check_memory(my_vertices.size, my_bricks.size, num_ranks);
  mesh.coordinates.resize(3 * static_cast<std::size_t>(my_vertices.size));
  mesh.cells.reserve(std::size_t{4} * cells_per_brick * static_cast<std::size_t>(my_bricks.size));
  for (std::int64_t v = my_vertices.first; v < my_vertices.first + my_vertices.size; ++v)
    grid.vertex_position(v, &mesh.coordinates[3 * static_cast<std::size_t>(v - my_vertices.first)]);
  for (std::int64_t b = my_bricks.first; b < my_bricks.first + my_bricks.size; ++b) grid.add_brick(b, mesh);
  std::sort(mesh.face_regions.begin(), mesh.face_regions.end(), [](const auto& a, const auto& b) {
    return std::tie(a.region, a.cell, a.face) < std::tie(b.region, b.cell, b.face);
  });
  return mesh;
}

MeshData box_mesh(MPI_Comm comm, const std::array<double, 3>& size, const std::array<int, 3>& cells) {
  const int rank = rank_of(comm), ranks = num_ranks(comm);
  MeshData mesh;
  collectively(comm, [&] { mesh = box_mesh(size, cells, rank, ranks); });
  return mesh;
}

MeshData cube_mesh(MPI_Comm comm, int resolution, double size) {
  return box_mesh(comm, {size, size, size}, {resolution, resolution, resolution});
}

}  // namespace diffsim
