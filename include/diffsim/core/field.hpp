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
/// single entity that all ranks share. The entities are distributed over the ranks of a communicator.
///
/// Each entity is owned by one rank. A rank's local entities are the entities that the rank owns, followed by copies
/// (ghosts) of entities that other ranks own. A sum over all entities includes owned entities only, so each entity is
/// counted once. Objects of this class are immutable. If the number of entities changes during a simulation, a new
/// object with another value of `generation` represents the changed set.
class Entities {
 public:
  /// Constructs a set of entities, of which this rank owns `owned`. `order`: locations of the local entities in files,
  /// or nullptr if the entities have no locations in files. Values on entities without locations are written in the
  /// order of the ranks; a file with such values can be read only with the number of ranks that wrote the file.
  /// `exchange`: communication between owned entities and their copies on other ranks, or nullptr if no rank has
  /// copies. `generation`: version of the set, which changes when the number of entities changes. Throws Error if
  /// `exchange` does not have `owned` owned entities, or if `order` has fewer locations than there are local entities.
  Entities(std::string name, MPI_Comm comm, std::size_t owned, std::shared_ptr<const FileOrder> order = nullptr,
           std::shared_ptr<const Exchange> exchange = nullptr, std::int64_t generation = 0);

  /// Returns a set of one entity, which every rank has and the first rank owns.
  static std::shared_ptr<const Entities> one_for_all(MPI_Comm comm);
  /// Returns the set of the owned entities of `all`, without copies.
  static std::shared_ptr<const Entities> without_copies(const std::shared_ptr<const Entities>& all);
  /// Returns a set of `count` entities that belong to this process alone and have no locations in files.
  static std::shared_ptr<const Entities> of_process(std::size_t count);

  const std::string& name() const { return name_; }     ///< plural noun for messages, for example "vertices"
  MPI_Comm comm() const { return comm_; }               ///< communicator over whose ranks the entities are distributed
  std::size_t owned() const { return owned_; }          ///< number of entities that this rank owns
  std::size_t local() const { return local_; }          ///< number of this rank's entities, copies included
  bool is_one_for_all() const { return one_for_all_; }  ///< true for the result of `one_for_all`
  std::int64_t generation() const { return generation_; }  ///< version; changes if the number of entities changes
  const FileOrder* order() const { return order_.get(); }  ///< locations in files; nullptr if there are none
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

/// Named array of doubles in device memory, with values on the local entities of a rank. The layout is row-major,
/// [steps, local entities, components]. `steps` is the number of time steps with separate values. `steps` is 1 if the
/// same values hold for all time steps. An entry of the field consists of the values of all components at one entity
/// and one time step.
///
/// The first `owned()` entries belong to entities that this rank owns; sums over all ranks include only these entries.
/// The remaining entries belong to copies of entities that other ranks own. A Field can be moved, but not copied; the
/// function `clone` returns a copy.
class Field {
 public:
  /// Constructs an empty field, without name and entities.
  Field() = default;
  /// Constructs a field of zeros. If `steps` > 1, the field has separate values for each of `steps` time steps. Throws
  /// Error if `steps` > 1 and the entities have copies.
  Field(std::string name, std::shared_ptr<const Entities> on, int components = 1, int steps = 1);
  /// Constructs a field of zeros, [extent, components], on entities that belong to this process alone.
  Field(std::string name, std::size_t extent, int components = 1);

  const std::string& name() const { return name_; }  ///< name of the field in states and files
  /// Returns the entities on which the field has values. The function must not be called for a default-constructed
  /// Field, which has no entities.
  const Entities& on() const { return *on_; }
  const std::shared_ptr<const Entities>& shared_on() const { return on_; }  ///< nullptr for an empty field
  int steps() const { return steps_; }  ///< number of time steps with separate values; 1: the same values for all steps
  /// Returns the number of entries: steps() times the number of local entities. An entry consists of components()
  /// values.
  std::size_t extent() const { return on_ ? static_cast<std::size_t>(steps_) * on_->local() : 0; }
  /// Returns the number of entries of owned entities: steps() times the number of owned entities.
  std::size_t owned() const { return on_ ? static_cast<std::size_t>(steps_) * on_->owned() : 0; }
  int components() const { return components_; }  ///< number of values per entry
  /// Returns the number of values on this rank, copies included.
  std::size_t size() const { return extent() * static_cast<std::size_t>(components_); }
  /// Returns the number of values of owned entities.
  std::size_t owned_size() const { return owned() * static_cast<std::size_t>(components_); }
  std::size_t bytes() const { return size() * sizeof(double); }  ///< memory of the values on this rank
  const double* data() const { return data_.get(); }             ///< device address
  /// Returns the device address at which the caller may write values. Each call changes `revision`. Call this function
  /// again before each later change of the values, so that `revision` changes, too.
  double* data();
  /// Returns a number that identifies the version of the values. The number changes with each operation that may change
  /// the values. Each newly constructed field that is not empty has a new number.
  std::uint64_t revision() const { return revision_; }

  Field clone() const;                 ///< copy with the same name, entities and values
  Field like(std::string name) const;  ///< field of zeros with the shape, entities and memory pool of this field
  /// Returns a field of zeros on the entities `on`, with the numbers of components and time steps and the memory pool
  /// of this field.
  Field like(std::string name, std::shared_ptr<const Entities> on) const;
  void fill(double value);  ///< sets all values, copies included
  /// Copies the values of `other`. If the entities of both fields have the same `Entities::generation`, the fields must
  /// have the same size. If the generations differ, because the number of entities has changed, this field first gets
  /// the entities and the shape of `other`; the entities must then have the same name. Throws Error otherwise.
  void copy_from(const Field& other);
  std::vector<double> to_host() const;                ///< values in host memory, [size()]
  void from_host(const std::vector<double>& values);  ///< `values`: [size()], host memory

 private:
  friend class FieldPool;
  Field(std::string name, std::shared_ptr<const Entities> on, int components, int steps,
        std::shared_ptr<FieldPool> pool);

  /// Deleter that returns a field's memory to the field's pool, or frees the memory if there is no pool.
  struct Deleter {
    std::shared_ptr<FieldPool> pool;
    std::size_t bytes;
    void operator()(double* data) const noexcept;
  };
  std::string name_;
  std::shared_ptr<const Entities> on_;
  int components_ = 1;
  int steps_ = 1;
  std::unique_ptr<double, Deleter> data_;
  std::uint64_t revision_ = 0;
};

/// Computes y += a x for all values on this rank, including the values at copies of other ranks' entities.
void axpy(double a, const Field& x, Field& y);
/// Multiplies all values of x on this rank by a, including the values at copies of other ranks' entities.
void scale(double a, Field& x);
/// Returns the scalar product Σ_i x_i y_i, where i runs over all values at the entities that this rank owns. The order
/// of the sum is fixed for a given number of threads.
double local_dot(const Field& x, const Field& y);
/// Returns, for each component of x, the sum of the component's values at the entities that this rank owns.
std::vector<double> local_sum(const Field& x);

}  // namespace diffsim
