// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/petsc_handle.hpp"
#include "diffsim/core/field.hpp"

namespace diffsim {

/// Exchange of values between the entities that a rank owns and the copies ("ghosts") of these entities on other ranks.
/// The exchange uses PetscSF.
///
/// In the local numbering, owned entities come first, then ghosts. Messages contain only values of shared entities
/// (owned entities with a copy on another rank) and of ghosts. Sums over ghosts are computed in a fixed order, so equal
/// runs give bitwise identical results. Arguments of type Field have the shape [num_local, components], with any number
/// of components, and are in device memory; arguments of type std::vector are in host memory.
class Exchange {
 public:
  /// Sets up the exchange. The ghost with the local index num_owned + g is a copy of the entity with local index
  /// `ghost_index[g]` on rank `ghost_owner[g]`. Collective.
  Exchange(MPI_Comm comm, int num_owned, const std::vector<PetscInt>& ghost_owner,
           const std::vector<PetscInt>& ghost_index);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  MPI_Comm comm() const;
  int num_owned() const { return num_owned_; }
  int num_local() const { return num_owned_ + num_ghosts_; }
  /// Returns the number of owned entities that have a copy on another rank.
  int num_shared() const { return num_shared_; }
  /// Returns 1 + the largest local index of a shared owned entity, or 0 if no owned entity is shared.
  int shared_end() const { return shared_end_; }
  /// Returns true if no rank has ghosts.
  bool is_alone() const { return alone_; }

  /// Adds the value at each ghost to the value at the owned entity of which the ghost is a copy. The function
  /// `add_to_owners` does not change the values at ghosts. Collective.
  void add_to_owners(Field& field) const;
  /// Copies the values at owned entities to the ghosts of these entities. Collective.
  void copy_to_ghosts(Field& field) const;

  // Two-part forms of `add_to_owners` and `copy_to_ghosts`: `begin_…` starts the messages and `end_…` completes the
  // exchange. Values at entities that are neither shared nor ghosts may change between the two calls. Only one exchange
  // may be in progress at a time.
  void begin_add_to_owners(const Field& field) const;
  void end_add_to_owners(Field& field) const;
  void begin_copy_to_ghosts(const Field& field) const;
  void end_copy_to_ghosts(Field& field) const;

  /// Overload of `copy_to_ghosts` for host values, [num_local, components], of any trivially copyable type. Collective.
  template <class T>
  void copy_to_ghosts(std::vector<T>& values, int components = 1) const {
    static_assert(std::is_trivially_copyable_v<T>);
    copy_bytes_to_ghosts(values.data(), values.size(), sizeof(T), components);
  }
  /// Overload of `add_to_owners` for host integers, [num_local, components]. Collective.
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
  bool alone_ = true;        // true if no rank has ghosts
  std::vector<int> shared_;  // owned entities that have a copy on another rank
  struct DeviceParts;
  std::unique_ptr<DeviceParts> device_;                      // `shared_` on the device
  mutable std::map<int, std::unique_ptr<Buffers>> buffers_;  // by number of components, created on first use
};

/// Returns Entities that consist of the owned entities of `owned` and of copies of other ranks' entities. Copy number g
/// is a copy of the entity with local index `index[g]` on rank `owner[g]`. The returned Entities have no locations in
/// files (`Entities::order` returns nullptr). Collective.
std::shared_ptr<const Entities> with_copies(const Entities& owned, const std::vector<PetscInt>& owner,
                                            const std::vector<PetscInt>& index);

}  // namespace diffsim
