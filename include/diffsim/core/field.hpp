// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/entities.hpp"

namespace diffsim {

class FieldPool;

/// A named array of doubles in device memory on a rank's entities, entry-major: [steps, local entities, components].
///
/// The first `owned` entries belong to this rank and count in sums over all ranks; the others are this rank's copies of
/// entries that other ranks own. Move-only: a copy is asked for by `clone`.
class Field {
 public:
  Field() = default;
  /// Field of zeros. `steps` > 1: with values for each of so many steps. Throws Error for several steps on entities
  /// with copies.
  Field(std::string name, std::shared_ptr<const Entities> on, int components = 1, int steps = 1);
  /// Field of zeros on entries of this process alone: [extent, components].
  Field(std::string name, std::size_t extent, int components = 1);

  const std::string& name() const { return name_; }
  /// The entities that the values are on; there are none in a Field made without arguments.
  const Entities& on() const { return *on_; }
  const std::shared_ptr<const Entities>& shared_on() const { return on_; }
  int steps() const { return steps_; }
  std::size_t extent() const { return on_ ? static_cast<std::size_t>(steps_) * on_->local() : 0; }
  std::size_t owned() const { return on_ ? static_cast<std::size_t>(steps_) * on_->owned() : 0; }
  int components() const { return components_; }
  std::size_t size() const { return extent() * static_cast<std::size_t>(components_); }
  std::size_t owned_size() const { return owned() * static_cast<std::size_t>(components_); }
  std::size_t bytes() const { return size() * sizeof(double); }
  double* data() { return data_.get(); }              ///< device address
  const double* data() const { return data_.get(); }  ///< device address

  Field clone() const;
  Field like(std::string name) const;  ///< zeroed, of the same shape and from the same pool
  void fill(double value);
  /// Takes the values of `other`, and its shape where that is on another generation of the same entities. Throws Error
  /// where the sizes of one generation differ.
  void copy_from(const Field& other);
  std::vector<double> to_host() const;
  void from_host(const std::vector<double>& values);  ///< `size()` values

 private:
  friend class FieldPool;
  Field(std::string name, std::shared_ptr<const Entities> on, int components, int steps,
        std::shared_ptr<FieldPool> pool);

  /// Frees a field's memory, or gives it back to the pool that it is from.
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
};

/// y += a x over all entries.
void axpy(double a, const Field& x, Field& y);
/// x *= a over all entries.
void scale(double a, Field& x);
/// Σ x y over this rank's owned entries, in a fixed order.
double local_dot(const Field& x, const Field& y);
/// Σ x over this rank's owned entries, one sum a component.
std::vector<double> local_sum(const Field& x);

}  // namespace diffsim
