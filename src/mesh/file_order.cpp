// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/file_order.hpp"

#include <utility>

#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

/// An MPI type of `components` equal values, freed at the end of its scope.
class ContiguousType {
 public:
  ContiguousType(int components, MPI_Datatype type) {
    DIFFSIM_MPI(MPI_Type_contiguous(components, type, &type_));
    DIFFSIM_MPI(MPI_Type_commit(&type_));
  }
  ~ContiguousType() { MPI_Type_free(&type_); }
  ContiguousType(const ContiguousType&) = delete;
  ContiguousType& operator=(const ContiguousType&) = delete;
  operator MPI_Datatype() const { return type_; }  // NOLINT

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// `block`: this rank's entries, < 0 for an even split.
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

/// use(the graph whose leaves are the owned entities, with the copies if asked).
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

void FileOrder::to_file(const std::vector<double>& local, int components, std::vector<double>& block) const {
  block.resize(static_cast<std::size_t>(size_) * static_cast<std::size_t>(components));
  const ContiguousType unit(components, MPI_DOUBLE);
  with_graph(false, [&](PetscSF sf) {
    DIFFSIM_PETSC(PetscSFReduceBegin(sf, unit, local.data(), block.data(), MPI_REPLACE));
    DIFFSIM_PETSC(PetscSFReduceEnd(sf, unit, local.data(), block.data(), MPI_REPLACE));
  });
}

template <class T>
std::vector<T> FileOrder::read(const std::vector<T>& block, int components, MPI_Datatype type) const {
  std::vector<T> local(file_index_.size() * static_cast<std::size_t>(components));
  const ContiguousType unit(components, type);
  with_graph(true, [&](PetscSF sf) {
    DIFFSIM_PETSC(PetscSFBcastBegin(sf, unit, block.data(), local.data(), MPI_REPLACE));
    DIFFSIM_PETSC(PetscSFBcastEnd(sf, unit, block.data(), local.data(), MPI_REPLACE));
  });
  return local;
}

std::vector<double> FileOrder::from_file(const std::vector<double>& block, int components) const {
  return read(block, components, MPI_DOUBLE);
}

std::vector<std::int64_t> FileOrder::from_file(const std::vector<std::int64_t>& block, int components) const {
  return read(block, components, MPI_INT64_T);
}

}  // namespace diffsim
