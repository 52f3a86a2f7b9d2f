// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dual_graph.hpp"

#include "face_neighbours.hpp"

namespace diffsim {

DualGraph dual_graph(MPI_Comm comm, std::vector<PetscInt> corners, std::int64_t num_vertices) {
  DualGraph graph;
  graph.begin.reserve(corners.size() / 4 + 1);
  graph.neighbours = face_neighbours(comm, corners, num_vertices);
  corners = {};
  std::size_t kept = 0;
  for (std::size_t i = 0; i < graph.neighbours.size(); ++i) {
    if (i % 4 == 0) graph.begin.push_back(static_cast<PetscInt>(kept));
    if (graph.neighbours[i] >= 0) graph.neighbours[kept++] = graph.neighbours[i];
  }
  graph.begin.push_back(static_cast<PetscInt>(kept));
  graph.neighbours.resize(kept);
  return graph;
}

}  // namespace diffsim
