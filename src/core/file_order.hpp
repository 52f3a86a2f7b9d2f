// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/petsc_handle.hpp"

namespace diffsim {

/// Mapping between the local entities of the ranks and the order of the entities in a file, implemented with PetscSF.
/// The entities of a file are divided into contiguous blocks in the order of the file, one block per rank. Values on
/// cells and vertices that are read from or written to files are exchanged between ranks by a FileOrder. The values
/// that a FileOrder exchanges may have any trivially copyable type.
class FileOrder {
 public:
  /// Sets up the mapping. `file_index[i]`: 0-based location of local entity i in the file. This rank owns the first
  /// `num_owned` local entities. Each entity of the file is owned by at most one rank. `block`: number of entities in
  /// this rank's block, or -1 for an even split over the ranks. Collective.
  FileOrder(MPI_Comm comm, std::int64_t num_global, const std::vector<std::int64_t>& file_index, int num_owned,
            int block = -1);

  std::int64_t num_global() const { return num_global_; }
  std::int64_t block_begin() const { return begin_; }
  std::int64_t block_size() const { return size_; }
  const std::vector<PetscInt>& file_index() const { return file_index_; }

  /// Sends the values at the entities that each rank owns, `local` [owned, components], to the ranks that have the
  /// entities in their blocks of the file. Sets `block` [block_size, components] to the values that this rank receives.
  /// The function `to_file` does not change the values in `block` at entities that no rank owns. Collective.
  template <class T>
  void to_file(const std::vector<T>& local, int components, std::vector<T>& block) const {
    static_assert(std::is_trivially_copyable_v<T>);
    block.resize(static_cast<std::size_t>(size_) * static_cast<std::size_t>(components));
    send_to_file(local.data(), sizeof(T) * static_cast<std::size_t>(components), block.data());
  }
  /// Returns the values at all local entities, copies included, [local, components]. `block` contains the values of
  /// this rank's block of the file, [block_size, components]. Collective.
  template <class T>
  std::vector<T> from_file(const std::vector<T>& block, int components) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> local(file_index_.size() * static_cast<std::size_t>(components));
    send_from_file(block.data(), sizeof(T) * static_cast<std::size_t>(components), local.data());
    return local;
  }

  /// Disables the storage of communication graphs, which take 20 bytes per entity. After a call of `keep_no_graphs`,
  /// every call of `to_file` or `from_file` builds a new communication graph.
  void keep_no_graphs() { keeps_graphs_ = false; }

 private:
  /// Calls use(graph). The leaves of the communication graph (PetscSF) are the owned entities and, if `copies` is true,
  /// also the copies of other ranks' entities.
  template <class Use>
  void with_graph(bool copies, const Use& use) const;
  /// Untyped form of `to_file`. `width`: bytes per entity.
  void send_to_file(const void* local, std::size_t width, void* block) const;
  /// Untyped form of `from_file`. `width`: bytes per entity.
  void send_from_file(const void* block, std::size_t width, void* local) const;

  MPI_Comm comm_;
  std::int64_t num_global_ = 0;
  std::int64_t begin_ = 0;
  std::int64_t size_ = 0;
  std::vector<PetscInt> file_index_;
  std::size_t num_owned_ = 0;
  bool copies_ = false;  // true if some rank has copies of other ranks' entities
  bool keeps_graphs_ = true;
  // Communication graphs, built on first use. If no rank has copies, only `all_` is used, because both graphs are then
  // equal.
  mutable PetscSFHandle all_;    // leaves: all local entities
  mutable PetscSFHandle owned_;  // leaves: owned entities
};

}  // namespace diffsim
