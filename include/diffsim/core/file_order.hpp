// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "diffsim/core/petsc_handle.hpp"

namespace diffsim {

/// The map between this rank's owned entities and even contiguous blocks of the file's order, by PetscSF: what is read
/// from or written to a file passes through it. Values are of any trivially copyable type.
class FileOrder {
 public:
  /// `file_index[i]`: 0-based place in the file of local entity i. The first `num_owned` are owned; each entity of the
  /// file is owned by at most one rank. `block`: entities in this rank's block, -1 for an even split. Collective.
  FileOrder(MPI_Comm comm, std::int64_t num_global, const std::vector<std::int64_t>& file_index, int num_owned,
            int block = -1);

  std::int64_t num_global() const { return num_global_; }
  std::int64_t block_begin() const { return begin_; }
  std::int64_t block_size() const { return size_; }
  const std::vector<PetscInt>& file_index() const { return file_index_; }

  /// Owned local values [owned, components] into the rank's block [block_size, components]; entries of the file that no
  /// rank owns keep what `block` holds. Collective.
  template <class T>
  void to_file(const std::vector<T>& local, int components, std::vector<T>& block) const {
    static_assert(std::is_trivially_copyable_v<T>);
    block.resize(static_cast<std::size_t>(size_) * static_cast<std::size_t>(components));
    send_to_file(local.data(), sizeof(T) * static_cast<std::size_t>(components), block.data());
  }
  /// The block's values to every local entity, copies included. Collective.
  template <class T>
  std::vector<T> from_file(const std::vector<T>& block, int components) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> local(file_index_.size() * static_cast<std::size_t>(components));
    send_from_file(block.data(), sizeof(T) * static_cast<std::size_t>(components), local.data());
    return local;
  }

  /// From now on keeps no graph, which takes 20 B an entity, but makes one for each use.
  void keep_no_graphs() { keeps_graphs_ = false; }

 private:
  template <class Use>
  void with_graph(bool copies, const Use& use) const;
  /// `width`: bytes of an entity.
  void send_to_file(const void* local, std::size_t width, void* block) const;
  void send_from_file(const void* block, std::size_t width, void* local) const;

  MPI_Comm comm_;
  std::int64_t num_global_ = 0;
  std::int64_t begin_ = 0;
  std::int64_t size_ = 0;
  std::vector<PetscInt> file_index_;
  std::size_t num_owned_ = 0;
  bool copies_ = false;  // some rank has copies of others' entities
  bool keeps_graphs_ = true;
  // Made when first used.
  mutable PetscSFHandle all_;    // leaves: every local entity
  mutable PetscSFHandle owned_;  // leaves: owned ones; where nobody has copies, the other graph is both
};

}  // namespace diffsim
