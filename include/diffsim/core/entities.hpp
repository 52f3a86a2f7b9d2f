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

/// The things that a field has values on, spread over the ranks of a communicator: vertices, cells, faces, edges,
/// bodies, particles, steps, or one thing that all ranks share.
///
/// Each entity is owned by one rank. A rank's local entities are the owned ones, then copies of other ranks'. Sums over
/// all entities take the owned ones. Objects of this class do not change: a set whose number of entities changes is a
/// sequence of them, told apart by their `generation`.
class Entities {
 public:
  /// `order`: the places of the local entities in files, or nullptr where they have none; then they stand in files rank
  /// after rank, and can be read by as many ranks as wrote them. `exchange`: between owned entities and copies, or
  /// nullptr where no rank has copies. Throws Error where the sizes of these differ.
  Entities(std::string name, MPI_Comm comm, std::size_t owned, std::shared_ptr<const FileOrder> order = nullptr,
           std::shared_ptr<const Exchange> exchange = nullptr, std::int64_t generation = 0);

  /// One entity that every rank has and the first rank owns.
  static std::shared_ptr<const Entities> one_for_all(MPI_Comm comm);
  /// The entities of `all` that the ranks own, without copies.
  static std::shared_ptr<const Entities> without_copies(const std::shared_ptr<const Entities>& all);
  /// Entities of this process alone, without places in files.
  static std::shared_ptr<const Entities> of_process(std::size_t count);

  const std::string& name() const { return name_; }  ///< plural, as in messages: "vertices"
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
