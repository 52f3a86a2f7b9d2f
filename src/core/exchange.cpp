// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/exchange.hpp"

#include <cstring>

#include "core/contiguous_type.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/profiling.hpp"

namespace diffsim {
namespace {

using HostArray = Kokkos::View<double*, Kokkos::HostSpace>;

/// Computes packed[width i + c] = field[width entities[i] + c].
void gather(const DeviceArray<int>& entities, int width, const double* field, const DeviceArray<double>& packed) {
  Kokkos::parallel_for(
      "diffsim::core::exchange_gather", Range(0, static_cast<int>(entities.size())), KOKKOS_LAMBDA(int i) {
        for (int c = 0; c < width; ++c) packed(width * i + c) = field[width * entities(i) + c];
      });
}

/// Computes field[width entities[i] + c] = packed[width i + c].
void scatter(const DeviceArray<int>& entities, int width, const DeviceArray<double>& packed, double* field) {
  Kokkos::parallel_for(
      "diffsim::core::exchange_scatter", Range(0, static_cast<int>(entities.size())), KOKKOS_LAMBDA(int i) {
        for (int c = 0; c < width; ++c) field[width * entities(i) + c] = packed(width * i + c);
      });
}

/// Guard that changes a PETSc setting. While the guard exists, PETSc determines the ranks that send to each rank by
/// point-to-point messages and a nonblocking barrier, whose cost grows with the logarithm of the number of ranks. By
/// default, for up to 1024 ranks, PETSc reduces an array with one entry per rank instead.
class SparseSetUp {
 public:
  explicit SparseSetUp(MPI_Comm comm) : comm_(comm) {
    DIFFSIM_PETSC(PetscCommBuildTwoSidedGetType(comm_, &before_));
    DIFFSIM_PETSC(PetscCommBuildTwoSidedSetType(comm_, PETSC_BUILDTWOSIDED_IBARRIER));
  }
  ~SparseSetUp() { (void)PetscCommBuildTwoSidedSetType(comm_, before_); }
  SparseSetUp(const SparseSetUp&) = delete;
  SparseSetUp& operator=(const SparseSetUp&) = delete;

 private:
  MPI_Comm comm_;
  PetscBuildTwoSidedType before_ = PETSC_BUILDTWOSIDED_NOTSET;
};

}  // namespace

struct Exchange::DeviceParts {
  DeviceArray<int> shared;
};

/// Buffers for the values at shared entities and at ghosts while a field is exchanged.
struct Exchange::Buffers {
  Buffers(int components, std::size_t num_shared, std::size_t num_ghosts)
      : width(components),
        unit(components, MPI_DOUBLE),
        shared_values(
            make_device_array<double>("diffsim::exchange_shared", num_shared * static_cast<std::size_t>(width))),
        shared_host("diffsim::exchange_shared_host", num_shared * static_cast<std::size_t>(width)),
        ghost_host("diffsim::exchange_ghost_host", num_ghosts * static_cast<std::size_t>(width)) {}

  int width;
  ContiguousType unit;  // all components of one entity
  DeviceArray<double> shared_values;
  HostArray shared_host, ghost_host;

  /// Returns a view of the values of `field` at the ghosts. The view is const if `field` is const.
  template <class F>
  auto ghosts_of(F& field, int num_owned) const {
    using T = std::remove_pointer_t<decltype(field.data())>;
    return DeviceSpan<T>(field.data() + static_cast<std::ptrdiff_t>(width) * num_owned, ghost_host.size());
  }
};

Exchange::Exchange(MPI_Comm comm, int num_owned, const std::vector<PetscInt>& ghost_owner,
                   const std::vector<PetscInt>& ghost_index)
    : num_owned_(num_owned),
      num_ghosts_(static_cast<int>(ghost_owner.size())),
      device_(std::make_unique<DeviceParts>()) {
  const SparseSetUp sparse(comm);
  // The first graph, `all`, contains all owned entities and is used to find the shared entities. The second graph,
  // `sf_`, contains the shared entities only.
  const std::size_t num_ghosts = ghost_owner.size();
  const auto remote = std::make_unique<PetscSFNode[]>(num_ghosts);  // nvcc 13.0 crashes on a std::vector here
  for (std::size_t g = 0; g < num_ghosts; ++g) remote[g] = {ghost_owner[g], ghost_index[g]};
  PetscSFHandle all;
  DIFFSIM_PETSC(PetscSFCreate(comm, all.out()));
  DIFFSIM_PETSC(
      PetscSFSetGraph(all, num_owned_, num_ghosts_, nullptr, PETSC_COPY_VALUES, remote.get(), PETSC_COPY_VALUES));
  DIFFSIM_PETSC(PetscSFSetUp(all));
  const PetscInt* degree = nullptr;
  DIFFSIM_PETSC(PetscSFComputeDegreeBegin(all, &degree));
  DIFFSIM_PETSC(PetscSFComputeDegreeEnd(all, &degree));

  std::vector<PetscInt> compact(static_cast<std::size_t>(num_owned_), -1);
  for (int v = 0; v < num_owned_; ++v) {
    if (degree[v] == 0) continue;
    compact[static_cast<std::size_t>(v)] = static_cast<PetscInt>(shared_.size());
    shared_.push_back(v);
  }
  num_shared_ = static_cast<int>(shared_.size());
  shared_end_ = shared_.empty() ? 0 : shared_.back() + 1;
  std::vector<PetscInt> compact_of_ghost(num_ghosts);
  DIFFSIM_PETSC(PetscSFBcastBegin(all, MPIU_INT, compact.data(), compact_of_ghost.data(), MPI_REPLACE));
  DIFFSIM_PETSC(PetscSFBcastEnd(all, MPIU_INT, compact.data(), compact_of_ghost.data(), MPI_REPLACE));
  for (std::size_t g = 0; g < num_ghosts; ++g) remote[g].index = compact_of_ghost[g];
  DIFFSIM_PETSC(PetscSFCreate(comm, sf_.out()));
  DIFFSIM_PETSC(
      PetscSFSetGraph(sf_, num_shared_, num_ghosts_, nullptr, PETSC_COPY_VALUES, remote.get(), PETSC_COPY_VALUES));
  DIFFSIM_PETSC(PetscSFSetUp(sf_));

  int any = num_ghosts_ > 0 ? 1 : 0;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm));
  alone_ = any == 0;
  device_->shared = to_device("diffsim::exchange_shared_entities", shared_);
}

Exchange::~Exchange() = default;

MPI_Comm Exchange::comm() const { return PetscObjectComm(reinterpret_cast<PetscObject>(static_cast<PetscSF>(sf_))); }

void Exchange::require_local(std::size_t size, int components) const {
  const auto expected = static_cast<std::size_t>(num_local()) * static_cast<std::size_t>(components);
  if (size != expected)
    throw Error("an exchange takes " + std::to_string(components) + " values for each of " +
                std::to_string(num_local()) + " local entities, got " + std::to_string(size));
}

const Exchange::Buffers& Exchange::buffers_for(const Field& field) const {
  std::unique_ptr<Buffers>& buffers = buffers_[field.components()];
  if (!buffers)
    buffers = std::make_unique<Buffers>(field.components(), shared_.size(), static_cast<std::size_t>(num_ghosts_));
  return *buffers;
}

void Exchange::begin_add_to_owners(const Field& field) const {
  require_local(field.size(), field.components());
  if (alone_) return;
  const ProfilingRegion region("diffsim::exchange");
  const Buffers& b = buffers_for(field);
  Kokkos::deep_copy(b.ghost_host, b.ghosts_of(field, num_owned_));
  gather(device_->shared, b.width, field.data(), b.shared_values);
  Kokkos::deep_copy(b.shared_host, b.shared_values);
  DIFFSIM_PETSC(PetscSFReduceBegin(sf_, b.unit, b.ghost_host.data(), b.shared_host.data(), MPI_SUM));
}

void Exchange::end_add_to_owners(Field& field) const {
  if (alone_) return;
  const ProfilingRegion region("diffsim::exchange");
  const Buffers& b = buffers_for(field);
  DIFFSIM_PETSC(PetscSFReduceEnd(sf_, b.unit, b.ghost_host.data(), b.shared_host.data(), MPI_SUM));
  Kokkos::deep_copy(b.shared_values, b.shared_host);
  scatter(device_->shared, b.width, b.shared_values, field.data());
  Kokkos::fence();
}

void Exchange::begin_copy_to_ghosts(const Field& field) const {
  require_local(field.size(), field.components());
  if (alone_) return;
  const ProfilingRegion region("diffsim::exchange");
  const Buffers& b = buffers_for(field);
  gather(device_->shared, b.width, field.data(), b.shared_values);
  Kokkos::deep_copy(b.shared_host, b.shared_values);
  DIFFSIM_PETSC(PetscSFBcastBegin(sf_, b.unit, b.shared_host.data(), b.ghost_host.data(), MPI_REPLACE));
}

void Exchange::end_copy_to_ghosts(Field& field) const {
  if (alone_) return;
  const ProfilingRegion region("diffsim::exchange");
  const Buffers& b = buffers_for(field);
  DIFFSIM_PETSC(PetscSFBcastEnd(sf_, b.unit, b.shared_host.data(), b.ghost_host.data(), MPI_REPLACE));
  Kokkos::deep_copy(b.ghosts_of(field, num_owned_), b.ghost_host);
}

void Exchange::add_to_owners(Field& field) const {
  begin_add_to_owners(field);
  end_add_to_owners(field);
}

void Exchange::copy_to_ghosts(Field& field) const {
  begin_copy_to_ghosts(field);
  end_copy_to_ghosts(field);
}

void Exchange::copy_bytes_to_ghosts(void* values, std::size_t size, std::size_t bytes, int components) const {
  require_local(size, components);
  if (alone_) return;
  const std::size_t width = bytes * static_cast<std::size_t>(components);
  auto* const all = static_cast<std::byte*>(values);
  std::vector<std::byte> packed(shared_.size() * width);
  for (std::size_t i = 0; i < shared_.size(); ++i)
    std::memcpy(packed.data() + i * width, all + static_cast<std::size_t>(shared_[i]) * width, width);
  std::byte* const ghosts = all + static_cast<std::size_t>(num_owned_) * width;
  const ContiguousType unit(static_cast<int>(width), MPI_BYTE);
  DIFFSIM_PETSC(PetscSFBcastBegin(sf_, unit, packed.data(), ghosts, MPI_REPLACE));
  DIFFSIM_PETSC(PetscSFBcastEnd(sf_, unit, packed.data(), ghosts, MPI_REPLACE));
}

void Exchange::add_to_owners(std::vector<PetscInt>& values, int components) const {
  require_local(values.size(), components);
  if (alone_) return;
  const auto width = static_cast<std::size_t>(components);
  std::vector<PetscInt> packed(shared_.size() * width);
  for (std::size_t i = 0; i < packed.size(); ++i)
    packed[i] = values[static_cast<std::size_t>(shared_[i / width]) * width + i % width];
  const PetscInt* const ghosts = values.data() + static_cast<std::size_t>(num_owned_) * width;
  const ContiguousType unit(components, MPIU_INT);
  DIFFSIM_PETSC(PetscSFReduceBegin(sf_, unit, ghosts, packed.data(), MPI_SUM));
  DIFFSIM_PETSC(PetscSFReduceEnd(sf_, unit, ghosts, packed.data(), MPI_SUM));
  for (std::size_t i = 0; i < packed.size(); ++i)
    values[static_cast<std::size_t>(shared_[i / width]) * width + i % width] = packed[i];
}

std::shared_ptr<const Entities> with_copies(const Entities& owned, const std::vector<PetscInt>& owner,
                                            const std::vector<PetscInt>& index) {
  const auto exchange = std::make_shared<const Exchange>(owned.comm(), static_cast<int>(owned.owned()), owner, index);
  return std::make_shared<const Entities>(owned.name(), owned.comm(), owned.owned(), nullptr, exchange);
}

}  // namespace diffsim
