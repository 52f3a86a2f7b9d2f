// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "partition.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"

// Scotch keeps a random state from one partitioning to the next; equal meshes shall be partitioned equally. There only
// where PETSc brought Scotch along.
extern "C" [[gnu::weak]] void SCOTCH_randomReset(void);

namespace diffsim {
namespace {

/// The DMPlex of this rank's block of cells, and the file's number of each of its points.
DMHandle block_dm(MPI_Comm comm, const MeshData& data, std::vector<PetscInt>& file_index) {
  if (data.num_vertices > std::numeric_limits<PetscInt>::max() || data.num_cells > std::numeric_limits<PetscInt>::max())
    throw Error("the mesh has more vertices or cells than this PETSc can number; use a PETSc with 64-bit indices");
  const auto stride = static_cast<std::size_t>(data.nodes_per_cell());
  std::vector<PetscInt> cells;  // the corners; DMPlex need not know of nodes on edges
  cells.reserve(4 * static_cast<std::size_t>(data.block_cells()));
  for (std::size_t c = 0; c < data.cells.size(); c += stride)
    for (std::size_t a = 0; a < 4; ++a) cells.push_back(static_cast<PetscInt>(data.cells[c + a]));
  DMHandle dm;
  PetscSFHandle vertex_sf;
  DIFFSIM_PETSC(DMPlexCreateFromCellListParallelPetsc(
      comm, 3, static_cast<PetscInt>(cells.size() / 4), static_cast<PetscInt>(data.coordinates.size() / 3),
      static_cast<PetscInt>(data.num_vertices), 4, PETSC_FALSE, cells.data(), 3, data.coordinates.data(),
      vertex_sf.out(), nullptr, dm.out()));
  // A rank's vertices are those of its cells, ascending. (PETSc 3.18 crashes when asked for this list.)
  std::vector<PetscInt> vertices = cells;
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  // Cells on several ranks can only be partitioned if DMPlex knows their faces.
  int rank = 0;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  int spread = rank > 0 && !cells.empty() ? 1 : 0;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &spread, 1, MPI_INT, MPI_MAX, comm));
  if (spread) {
    DMHandle interpolated;
    DIFFSIM_PETSC(DMPlexInterpolate(dm, interpolated.out()));
    dm = std::move(interpolated);
  }
  PetscInt cell_end = 0, vertex_begin = 0, vertex_end = 0, end = 0;
  DIFFSIM_PETSC(DMPlexGetChart(dm, nullptr, &end));
  DIFFSIM_PETSC(DMPlexGetHeightStratum(dm, 0, nullptr, &cell_end));
  DIFFSIM_PETSC(DMPlexGetDepthStratum(dm, 0, &vertex_begin, &vertex_end));
  file_index.assign(static_cast<std::size_t>(end), -1);
  for (PetscInt p = 0; p < cell_end; ++p)
    file_index[static_cast<std::size_t>(p)] = static_cast<PetscInt>(data.first_cell) + p;
  std::copy(vertices.begin(), vertices.end(), file_index.begin() + vertex_begin);
  return dm;
}

/// Keeps Scotch 7 to one thread, while it lives, unless the user asked for more: its threads race, and equal meshes
/// shall be partitioned equally.
class OneScotchThread {
 public:
  OneScotchThread() : mine_(std::getenv(name) == nullptr) {
    if (mine_) ::setenv(name, "1", 0);
  }
  ~OneScotchThread() {
    if (mine_) ::unsetenv(name);
  }
  OneScotchThread(const OneScotchThread&) = delete;
  OneScotchThread& operator=(const OneScotchThread&) = delete;

 private:
  static constexpr const char* name = "SCOTCH_PTHREAD_NUMBER";
  bool mine_;
};

/// Up to so many cells, one rank partitions them all: PTScotch on several ranks need not give equal parts in equal
/// runs.
constexpr std::int64_t cells_of_one_rank = 2000000;

template <class T>
std::vector<T> gathered(MPI_Comm comm, const std::vector<T>& block, MPI_Datatype type) {
  int rank = 0, ranks = 1;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  DIFFSIM_MPI(MPI_Comm_size(comm, &ranks));
  int mine = static_cast<int>(block.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks)), begins(static_cast<std::size_t>(ranks), 0);
  DIFFSIM_MPI(MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm));
  for (std::size_t r = 1; r < begins.size(); ++r) begins[r] = begins[r - 1] + counts[r - 1];
  std::vector<T> all(rank == 0 ? static_cast<std::size_t>(begins.back() + counts.back()) : 0);
  DIFFSIM_MPI(MPI_Gatherv(block.data(), mine, type, all.data(), counts.data(), begins.data(), type, 0, comm));
  return all;
}

/// The corners of all cells, and all vertices, on rank 0.
MeshData on_one_rank(MPI_Comm comm, const MeshData& data) {
  MeshData whole;
  whole.num_vertices = data.num_vertices;
  whole.num_cells = data.num_cells;
  whole.order = data.order;
  whole.coordinates = gathered(comm, data.coordinates, MPI_DOUBLE);
  whole.cells = gathered(comm, data.cells, MPI_INT64_T);
  int rank = 0;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  whole.first_vertex = rank == 0 ? 0 : data.num_vertices;
  whole.first_cell = rank == 0 ? 0 : data.num_cells;
  return whole;
}

}  // namespace

Partition partition_cells(MPI_Comm comm, const MeshData& data) {
  const ProfilingRegion region("diffsim::mesh::partition");
  Partition result;
  DMHandle dm;
  std::vector<PetscInt> block_index;
  if (data.num_cells <= cells_of_one_rank)
    dm = block_dm(comm, on_one_rank(comm, data), block_index);
  else
    dm = block_dm(comm, data, block_index);
  PetscPartitioner partitioner = nullptr;
  DIFFSIM_PETSC(DMPlexGetPartitioner(dm, &partitioner));
  DIFFSIM_PETSC(PetscPartitionerSetType(partitioner, PETSCPARTITIONERPTSCOTCH));
  DIFFSIM_PETSC(PetscPartitionerSetFromOptions(partitioner));
  const OneScotchThread one_thread;
  if (SCOTCH_randomReset) SCOTCH_randomReset();
  PetscSFHandle migration;
  DMHandle distributed;
  DIFFSIM_PETSC(DMPlexDistribute(dm, 0, migration.out(), distributed.out()));
  std::vector<PetscInt> file_index = block_index;
  if (distributed) {
    PetscInt end = 0;
    DIFFSIM_PETSC(DMPlexGetChart(distributed, nullptr, &end));
    file_index.assign(static_cast<std::size_t>(end), -1);
    DIFFSIM_PETSC(PetscSFBcastBegin(migration, MPIU_INT, block_index.data(), file_index.data(), MPI_REPLACE));
    DIFFSIM_PETSC(PetscSFBcastEnd(migration, MPIU_INT, block_index.data(), file_index.data(), MPI_REPLACE));
    dm = std::move(distributed);
  }

  PetscInt cell_begin = 0, cell_end = 0, vertex_begin = 0, vertex_end = 0;
  DIFFSIM_PETSC(DMPlexGetHeightStratum(dm, 0, &cell_begin, &cell_end));
  DIFFSIM_PETSC(DMPlexGetDepthStratum(dm, 0, &vertex_begin, &vertex_end));
  result.cell_file_index.assign(file_index.begin() + cell_begin, file_index.begin() + cell_end);
  result.vertex_file_index.assign(file_index.begin() + vertex_begin, file_index.begin() + vertex_end);
  result.vertex_is_ghost.assign(result.vertex_file_index.size(), 0);
  PetscSF points = nullptr;
  DIFFSIM_PETSC(DMGetPointSF(dm, &points));
  PetscInt leaves = 0;
  const PetscInt* local = nullptr;
  DIFFSIM_PETSC(PetscSFGetGraph(points, nullptr, &leaves, &local, nullptr));
  for (PetscInt i = 0; i < leaves; ++i) {
    const PetscInt p = local ? local[i] : i;
    if (p >= vertex_begin && p < vertex_end) result.vertex_is_ghost[static_cast<std::size_t>(p - vertex_begin)] = 1;
  }
  return result;
}

}  // namespace diffsim
