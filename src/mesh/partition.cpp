// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "partition.hpp"

#include <petscpartitioner.h>

#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/petsc_handle.hpp"
#include "diffsim/core/profiling.hpp"
#include "diffsim/core/ranks.hpp"
#include "diffsim/core/redistribute.hpp"
#include "diffsim/core/runtime.hpp"
#include "dual_graph.hpp"
#include "scotch_parts.hpp"

namespace diffsim {
namespace {

/// [cells, 4]: the file's numbers of the corners of a rank's block of cells.
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

/// The corners that all ranks have, on rank 0.
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

using PartitionerHandle = PetscHandle<PetscPartitioner, PetscPartitionerDestroy>;
using SectionHandle = PetscHandle<PetscSection, PetscSectionDestroy>;
using IndexSetHandle = PetscHandle<IS, ISDestroy>;

/// PetscPartitionerPartition without weights, of which later versions of PETSc take those of edges, too.
template <class Partition>
PetscErrorCode call_partitioner(Partition partition, PetscPartitioner partitioner, PetscInt parts, PetscInt cells,
                                DualGraph& graph, PetscSection sizes, IS* order) {
  PetscInt *const begin = graph.begin.data(), *const neighbours = graph.neighbours.data();
  if constexpr (std::is_invocable_v<Partition, PetscPartitioner, PetscInt, PetscInt, PetscInt*, PetscInt*, PetscSection,
                                    PetscSection, PetscSection, IS*>)
    return partition(partitioner, parts, cells, begin, neighbours, nullptr, nullptr, sizes, order);
  else
    return partition(partitioner, parts, cells, begin, neighbours, nullptr, nullptr, nullptr, sizes, order);
}

/// For each of this rank's cells of the graph, the rank it shall be on, by PETSc's partitioner.
std::vector<int> ranks_of(MPI_Comm comm, DualGraph graph) {
  const int ranks = num_ranks(comm);
  PartitionerHandle partitioner;
  DIFFSIM_PETSC(PetscPartitionerCreate(comm, partitioner.out()));
  DIFFSIM_PETSC(PetscPartitionerSetType(partitioner, PETSCPARTITIONERPTSCOTCH));
  DIFFSIM_PETSC(PetscPartitionerSetFromOptions(partitioner));
  SectionHandle sizes;
  DIFFSIM_PETSC(PetscSectionCreate(comm, sizes.out()));
  IndexSetHandle order;
  const std::size_t num_cells = graph.begin.size() - 1;
  DIFFSIM_PETSC(call_partitioner(&PetscPartitionerPartition, partitioner, ranks, static_cast<PetscInt>(num_cells),
                                 graph, sizes, order.out()));
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

}  // namespace

std::vector<std::int64_t> partition_cells(MPI_Comm comm, const MeshData& data, std::int64_t by_one) {
  const ProfilingRegion region("diffsim::mesh::partition");
  const int rank = rank_of(comm), ranks = num_ranks(comm);
  const bool on_one = ranks == 1 || data.num_cells <= by_one;
  std::vector<int> destination;
  if (ranks > 1) {
    std::vector<PetscInt> corners = corners_of(data);
    if (on_one) corners = on_one_rank(comm, corners);
    DualGraph graph = dual_graph(comm, std::move(corners), data.num_vertices);
    release_free_memory();  // the partitioner takes much
    if (on_one)
      collectively(comm, [&] {
        if (rank == 0) destination = scotch_parts(std::move(graph), ranks);
      });
    else
      destination = ranks_of(comm, std::move(graph));
    release_free_memory();
  }
  const std::int64_t first = on_one ? 0 : data.first_cell;
  const std::int64_t size = !on_one ? data.block_cells() : rank == 0 ? data.num_cells : 0;
  std::vector<std::int64_t> cells(static_cast<std::size_t>(size));
  std::iota(cells.begin(), cells.end(), first);
  if (ranks == 1) return cells;
  return redistribute(comm, cells,
                      [&](std::int64_t cell) { return destination[static_cast<std::size_t>(cell - first)]; });
}

}  // namespace diffsim
