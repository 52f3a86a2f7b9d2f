// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "boundary_faces.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "diffsim/core/error.hpp"
#include "diffsim/core/even_share.hpp"
#include "diffsim/core/exchange.hpp"
#include "diffsim/core/profiling.hpp"

namespace diffsim {
namespace {

/// The face of a cell opposite to a corner: the other two of its vertices, ascending; its lowest is known from where it
/// is kept.
struct LocalFace {
  int middle, highest;
  std::int64_t place;  // 4 cell + opposite
  bool same_as(const LocalFace& other) const { return middle == other.middle && highest == other.highest; }
  bool operator<(const LocalFace& other) const {
    return std::tie(middle, highest, place) < std::tie(other.middle, other.highest, other.place);
  }
};

std::array<int, 3> sorted_face(std::span<const int> cells, std::size_t stride, std::size_t cell, int opposite) {
  std::array<int, 3> v{};
  std::size_t n = 0;
  for (int a = 0; a < 4; ++a)
    if (a != opposite) v[n++] = cells[stride * cell + static_cast<std::size_t>(a)];
  std::sort(v.begin(), v.end());
  return v;
}

/// Places, 4 cell + opposite, of the faces that one cell of this rank has.
std::vector<std::int64_t> single_faces(std::span<const int> cells, std::size_t stride, std::size_t num_vertices) {
  const std::size_t num_cells = cells.size() / stride;
  // Faces grouped by their lowest vertex; a group holds few.
  std::vector<std::int64_t> begin(num_vertices + 1, 0);
  for (std::size_t cell = 0; cell < num_cells; ++cell)
    for (int a = 0; a < 4; ++a) ++begin[static_cast<std::size_t>(sorted_face(cells, stride, cell, a)[0]) + 1];
  for (std::size_t v = 0; v < num_vertices; ++v) begin[v + 1] += begin[v];
  std::vector<LocalFace> faces(4 * num_cells);
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t cell = 0; cell < num_cells; ++cell)
    for (int a = 0; a < 4; ++a) {
      const std::array<int, 3> v = sorted_face(cells, stride, cell, a);
      faces[static_cast<std::size_t>(next[static_cast<std::size_t>(v[0])]++)] = {
          v[1], v[2], 4 * static_cast<std::int64_t>(cell) + a};
    }
  std::vector<std::int64_t> single;
  for (std::size_t v = 0; v < num_vertices; ++v) {
    const auto first = faces.begin() + begin[v], last = faces.begin() + begin[v + 1];
    std::sort(first, last);
    for (auto face = first; face != last; ++face) {
      const bool before = face != first && face->same_as(*(face - 1));
      const bool after = face + 1 != last && face->same_as(*(face + 1));
      if (!before && !after) single.push_back(face->place);
    }
  }
  return single;
}

/// A face by its vertices in the file, ascending, and who asks; then who else has it.
struct SharedFace {
  std::array<std::int64_t, 3> vertices;
  std::int64_t rank, place;
  std::int64_t cells;
};

}  // namespace

std::vector<std::pair<int, int>> boundary_faces(MPI_Comm comm, std::span<const int> cells, int nodes_per_cell,
                                                const std::vector<PetscInt>& file_index, std::int64_t num_vertices) {
  const ProfilingRegion region("diffsim::mesh::boundary_faces");
  const auto stride = static_cast<std::size_t>(nodes_per_cell);
  int rank = 0, ranks = 1;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  DIFFSIM_MPI(MPI_Comm_size(comm, &ranks));
  std::vector<std::int64_t> places = single_faces(cells, stride, file_index.size());
  if (ranks > 1) {
    // A face on the cut between two ranks has one cell on each: they meet at the even share of its lowest vertex.
    std::vector<SharedFace> faces;
    for (const std::int64_t place : places) {
      const std::array<int, 3> v =
          sorted_face(cells, stride, static_cast<std::size_t>(place / 4), static_cast<int>(place % 4));
      SharedFace face{{}, rank, place, 1};
      for (std::size_t i = 0; i < 3; ++i) face.vertices[i] = file_index[static_cast<std::size_t>(v[i])];
      std::sort(face.vertices.begin(), face.vertices.end());
      faces.push_back(face);
    }
    const EvenShare shares(comm, num_vertices);
    faces = exchange(comm, faces, [&](const SharedFace& face) { return shares.owner(face.vertices[0]); });
    std::sort(faces.begin(), faces.end(), [](const SharedFace& a, const SharedFace& b) {
      return std::tie(a.vertices, a.rank, a.place) < std::tie(b.vertices, b.rank, b.place);
    });
    for (std::size_t i = 1; i < faces.size(); ++i)
      if (faces[i].vertices == faces[i - 1].vertices) faces[i].cells = faces[i - 1].cells = 2;
    faces = exchange(comm, faces, [](const SharedFace& face) { return static_cast<int>(face.rank); });
    places.clear();
    for (const SharedFace& face : faces)
      if (face.cells == 1) places.push_back(face.place);
  }
  std::sort(places.begin(), places.end());
  std::vector<std::pair<int, int>> result;
  result.reserve(places.size());
  for (const std::int64_t place : places) result.emplace_back(static_cast<int>(place / 4), static_cast<int>(place % 4));
  return result;
}

}  // namespace diffsim
