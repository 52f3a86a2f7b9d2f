// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/face_neighbours.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "core/even_share.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

using FaceVertices = std::array<PetscInt, 3>;  // ascending

/// Returns the vertices of the face with the index `place` = 4 · cell + opposite corner.
FaceVertices face_at(const std::vector<PetscInt>& corners, PetscInt place) {
  FaceVertices v{};
  const PetscInt* const cell = &corners[static_cast<std::size_t>(place / 4 * 4)];
  std::size_t n = 0;
  for (PetscInt a = 0; a < 4; ++a)
    if (a != place % 4) v[n++] = cell[a];
  std::sort(v.begin(), v.end());
  return v;
}

/// Indices of all faces, grouped by hash: places[begin[g]] … places[begin[g + 1] - 1] are the faces with
/// (lowest vertex) mod (number of groups) = g. Faces with the same vertices are therefore in the same group.
struct GroupedFaces {
  std::vector<PetscInt> begin, places;
};

GroupedFaces grouped_faces(const std::vector<PetscInt>& corners) {
  const auto num_faces = static_cast<PetscInt>(corners.size());
  const PetscInt num_groups = num_faces / 16 + 1;  // of the order of the number of vertices
  GroupedFaces groups;
  groups.begin.assign(static_cast<std::size_t>(num_groups) + 1, 0);
  const auto group_of = [&](PetscInt place) {
    return static_cast<std::size_t>(face_at(corners, place)[0] % num_groups);
  };
  for (PetscInt place = 0; place < num_faces; ++place) ++groups.begin[group_of(place) + 1];
  for (std::size_t g = 0; g + 1 < groups.begin.size(); ++g) groups.begin[g + 1] += groups.begin[g];
  groups.places.resize(corners.size());
  std::vector<PetscInt> next(groups.begin.begin(), groups.begin.end() - 1);
  for (PetscInt place = 0; place < num_faces; ++place)
    groups.places[static_cast<std::size_t>(next[group_of(place)]++)] = place;
  return groups;
}

/// Returns, for each of this rank's cells, the neighbours that are also on this rank: [this rank's cells, 4]. See
/// face_neighbours().
std::vector<PetscInt> neighbours_here(const std::vector<PetscInt>& corners, PetscInt first_cell) {
  const GroupedFaces groups = grouped_faces(corners);
  std::vector<PetscInt> neighbours(corners.size(), no_cell);
  std::vector<std::pair<FaceVertices, PetscInt>> faces;
  for (std::size_t g = 0; g + 1 < groups.begin.size(); ++g) {
    faces.clear();
    for (PetscInt i = groups.begin[g]; i < groups.begin[g + 1]; ++i) {
      const PetscInt place = groups.places[static_cast<std::size_t>(i)];
      faces.emplace_back(face_at(corners, place), place);
    }
    std::sort(faces.begin(), faces.end());
    for (std::size_t i = 0, end = 0; i < faces.size(); i = end) {
      for (end = i + 1; end < faces.size() && faces[end].first == faces[i].first;) ++end;
      if (end == i + 1) continue;
      const auto neighbour = [&](std::size_t k) -> PetscInt& {
        return neighbours[static_cast<std::size_t>(faces[k].second)];
      };
      neighbour(i) = first_cell + faces[i + 1].second / 4;
      neighbour(i + 1) = first_cell + faces[i].second / 4;
      for (std::size_t k = i + 2; k < end; ++k) neighbour(k) = third_cell;
    }
  }
  return neighbours;
}

/// Face that belongs to only one of the cells of rank `rank`, and the neighbour across the face.
struct SingleFace {
  FaceVertices vertices;
  PetscInt cell, neighbour;
  PetscInt place;  // index of the face on the rank `rank`: 4 · cell + opposite corner
  int rank;
};

/// Finds the neighbours across faces between ranks. The vertices are split evenly over the ranks (EvenShare). Each face
/// is sent to the rank whose part contains the lowest vertex of the face; this rank matches the two cells of the face.
void find_across_ranks(MPI_Comm comm, const std::vector<PetscInt>& corners, PetscInt first_cell,
                       std::int64_t num_vertices, std::vector<PetscInt>& neighbours) {
  const int rank = rank_of(comm);
  std::vector<SingleFace> faces;
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const auto place = static_cast<PetscInt>(i);
    if (neighbours[i] == no_cell)
      faces.push_back({face_at(corners, place), first_cell + place / 4, no_cell, place, rank});
  }
  const EvenShare shares(comm, num_vertices);
  faces = redistribute(comm, faces, [&](const SingleFace& face) { return shares.owner(face.vertices[0]); });
  std::sort(faces.begin(), faces.end(), [](const SingleFace& a, const SingleFace& b) {
    return std::tie(a.vertices, a.cell) < std::tie(b.vertices, b.cell);
  });
  for (std::size_t i = 0, end = 0; i < faces.size(); i = end) {
    for (end = i + 1; end < faces.size() && faces[end].vertices == faces[i].vertices;) ++end;
    if (end == i + 1) continue;
    faces[i].neighbour = faces[i + 1].cell;
    faces[i + 1].neighbour = faces[i].cell;
    for (std::size_t k = i + 2; k < end; ++k) faces[k].neighbour = third_cell;
  }
  faces = redistribute(comm, faces, [](const SingleFace& face) { return face.rank; });
  for (const SingleFace& face : faces) neighbours[static_cast<std::size_t>(face.place)] = face.neighbour;
}

}  // namespace

std::vector<PetscInt> face_neighbours(MPI_Comm comm, const std::vector<PetscInt>& corners, std::int64_t num_vertices) {
  collectively(comm, [&] {
    if (corners.size() > static_cast<std::size_t>(std::numeric_limits<PetscInt>::max()))
      throw Error("a rank has more faces of cells than this PETSc can number; use more ranks", ErrorKind::system);
  });
  const int ranks = num_ranks(comm);
  const auto num_cells = static_cast<PetscInt>(corners.size() / 4);
  PetscInt end = num_cells;
  DIFFSIM_MPI(MPI_Scan(MPI_IN_PLACE, &end, 1, MPIU_INT, MPI_SUM, comm));
  std::vector<PetscInt> neighbours = neighbours_here(corners, end - num_cells);
  if (ranks > 1) find_across_ranks(comm, corners, end - num_cells, num_vertices, neighbours);
  return neighbours;
}

}  // namespace diffsim
