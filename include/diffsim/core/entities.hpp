// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace diffsim {

class Exchange;
class FileOrder;

/// Set of things that a field has values on, distributed over the ranks of a communicator: vertices, cells, faces,
/// edges, bodies, particles, steps, or one thing that all ranks share.
///
/// Each entity is owned by one rank. A rank's local entities are the owned ones, followed by copies (ghosts) of
/// entities that other ranks own. Sums over all entities run over the owned ones. Objects of this class are immutable.
/// A set whose number of entities changes is a sequence of objects, distinguished by their `generation`.
class Entities {
 public:
  /// Constructs a set. `order`: positions of the local entities in files, or nullptr if the entities have no positions
  /// in files; then they are stored in files rank after rank, and can only be read by as many ranks as wrote them.
  /// `exchange`: exchange between owned entities and copies, or nullptr if no rank has copies. Throws Error if the
  /// sizes of `owned`, `order` and `exchange` are inconsistent.
  Entities(std::string name, MPI_Comm comm, std::size_t owned, std::shared_ptr<const FileOrder> order = nullptr,
           std::shared_ptr<const Exchange> exchange = nullptr, std::int64_t generation = 0);

  /// Returns a set of one entity, which every rank has and the first rank owns.
  static std::shared_ptr<const Entities> one_for_all(MPI_Comm comm);
  /// Returns the set of the owned entities of `all`, without copies.
  static std::shared_ptr<const Entities> without_copies(const std::shared_ptr<const Entities>& all);
  /// Returns a set of entities of this process alone, without positions in files.
  static std::shared_ptr<const Entities> of_process(std::size_t count);

  const std::string& name() const { return name_; }  ///< plural, as used in messages: "vertices"
  MPI_Comm comm() const { return comm_; }
  std::size_t owned() const { return owned_; }
  std::size_t local() const { return local_; }
  bool is_one_for_all() const { return one_for_all_; }
  std::int64_t generation() const { return generation_; }
  const FileOrder* order() const { return order_.get(); }
  const Exchange* exchange() const { return exchange_.get(); }

 private:
  std::string name_;
  MPI_Comm comm_;
  std::size_t owned_;
  std::size_t local_;
  bool one_for_all_ = false;
  std::int64_t generation_;
  std::shared_ptr<const FileOrder> order_;
  std::shared_ptr<const Exchange> exchange_;
};

}  // namespace diffsim
