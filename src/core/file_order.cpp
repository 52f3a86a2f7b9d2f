// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/file_order.hpp"

#include "core/contiguous_type.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

/// Returns a PETSc layout of `num_global` entries over the ranks. `block`: number of this rank's entries, or a negative
/// number for an even split over the ranks.
PetscHandle<PetscLayout, PetscLayoutDestroy> make_layout(MPI_Comm comm, std::int64_t num_global, PetscInt block) {
  PetscLayout layout = nullptr;
  DIFFSIM_PETSC(PetscLayoutCreate(comm, &layout));
  PetscHandle<PetscLayout, PetscLayoutDestroy> handle(layout);
  DIFFSIM_PETSC(PetscLayoutSetSize(layout, static_cast<PetscInt>(num_global)));
  if (block >= 0) DIFFSIM_PETSC(PetscLayoutSetLocalSize(layout, block));
  DIFFSIM_PETSC(PetscLayoutSetUp(layout));
  return handle;
}

}  // namespace

FileOrder::FileOrder(MPI_Comm comm, std::int64_t num_global, const std::vector<std::int64_t>& file_index, int num_owned,
                     int block)
    : comm_(comm),
      num_global_(num_global),
      file_index_(file_index.begin(), file_index.end()),
      num_owned_(static_cast<std::size_t>(num_owned)) {
  const PetscHandle<PetscLayout, PetscLayoutDestroy> layout = make_layout(comm_, num_global_, block);
  PetscInt begin = 0, end = 0;
  DIFFSIM_PETSC(PetscLayoutGetRange(layout, &begin, &end));
  begin_ = begin;
  size_ = end - begin;
  int copies = num_owned_ < file_index_.size() ? 1 : 0;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &copies, 1, MPI_INT, MPI_MAX, comm_));
  copies_ = copies != 0;
}

/// Calls use(graph). The leaves of the communication graph are the owned entities and, if `copies` is true, also the
/// copies.
template <class Use>
void FileOrder::with_graph(bool copies, const Use& use) const {
  PetscSFHandle& sf = copies || !copies_ ? all_ : owned_;
  if (!sf) {
    const PetscHandle<PetscLayout, PetscLayoutDestroy> layout =
        make_layout(comm_, num_global_, static_cast<PetscInt>(size_));
    DIFFSIM_PETSC(PetscSFCreate(comm_, sf.out()));
    DIFFSIM_PETSC(PetscSFSetGraphLayout(sf, layout, static_cast<PetscInt>(copies ? file_index_.size() : num_owned_),
                                        nullptr, PETSC_COPY_VALUES, file_index_.data()));
    DIFFSIM_PETSC(PetscSFSetUp(sf));
  }
  use(static_cast<PetscSF>(sf));
  if (!keeps_graphs_) sf = {};
}

void FileOrder::send_to_file(const void* local, std::size_t width, void* block) const {
  const ContiguousType unit(static_cast<int>(width), MPI_BYTE);
  with_graph(false, [&](PetscSF sf) {
    DIFFSIM_PETSC(PetscSFReduceBegin(sf, unit, local, block, MPI_REPLACE));
    DIFFSIM_PETSC(PetscSFReduceEnd(sf, unit, local, block, MPI_REPLACE));
  });
}

void FileOrder::send_from_file(const void* block, std::size_t width, void* local) const {
  const ContiguousType unit(static_cast<int>(width), MPI_BYTE);
  with_graph(true, [&](PetscSF sf) {
    DIFFSIM_PETSC(PetscSFBcastBegin(sf, unit, block, local, MPI_REPLACE));
    DIFFSIM_PETSC(PetscSFBcastEnd(sf, unit, block, local, MPI_REPLACE));
  });
}

}  // namespace diffsim
