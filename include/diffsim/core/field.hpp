// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace diffsim {

class Exchange;
class FileOrder;

/// Set of entities on which fields have values: vertices, cells, faces, edges, bodies, particles, time steps, or a
/// single entity that all ranks share. Entities are distributed over the ranks of a communicator.
///
/// Each entity is owned by one rank. A rank's local entities are the entities that the rank owns, followed by copies
/// (ghosts) of entities that other ranks own. A sum over all entities includes owned entities only, so each entity is
/// counted once. Objects of the class Entities are immutable. If the number of entities changes during a simulation, a
/// new Entities object with another value of `generation` represents the changed set.
class Entities {
 public:
  /// Constructs a set of entities, such as vertices. `owned`: number of entities that this rank owns. `order`:
  /// locations of the local entities in files, or nullptr if the entities have no locations in files. Values on
  /// entities without locations in files are written in the order of the ranks, and can be read only by the same number
  /// of ranks. `exchange`: communication between owned entities and their copies on other ranks, or nullptr if no rank
  /// has copies. `generation`: version of the set, which changes when the number of entities changes. Throws Error if
  /// the number of owned entities of `exchange` is not `owned`, or if `order` lacks locations of local entities.
  Entities(std::string name, MPI_Comm comm, std::size_t owned, std::shared_ptr<const FileOrder> order = nullptr,
           std::shared_ptr<const Exchange> exchange = nullptr, std::int64_t generation = 0);

  /// Returns a set of one entity, which is local to every rank and is owned by the first rank.
  static std::shared_ptr<const Entities> one_for_all(MPI_Comm comm);
  /// Returns the set of the owned entities of the set `all`, without copies.
  static std::shared_ptr<const Entities> without_copies(const std::shared_ptr<const Entities>& all);
  /// Returns a set of `count` entities that belong to this process alone and have no locations in files.
  static std::shared_ptr<const Entities> of_process(std::size_t count);

  const std::string& name() const { return name_; }     ///< name of the entities, a plural noun such as "vertices"
  MPI_Comm comm() const { return comm_; }               ///< communicator over whose ranks the entities are distributed
  std::size_t owned() const { return owned_; }          ///< number of entities that this rank owns
  std::size_t local() const { return local_; }          ///< number of this rank's entities, copies included
  bool is_one_for_all() const { return one_for_all_; }  ///< true if the set has a single entity, shared by all ranks
  /// Returns the version number of the set of entities, which changes when the number of entities changes.
  std::int64_t generation() const { return generation_; }
  /// Returns the locations of the local entities in files, or nullptr if the entities have no locations in files.
  const FileOrder* order() const { return order_.get(); }
  /// Returns the communication between owned entities and copies, or nullptr if no rank has copies.
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

class FieldPool;

/// Named array of doubles in device memory, with values on the local entities of a rank. The array of a Field is
/// row-major, [steps, local entities, components], where `steps` is the number of time steps with separate values, or 1
/// if the same values hold for all time steps. An entry of the field consists of the values of all components at one
/// entity and one time step.
///
/// The first `owned()` entries of a field belong to entities that this rank owns; sums over all ranks include only
/// these entries. A field's entries from index `owned()` on belong to copies of entities that other ranks own. A Field
/// can be moved, but not copied; the function `clone` returns a copy. A Field shares the ownership of its memory with
/// the pointers that `shared_data` returns.
class Field {
 public:
  /// Constructs an empty field, without name and entities.
  Field() = default;
  /// Constructs a field of zeros. If `steps` > 1, the field has separate values for each of `steps` time steps. Throws
  /// Error if `steps` > 1 and any rank has copies of entities of the set `on`.
  Field(std::string name, std::shared_ptr<const Entities> on, int components = 1, int steps = 1);
  /// Constructs a field of zeros, [extent, components], on entities that belong to this process alone.
  Field(std::string name, std::size_t extent, int components = 1);
  Field(Field&&) = default;             ///< takes over the memory of another field
  Field& operator=(Field&&) = default;  ///< gives up the memory of this field, and takes over that of another field
  ~Field() = default;

  const std::string& name() const { return name_; }  ///< name of the field in states and files
  /// Returns the entities on which the field has values. The function `on` must not be called for a default-constructed
  /// Field, which has no entities.
  const Entities& on() const { return *on_; }
  /// Returns the field's entities, or nullptr for a default-constructed Field.
  const std::shared_ptr<const Entities>& shared_on() const { return on_; }
  int steps() const { return steps_; }  ///< number of time steps with separate values; 1: the same values for all steps
  /// Returns the number of the field's entries: steps() times the number of local entities.
  std::size_t extent() const { return on_ ? static_cast<std::size_t>(steps_) * on_->local() : 0; }
  /// Returns the number of the field's entries at owned entities: steps() times the number of owned entities.
  std::size_t owned() const { return on_ ? static_cast<std::size_t>(steps_) * on_->owned() : 0; }
  int components() const { return components_; }  ///< number of values per entry of the field
  /// Returns the number of the field's values on this rank, including values at copies of other ranks' entities.
  std::size_t size() const { return extent() * static_cast<std::size_t>(components_); }
  /// Returns the number of the field's values at the entities that this rank owns.
  std::size_t owned_size() const { return owned() * static_cast<std::size_t>(components_); }
  std::size_t bytes() const { return size() * sizeof(double); }  ///< size of the field's values on this rank (bytes)
  const double* data() const { return data_.get(); }             ///< device address
  /// Returns the device address at which the caller may write the field's values. Each call changes `revision`. Callers
  /// must call `data` before each change of the field's values, so that `revision` changes with the values.
  double* data();
  /// Returns the device address of the values, as a pointer that shares the ownership of the memory. The memory is
  /// freed, or returned to the memory pool of the field, when the field and all such pointers have been destroyed. No
  /// such pointer may be destroyed after the Runtime. A Field that gets other entities (`copy_from`) gets other memory.
  std::shared_ptr<const double> shared_data() const { return data_; }
  /// Returns the revision number of the field, which changes with each operation that may change the field's values.
  /// Each newly constructed field that is not empty has a new revision number.
  std::uint64_t revision() const { return revision_; }

  Field clone() const;                 ///< copy of this field, with the same name, entities and values
  Field like(std::string name) const;  ///< field of zeros with the shape, entities and memory pool of this field
  /// Returns a field of zeros on the entities `on`, with the numbers of components and time steps and the memory pool
  /// of this field.
  Field like(std::string name, std::shared_ptr<const Entities> on) const;
  void fill(double value);  ///< sets all values of the field to `value`, also at copies of other ranks' entities
  /// Copies the values of `other` to this field. If the entities of this field and of `other` differ in
  /// `Entities::generation`, because the number of entities has changed, `copy_from` first gives this field the
  /// entities and the shape of `other`. Throws Error if the fields' entities have the same generation and the fields
  /// differ in size, or if the fields' entities differ in generation and in name.
  void copy_from(const Field& other);
  std::vector<double> to_host() const;                     ///< copy of the field's values in host memory, [size()]
  void from_host(const std::vector<double>& values);       ///< copies `values`, [size()], from host memory to the field
  void from_host(const double* values, std::size_t size);  ///< overload for an array of `size` values in host memory

 private:
  friend class FieldPool;
  Field(std::string name, std::shared_ptr<const Entities> on, int components, int steps,
        std::shared_ptr<FieldPool> pool);
  /// Returns the field's memory pool, or nullptr for a field without a pool and for a field without values.
  std::shared_ptr<FieldPool> pool() const;

  /// Deleter that returns a field's memory to the field's memory pool, or frees the memory if the field has no pool.
  struct Deleter {
    std::shared_ptr<FieldPool> pool;
    std::size_t bytes;
    void operator()(double* data) const noexcept;
  };
  std::string name_;
  std::shared_ptr<const Entities> on_;
  int components_ = 1;
  int steps_ = 1;
  std::shared_ptr<double> data_;  // with a Deleter
  std::uint64_t revision_ = 0;
};

/// Computes y += a x for all values on this rank, including the values at copies of other ranks' entities.
void axpy(double a, const Field& x, Field& y);
/// Multiplies all values of x on this rank by a, including the values at copies of other ranks' entities.
void scale(double a, Field& x);
/// Returns the scalar product Σ_i x_i y_i, where i runs over all values at the entities that this rank owns.
/// `local_dot` adds the terms x_i y_i in an order that is fixed for a given number of threads.
double local_dot(const Field& x, const Field& y);
/// Returns, for each component of x, the sum of the component's values at the entities that this rank owns.
std::vector<double> local_sum(const Field& x);

}  // namespace diffsim
