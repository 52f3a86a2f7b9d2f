// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/dual_graph.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "core/free_elements.hpp"
#include "mesh/face_neighbours.hpp"

namespace diffsim {

DualGraph dual_graph(MPI_Comm comm, std::vector<PetscInt> corners, std::int64_t num_vertices) {
  DualGraph graph;
  graph.begin.reserve(corners.size() / 4 + 1);
  graph.neighbours = face_neighbours(comm, corners, num_vertices);
  free_elements(corners);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < graph.neighbours.size(); ++i) {
    if (i % 4 == 0) graph.begin.push_back(static_cast<PetscInt>(kept));
    if (graph.neighbours[i] >= 0) graph.neighbours[kept++] = graph.neighbours[i];
  }
  graph.begin.push_back(static_cast<PetscInt>(kept));
  graph.neighbours.resize(kept);
  return graph;
}

void add_cells(DualGraph& graph, const std::vector<PetscInt>& corners, int num_corners) {
  const auto n = static_cast<std::size_t>(num_corners);
  const auto first = static_cast<PetscInt>(graph.begin.size()) - 1;
  // Pairs (corners of a side in ascending order, cell). The side of a segment is one corner, stored twice.
  std::vector<std::pair<std::array<PetscInt, 2>, PetscInt>> sides;
  for (std::size_t i = 0; n > 1 && i < corners.size(); ++i) {
    const std::size_t cell = i / n * n;  // the side opposite to corner i
    const PetscInt a = corners[cell + (i + 1) % n], b = n == 3 ? corners[cell + (i + 2) % n] : a;
    sides.push_back({{std::min(a, b), std::max(a, b)}, first + static_cast<PetscInt>(i / n)});
  }
  std::sort(sides.begin(), sides.end());
  std::vector<std::pair<PetscInt, PetscInt>> pairs;
  for (std::size_t s = 1; s < sides.size(); ++s) {
    if (sides[s].first != sides[s - 1].first || sides[s].second == sides[s - 1].second) continue;
    pairs.push_back({sides[s - 1].second, sides[s].second});
    pairs.push_back({sides[s].second, sides[s - 1].second});
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  auto pair = pairs.begin();
  for (std::size_t c = 0; c < corners.size() / n; ++c) {
    for (; pair != pairs.end() && pair->first == first + static_cast<PetscInt>(c); ++pair)
      graph.neighbours.push_back(pair->second);
    graph.begin.push_back(static_cast<PetscInt>(graph.neighbours.size()));
  }
}

}  // namespace diffsim
