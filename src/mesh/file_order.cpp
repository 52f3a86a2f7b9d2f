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

}  // namespace

FileOrder::FileOrder(MPI_Comm comm, std::int64_t num_global, std::vector<std::int64_t> file_index, int num_owned,
                     int block)
    : comm_(comm), num_global_(num_global), file_index_(std::move(file_index)) {
  PetscLayout layout = nullptr;
  DIFFSIM_PETSC(PetscLayoutCreate(comm_, &layout));
  const PetscHandle<PetscLayout, PetscLayoutDestroy> handle(layout);
  DIFFSIM_PETSC(PetscLayoutSetSize(layout, static_cast<PetscInt>(num_global_)));
  if (block >= 0) DIFFSIM_PETSC(PetscLayoutSetLocalSize(layout, block));
  DIFFSIM_PETSC(PetscLayoutSetUp(layout));
  PetscInt begin = 0, end = 0;
  DIFFSIM_PETSC(PetscLayoutGetRange(layout, &begin, &end));
  begin_ = begin;
  size_ = end - begin;
  const std::vector<PetscInt> roots(file_index_.begin(), file_index_.end());
  const auto graph = [&](PetscSFHandle& sf, std::size_t leaves) {
    DIFFSIM_PETSC(PetscSFCreate(comm_, sf.out()));
    DIFFSIM_PETSC(PetscSFSetGraphLayout(sf, layout, static_cast<PetscInt>(leaves), nullptr, PETSC_COPY_VALUES,
                                        roots.data()));
    DIFFSIM_PETSC(PetscSFSetUp(sf));
  };
  graph(all_, roots.size());
  // Where nobody has copies of others' entities, one graph is both.
  int copies = static_cast<std::size_t>(num_owned) < roots.size() ? 1 : 0;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &copies, 1, MPI_INT, MPI_MAX, comm_));
  if (copies) graph(owned_, static_cast<std::size_t>(num_owned));
}

void FileOrder::to_file(const std::vector<double>& local, int components, std::vector<double>& block) const {
  block.resize(static_cast<std::size_t>(size_) * static_cast<std::size_t>(components));
  const ContiguousType unit(components, MPI_DOUBLE);
  const PetscSF sf = owned_ ? owned_ : all_;
  DIFFSIM_PETSC(PetscSFReduceBegin(sf, unit, local.data(), block.data(), MPI_REPLACE));
  DIFFSIM_PETSC(PetscSFReduceEnd(sf, unit, local.data(), block.data(), MPI_REPLACE));
}

template <class T>
std::vector<T> FileOrder::read(const std::vector<T>& block, int components, MPI_Datatype type) const {
  std::vector<T> local(file_index_.size() * static_cast<std::size_t>(components));
  const ContiguousType unit(components, type);
  DIFFSIM_PETSC(PetscSFBcastBegin(all_, unit, block.data(), local.data(), MPI_REPLACE));
  DIFFSIM_PETSC(PetscSFBcastEnd(all_, unit, block.data(), local.data(), MPI_REPLACE));
  return local;
}

std::vector<double> FileOrder::from_file(const std::vector<double>& block, int components) const {
  return read(block, components, MPI_DOUBLE);
}

std::vector<std::int64_t> FileOrder::from_file(const std::vector<std::int64_t>& block, int components) const {
  return read(block, components, MPI_INT64_T);
}

}  // namespace diffsim
