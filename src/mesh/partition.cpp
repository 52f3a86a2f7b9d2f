// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "partition.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"
#include "diffsim/core/runtime.hpp"

// Scotch keeps a random state from one partitioning to the next; equal meshes shall be partitioned equally. There only
// where PETSc brought Scotch along.
extern "C" [[gnu::weak]] void SCOTCH_randomReset(void);

namespace diffsim {
namespace {

template <class T>
std::vector<T> sorted_set(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  values.shrink_to_fit();
  return values;
}

/// The corners of a rank's block of cells, all that DMPlex need know.
struct Block {
  std::vector<PetscInt> corners;  // [cells, 4]: the file's vertices
  std::int64_t first_cell = 0;
  std::int64_t num_vertices = 0;  // that this rank counts as its own
};

Block block_of(const MeshData& data) {
  if (data.num_vertices > std::numeric_limits<PetscInt>::max() || data.num_cells > std::numeric_limits<PetscInt>::max())
    throw Error("the mesh has more vertices or cells than this PETSc can number; use a PETSc with 64-bit indices");
  Block block{{}, data.first_cell, data.block_vertices()};
  const auto stride = static_cast<std::size_t>(data.nodes_per_cell());
  block.corners.reserve(4 * static_cast<std::size_t>(data.block_cells()));
  for (std::size_t c = 0; c < data.cells.size(); c += stride)
    for (std::size_t a = 0; a < 4; ++a) block.corners.push_back(static_cast<PetscInt>(data.cells[c + a]));
  return block;
}

/// The DMPlex of the ranks' blocks of cells, and the file's number of each of this rank's points.
DMHandle block_dm(MPI_Comm comm, Block block, std::int64_t num_global_vertices, std::vector<PetscInt>& file_index) {
  std::vector<PetscInt> cells = std::move(block.corners);
  DMHandle dm;
  PetscSFHandle vertex_sf;
  DIFFSIM_PETSC(DMCreate(comm, dm.out()));
  DIFFSIM_PETSC(DMSetType(dm, DMPLEX));
  DIFFSIM_PETSC(DMSetDimension(dm, 3));
  DIFFSIM_PETSC(DMPlexBuildFromCellListParallel(
      dm, static_cast<PetscInt>(cells.size() / 4), static_cast<PetscInt>(block.num_vertices),
      static_cast<PetscInt>(num_global_vertices), 4, cells.data(), vertex_sf.out(), nullptr));
  const bool has_cells = !cells.empty();
  // A rank's vertices are those of its cells, ascending. (PETSc 3.18 crashes when asked for this list.)
  const std::vector<PetscInt> vertices = sorted_set(std::move(cells));
  // Cells on several ranks can only be partitioned if DMPlex knows their faces.
  int rank = 0;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  int spread = rank > 0 && has_cells ? 1 : 0;
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
    file_index[static_cast<std::size_t>(p)] = static_cast<PetscInt>(block.first_cell) + p;
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

/// The blocks of all ranks, on rank 0.
Block on_one_rank(MPI_Comm comm, const Block& block, std::int64_t num_vertices) {
  int rank = 0, ranks = 1;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  DIFFSIM_MPI(MPI_Comm_size(comm, &ranks));
  int mine = static_cast<int>(block.corners.size());
  std::vector<int> counts(static_cast<std::size_t>(ranks)), begins(static_cast<std::size_t>(ranks), 0);
  DIFFSIM_MPI(MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm));
  for (std::size_t r = 1; r < begins.size(); ++r) begins[r] = begins[r - 1] + counts[r - 1];
  Block all;
  if (rank == 0) {
    all.num_vertices = num_vertices;
    all.corners.resize(static_cast<std::size_t>(begins.back() + counts.back()));
  }
  DIFFSIM_MPI(MPI_Gatherv(block.corners.data(), mine, MPIU_INT, all.corners.data(), counts.data(), begins.data(),
                          MPIU_INT, 0, comm));
  return all;
}

/// All cells and their corners, where there is one rank.
Partition whole(const MeshData& data) {
  Partition result;
  result.cell_file_index.resize(static_cast<std::size_t>(data.num_cells));
  std::iota(result.cell_file_index.begin(), result.cell_file_index.end(), std::int64_t{0});
  std::vector<std::int64_t> corners;
  corners.reserve(4 * result.cell_file_index.size());
  const auto stride = static_cast<std::size_t>(data.nodes_per_cell());
  for (std::size_t c = 0; c < data.cells.size(); c += stride)
    corners.insert(corners.end(), &data.cells[c], &data.cells[c] + 4);
  result.vertex_file_index = sorted_set(std::move(corners));
  result.vertex_is_ghost.assign(result.vertex_file_index.size(), 0);
  return result;
}

}  // namespace

Partition partition_cells(MPI_Comm comm, const MeshData& data) {
  const ProfilingRegion region("diffsim::mesh::partition");
  int ranks = 1;
  DIFFSIM_MPI(MPI_Comm_size(comm, &ranks));
  if (ranks == 1) return whole(data);
  Partition result;
  DMHandle dm;
  std::vector<PetscInt> block_index;
  {
    Block block = block_of(data);
    if (data.num_cells <= cells_of_one_rank) block = on_one_rank(comm, block, data.num_vertices);
    dm = block_dm(comm, std::move(block), data.num_vertices, block_index);
  }
  return_freed_memory();  // the partitioner takes much
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
