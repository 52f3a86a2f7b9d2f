// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/halo.hpp"

#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"

namespace diffsim {
namespace {

using HostArray = Kokkos::View<double*, Kokkos::HostSpace>;

/// packed[3 i + c] = field[3 vertices[i] + c].
void gather(const DeviceArray<int>& vertices, const double* field, const DeviceArray<double>& packed) {
  Kokkos::parallel_for(
      "diffsim::mesh::halo_gather", Range(0, static_cast<int>(vertices.size())), KOKKOS_LAMBDA(int i) {
        for (int c = 0; c < 3; ++c) packed(3 * i + c) = field[3 * vertices(i) + c];
      });
}

/// field[3 vertices[i] + c] = packed[3 i + c].
void scatter(const DeviceArray<int>& vertices, const DeviceArray<double>& packed, double* field) {
  Kokkos::parallel_for(
      "diffsim::mesh::halo_scatter", Range(0, static_cast<int>(vertices.size())), KOKKOS_LAMBDA(int i) {
        for (int c = 0; c < 3; ++c) field[3 * vertices(i) + c] = packed(3 * i + c);
      });
}

void require_local_vectors(const Field& field, int num_local) {
  if (field.size() != 3 * static_cast<std::size_t>(num_local))
    throw Error("a halo exchange takes three values a local vertex; field '" + field.name() + "' has " +
                std::to_string(field.size()) + " for " + std::to_string(num_local) + " vertices");
}

}  // namespace

struct Halo::Buffers {
  MPI_Datatype unit = MPI_DATATYPE_NULL;  // the three components of a vertex
  DeviceArray<int> shared;                // owned vertices that others copy
  DeviceArray<double> shared_values, ghost_values;
  HostArray shared_host, ghost_host;

  /// The ghosts' part of a field of doubles, constant or not.
  template <class F>
  auto ghosts_of(F& field, int num_owned) const {
    using T = std::remove_pointer_t<decltype(field.data())>;
    return DeviceSpan<T>(field.data() + 3 * static_cast<std::ptrdiff_t>(num_owned), ghost_values.size());
  }
  ~Buffers() {
    if (unit != MPI_DATATYPE_NULL) MPI_Type_free(&unit);
  }
};

Halo::Halo(MPI_Comm comm, int num_owned, const std::vector<PetscInt>& ghost_owner,
           const std::vector<PetscInt>& ghost_index)
    : num_owned_(num_owned), num_ghosts_(static_cast<int>(ghost_owner.size())), buffers_(std::make_unique<Buffers>()) {
  // First over all owned vertices, to learn which are shared; then over the shared ones alone.
  const std::size_t num_ghosts = ghost_owner.size();
  const auto remote = std::make_unique<PetscSFNode[]>(num_ghosts);  // as a vector it makes nvcc 13.0 crash
  for (std::size_t g = 0; g < num_ghosts; ++g) remote[g] = {ghost_owner[g], ghost_index[g]};
  PetscSFHandle all;
  DIFFSIM_PETSC(PetscSFCreate(comm, all.out()));
  DIFFSIM_PETSC(
      PetscSFSetGraph(all, num_owned_, num_ghosts_, nullptr, PETSC_COPY_VALUES, remote.get(), PETSC_COPY_VALUES));
  DIFFSIM_PETSC(PetscSFSetUp(all));
  const PetscInt* degree = nullptr;
  DIFFSIM_PETSC(PetscSFComputeDegreeBegin(all, &degree));
  DIFFSIM_PETSC(PetscSFComputeDegreeEnd(all, &degree));

  std::vector<int> shared;
  std::vector<PetscInt> compact(static_cast<std::size_t>(num_owned_), -1);
  for (int v = 0; v < num_owned_; ++v) {
    if (degree[v] == 0) continue;
    compact[static_cast<std::size_t>(v)] = static_cast<PetscInt>(shared.size());
    shared.push_back(v);
  }
  num_shared_ = static_cast<int>(shared.size());
  shared_end_ = shared.empty() ? 0 : shared.back() + 1;
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

  Buffers& b = *buffers_;
  DIFFSIM_MPI(MPI_Type_contiguous(3, MPI_DOUBLE, &b.unit));
  DIFFSIM_MPI(MPI_Type_commit(&b.unit));
  b.shared = to_device("diffsim::halo_shared", shared);
  b.shared_values = make_device_array<double>("diffsim::halo_shared_values", 3 * shared.size());
  b.ghost_values = make_device_array<double>("diffsim::halo_ghost_values", 3 * num_ghosts);
  b.shared_host = HostArray("diffsim::halo_shared_host", 3 * shared.size());
  b.ghost_host = HostArray("diffsim::halo_ghost_host", 3 * num_ghosts);
}

Halo::~Halo() = default;

MPI_Comm Halo::comm() const { return PetscObjectComm(reinterpret_cast<PetscObject>(static_cast<PetscSF>(sf_))); }

void Halo::begin_add_to_owners(const Field& field) const {
  require_local_vectors(field, num_local());
  if (alone_) return;
  const ProfilingRegion region("diffsim::halo");
  const Buffers& b = *buffers_;
  Kokkos::deep_copy(b.ghost_host, b.ghosts_of(field, num_owned_));
  gather(b.shared, field.data(), b.shared_values);
  Kokkos::deep_copy(b.shared_host, b.shared_values);
  DIFFSIM_PETSC(PetscSFReduceBegin(sf_, b.unit, b.ghost_host.data(), b.shared_host.data(), MPI_SUM));
}

void Halo::end_add_to_owners(Field& field) const {
  if (alone_) return;
  const ProfilingRegion region("diffsim::halo");
  const Buffers& b = *buffers_;
  DIFFSIM_PETSC(PetscSFReduceEnd(sf_, b.unit, b.ghost_host.data(), b.shared_host.data(), MPI_SUM));
  Kokkos::deep_copy(b.shared_values, b.shared_host);
  scatter(b.shared, b.shared_values, field.data());
  Kokkos::fence();
}

void Halo::begin_copy_to_ghosts(const Field& field) const {
  require_local_vectors(field, num_local());
  if (alone_) return;
  const ProfilingRegion region("diffsim::halo");
  const Buffers& b = *buffers_;
  gather(b.shared, field.data(), b.shared_values);
  Kokkos::deep_copy(b.shared_host, b.shared_values);
  DIFFSIM_PETSC(PetscSFBcastBegin(sf_, b.unit, b.shared_host.data(), b.ghost_host.data(), MPI_REPLACE));
}

void Halo::end_copy_to_ghosts(Field& field) const {
  if (alone_) return;
  const ProfilingRegion region("diffsim::halo");
  const Buffers& b = *buffers_;
  DIFFSIM_PETSC(PetscSFBcastEnd(sf_, b.unit, b.shared_host.data(), b.ghost_host.data(), MPI_REPLACE));
  Kokkos::deep_copy(b.ghosts_of(field, num_owned_), b.ghost_host);
}

void Halo::add_to_owners(Field& field) const {
  begin_add_to_owners(field);
  end_add_to_owners(field);
}

void Halo::copy_to_ghosts(Field& field) const {
  begin_copy_to_ghosts(field);
  end_copy_to_ghosts(field);
}

}  // namespace diffsim
