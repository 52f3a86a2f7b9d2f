// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <type_traits>
#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/core/petsc_handle.hpp"

namespace diffsim {

/// Exchange between the entities that a rank owns and the copies ("ghosts") that other ranks hold, by PetscSF.
///
/// Local entities are numbered owned first, ghosts after. Only the entities that are shared are packed and sent; sums
/// arrive in a fixed order, so a run repeats to the bit. Fields are [num_local, components] in device memory, of any
/// number of components; vectors are in host memory.
class Exchange {
 public:
  /// `ghost_owner[g]` and `ghost_index[g]`: rank and local index there of ghost num_owned + g. Collective.
  Exchange(MPI_Comm comm, int num_owned, const std::vector<PetscInt>& ghost_owner,
           const std::vector<PetscInt>& ghost_index);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  MPI_Comm comm() const;
  int num_owned() const { return num_owned_; }
  int num_local() const { return num_owned_ + num_ghosts_; }
  /// Number of owned entities that some other rank has a copy of.
  int num_shared() const { return num_shared_; }
  /// One after the last of the shared entities, 0 without any.
  int shared_end() const { return shared_end_; }
  /// Whether no rank shares anything.
  bool is_alone() const { return alone_; }

  /// Adds the ghosts' values to their owners; ghosts keep theirs. Collective.
  void add_to_owners(Field& field) const;
  /// Copies owners' values to the ghosts. Collective.
  void copy_to_ghosts(Field& field) const;

  // The same in two halves, between which entities that are not shared may change. One exchange at a time.
  void begin_add_to_owners(const Field& field) const;
  void end_add_to_owners(Field& field) const;
  void begin_copy_to_ghosts(const Field& field) const;
  void end_copy_to_ghosts(Field& field) const;

  /// Copies owners' values [num_local, components] of any trivially copyable type to the ghosts. Collective.
  template <class T>
  void copy_to_ghosts(std::vector<T>& values, int components = 1) const {
    static_assert(std::is_trivially_copyable_v<T>);
    copy_bytes_to_ghosts(values.data(), values.size(), sizeof(T), components);
  }
  /// Adds the ghosts' integers [num_local, components] to their owners. Collective.
  void add_to_owners(std::vector<PetscInt>& values, int components = 1) const;

 private:
  struct Buffers;
  const Buffers& buffers_for(const Field& field) const;
  void require_local(std::size_t size, int components) const;
  void copy_bytes_to_ghosts(void* values, std::size_t size, std::size_t bytes, int components) const;

  PetscSFHandle sf_;
  int num_owned_ = 0;
  int num_ghosts_ = 0;
  int num_shared_ = 0;
  int shared_end_ = 0;
  bool alone_ = true;        // nothing is shared on any rank
  std::vector<int> shared_;  // owned entities that others copy
  struct DeviceParts;
  std::unique_ptr<DeviceParts> device_;                      // the same on the device
  mutable std::map<int, std::unique_ptr<Buffers>> buffers_;  // by number of components, made when first used
};

/// The entities of `owned` with copies of other ranks' entities: `owner[g]` and `index[g]` are the rank that owns copy
/// g and its index there. They have no places in files. Collective.
std::shared_ptr<const Entities> with_copies(const Entities& owned, const std::vector<PetscInt>& owner,
                                            const std::vector<PetscInt>& index);

}  // namespace diffsim
