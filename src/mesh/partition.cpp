// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/partition.hpp"

#include <petscpartitioner.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/petsc_handle.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"
#include "mesh/bodies.hpp"
#include "mesh/dual_graph.hpp"
#include "mesh/scotch_parts.hpp"

namespace diffsim {
namespace {

/// Returns the file numbers of the corners of this rank's block of tetrahedra: [cells, 4].
std::vector<PetscInt> corners_of(const MeshData& data) {
  if (data.num_vertices > std::numeric_limits<PetscInt>::max() || data.num_cells > std::numeric_limits<PetscInt>::max())
    throw Error("the mesh has more vertices or cells than this PETSc can number; use a PETSc with 64-bit indices");
  std::vector<PetscInt> corners;
  const auto stride = static_cast<std::size_t>(data.nodes_per_cell());
  corners.reserve(4 * static_cast<std::size_t>(data.block_cells()));
  for (std::size_t c = 0; c < data.cells.size(); c += stride)
    for (std::size_t a = 0; a < 4; ++a) corners.push_back(static_cast<PetscInt>(data.cells[c + a]));
  return corners;
}

/// Gathers `corners` of all ranks on rank 0, and returns the result there. Returns an empty array on all other ranks.
std::vector<PetscInt> on_one_rank(MPI_Comm comm, const std::vector<PetscInt>& corners) {
  const int rank = rank_of(comm), ranks = num_ranks(comm);
  const int mine = static_cast<int>(corners.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks)), begins(static_cast<std::size_t>(ranks), 0);
  DIFFSIM_MPI(MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm));
  for (std::size_t r = 1; r < begins.size(); ++r) begins[r] = begins[r - 1] + counts[r - 1];
  std::vector<PetscInt> all(rank == 0 ? static_cast<std::size_t>(begins.back() + counts.back()) : 0);
  DIFFSIM_MPI(MPI_Gatherv(corners.data(), mine, MPIU_INT, all.data(), counts.data(), begins.data(), MPIU_INT, 0, comm));
  return all;
}

constexpr double work_of_second_order = 4.0;  // work per second-order cell / work per linear cell

/// Returns the work per cell and per contact triangle of a body. `body`: index of the body in the mesh.
const CellWork& work_of_body(const MeshData& data, std::size_t body) {
  return data.bodies.empty() ? data.work : data.bodies[body].work;
}

/// Returns the work at a cell, including contact. `number`: file number of the cell. `surface_faces`: number of the
/// cell's triangles that are on the surface; 1 for cells other than tetrahedra.
double work_at(const MeshData& data, CellKind kind, std::int64_t number, int surface_faces) {
  const auto body = static_cast<std::size_t>(body_of_cell(data.bodies, number, kind));
  const CellWork& work = work_of_body(data, body);
  const AffineBody* const affine = data.bodies.empty() ? data.affine.get() : data.bodies[body].affine.get();
  const double faces = affine ? static_cast<double>(affine->surface.triangles.size()) : surface_faces;
  const bool is_second_order = kind == CellKind::tetrahedron && data.order == 2;
  return work.cell * (is_second_order ? work_of_second_order : 1.0) + work.face * faces;
}

/// Returns true if all cells of the mesh have the same work.
bool is_uniform(const MeshData& data) {
  const bool has_lower =
      std::any_of(lower_kinds.begin(), lower_kinds.end(), [&](CellKind kind) { return data.lower(kind).num > 0; });
  const double first = work_of_body(data, 0).cell;
  for (std::size_t body = 0; body < std::max<std::size_t>(data.bodies.size(), 1); ++body)
    if (const CellWork& work = work_of_body(data, body); work.face != 0.0 || work.cell != first) return false;
  return !(has_lower && data.num_cells > 0 && data.order == 2);
}

/// Returns integer weights of the cells for a partitioner. The weights are proportional to `work` up to rounding, and
/// are at least 1. The factor of proportionality is chosen so that the sum over all ranks is at most about 10⁹.
std::vector<PetscInt> weights_of(MPI_Comm comm, const std::vector<double>& work) {
  double total = std::accumulate(work.begin(), work.end(), 0.0);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_DOUBLE, MPI_SUM, comm));
  const double scale = std::min(16.0, 1e9 / std::max(total, 1.0));
  std::vector<PetscInt> weights;
  weights.reserve(work.size());
  for (const double w : work) weights.push_back(std::max<PetscInt>(1, static_cast<PetscInt>(std::lround(scale * w))));
  return weights;
}

/// Appends the work at the cells `begin` … `end` - 1 of `graph` to `work`. `first`: file number of the first of these
/// cells.
void add_work(const MeshData& data, CellKind kind, const DualGraph& graph, std::size_t begin, std::size_t end,
              std::int64_t first, std::vector<double>& work) {
  for (std::size_t cell = begin; cell < end; ++cell) {
    const auto neighbours = static_cast<int>(graph.begin[cell + 1] - graph.begin[cell]);
    work.push_back(work_at(data, kind, first + static_cast<std::int64_t>(cell - begin),
                           kind == CellKind::tetrahedron ? 4 - neighbours : 1));
  }
}

using PartitionerHandle = PetscHandle<PetscPartitioner, PetscPartitionerDestroy>;
using SectionHandle = PetscHandle<PetscSection, PetscSectionDestroy>;
using IndexSetHandle = PetscHandle<IS, ISDestroy>;

/// Calls PetscPartitionerPartition. `weights`: weights of the cells; nullptr stands for equal weights. Later versions
/// of PETSc have an additional argument for edge weights.
template <class Partition>
PetscErrorCode call_partitioner(Partition partition, PetscPartitioner partitioner, PetscInt parts, PetscInt cells,
                                DualGraph& graph, PetscSection weights, PetscSection sizes, IS* order) {
  PetscInt *const begin = graph.begin.data(), *const neighbours = graph.neighbours.data();
  if constexpr (std::is_invocable_v<Partition, PetscPartitioner, PetscInt, PetscInt, PetscInt*, PetscInt*, PetscSection,
                                    PetscSection, PetscSection, IS*>)
    return partition(partitioner, parts, cells, begin, neighbours, weights, nullptr, sizes, order);
  else
    return partition(partitioner, parts, cells, begin, neighbours, weights, nullptr, nullptr, sizes, order);
}

/// Returns the destination rank of each of this rank's cells of the graph, from PETSc's partitioner. Collective.
/// `weights`: weight of each cell; without a value (on all ranks), all weights are 1.
std::vector<int> ranks_of(MPI_Comm comm, DualGraph graph, const std::optional<std::vector<PetscInt>>& weights) {
  const int ranks = num_ranks(comm);
  SectionHandle loads;
  if (weights) {
    DIFFSIM_PETSC(PetscSectionCreate(comm, loads.out()));
    DIFFSIM_PETSC(PetscSectionSetChart(loads, 0, static_cast<PetscInt>(weights->size())));
    for (std::size_t cell = 0; cell < weights->size(); ++cell)
      DIFFSIM_PETSC(PetscSectionSetDof(loads, static_cast<PetscInt>(cell), (*weights)[cell]));
    DIFFSIM_PETSC(PetscSectionSetUp(loads));
  }
  PartitionerHandle partitioner;
  DIFFSIM_PETSC(PetscPartitionerCreate(comm, partitioner.out()));
  DIFFSIM_PETSC(PetscPartitionerSetType(partitioner, PETSCPARTITIONERPTSCOTCH));
  DIFFSIM_PETSC(PetscPartitionerSetFromOptions(partitioner));
  SectionHandle sizes;
  DIFFSIM_PETSC(PetscSectionCreate(comm, sizes.out()));
  IndexSetHandle order;
  const std::size_t num_cells = graph.begin.size() - 1;
  DIFFSIM_PETSC(call_partitioner(&PetscPartitionerPartition, partitioner, ranks, static_cast<PetscInt>(num_cells),
                                 graph, loads, sizes, order.out()));
  std::vector<int> result(num_cells);
  const PetscInt* cells = nullptr;
  DIFFSIM_PETSC(ISGetIndices(order, &cells));
  for (int rank = 0; rank < ranks; ++rank) {
    PetscInt size = 0, begin = 0;
    DIFFSIM_PETSC(PetscSectionGetDof(sizes, rank, &size));
    DIFFSIM_PETSC(PetscSectionGetOffset(sizes, rank, &begin));
    for (PetscInt i = begin; i < begin + size; ++i) result[static_cast<std::size_t>(cells[i])] = rank;
  }
  DIFFSIM_PETSC(ISRestoreIndices(order, &cells));
  return result;
}

/// Sends cell numbers to their destination ranks and returns the numbers received. This rank sends the cells `first`,
/// `first` + 1, …; `destination`: destination rank of each of these cells. Collective.
std::vector<std::int64_t> sent(MPI_Comm comm, std::int64_t first, const std::vector<int>& destination) {
  std::vector<std::int64_t> cells(destination.size());
  std::iota(cells.begin(), cells.end(), first);
  return redistribute(comm, cells,
                      [&](std::int64_t cell) { return destination[static_cast<std::size_t>(cell - first)]; });
}

/// Partitions the tetrahedra on all ranks together. Returns the file numbers of the cells assigned to this rank.
/// Collective.
std::vector<std::int64_t> parts_by_all(MPI_Comm comm, const MeshData& data) {
  DualGraph graph = dual_graph(comm, corners_of(data), data.num_vertices);
  std::optional<std::vector<PetscInt>> weights;
  if (!is_uniform(data)) {
    std::vector<double> work;
    add_work(data, CellKind::tetrahedron, graph, 0, graph.begin.size() - 1, data.first_cell, work);
    weights = weights_of(comm, work);
  }
  release_free_memory();  // the partitioner needs much memory
  const std::vector<int> destination = ranks_of(comm, std::move(graph), weights);
  release_free_memory();
  return sent(comm, data.first_cell, destination);
}

/// Partitions the cells of all `lower_kinds` and, if `with_tetrahedra`, the tetrahedra on the first rank. Returns the
/// file numbers of the cells assigned to this rank. Collective.
CellParts parts_by_one(MPI_Comm comm, const MeshData& data, bool with_tetrahedra) {
  const bool mine = rank_of(comm) == 0;
  DualGraph graph{{0}, {}};
  if (with_tetrahedra) graph = dual_graph(comm, on_one_rank(comm, corners_of(data)), data.num_vertices);
  std::vector<std::size_t> begins{graph.begin.size() - 1};  // on the first rank: index of the first cell of each kind
  for (const CellKind kind : lower_kinds) {
    if (data.lower(kind).num > 0) {
      const std::vector<std::int64_t>& nodes = data.lower(kind).nodes;
      const std::vector<PetscInt> all = on_one_rank(comm, {nodes.begin(), nodes.end()});
      if (mine) add_cells(graph, all, corners_of(kind));
    }
    begins.push_back(graph.begin.size() - 1);
  }
  release_free_memory();  // the partitioner needs much memory
  std::vector<PetscInt> weights;
  if (!is_uniform(data)) {
    std::vector<double> work;
    if (mine) add_work(data, CellKind::tetrahedron, graph, 0, begins[0], 0, work);
    for (const CellKind kind : lower_kinds)
      if (mine) add_work(data, kind, graph, begins[index_of(kind)], begins[index_of(kind) + 1], 0, work);
    weights = weights_of(comm, work);
    if (std::adjacent_find(weights.begin(), weights.end(), std::not_equal_to<>()) == weights.end()) weights.clear();
  }
  std::vector<int> destination;
  collectively(comm, [&] {
    if (mine && graph.begin.size() > 1) destination = scotch_parts(std::move(graph), weights, num_ranks(comm));
  });
  release_free_memory();
  const auto part = [&](std::size_t begin, std::size_t end) {
    if (!mine) return std::vector<int>();
    return std::vector<int>(destination.begin() + static_cast<std::ptrdiff_t>(begin),
                            destination.begin() + static_cast<std::ptrdiff_t>(end));
  };
  CellParts parts;
  if (with_tetrahedra) parts.cells = sent(comm, 0, part(0, begins[0]));
  for (const CellKind kind : lower_kinds)
    if (data.lower(kind).num > 0)
      parts.lower_cells[index_of(kind)] = sent(comm, 0, part(begins[index_of(kind)], begins[index_of(kind) + 1]));
  return parts;
}

std::vector<std::int64_t> all_of(std::int64_t num) {
  std::vector<std::int64_t> cells(static_cast<std::size_t>(num));
  std::iota(cells.begin(), cells.end(), std::int64_t{0});
  return cells;
}

}  // namespace

CellParts partition_cells(MPI_Comm comm, const MeshData& data, std::int64_t by_one) {
  const ProfilingRegion region("diffsim::mesh::partition");
  CellParts parts;
  if (num_ranks(comm) == 1) {
    parts.cells = all_of(data.num_cells);
    for (const CellKind kind : lower_kinds) parts.lower_cells[index_of(kind)] = all_of(data.lower(kind).num);
    return parts;
  }
  if (data.num_cells <= by_one) return parts_by_one(comm, data, true);
  parts.lower_cells = parts_by_one(comm, data, false).lower_cells;
  parts.cells = parts_by_all(comm, data);
  return parts;
}

}  // namespace diffsim
