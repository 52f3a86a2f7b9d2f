// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/entities.hpp"

namespace diffsim {

class FieldPool;

/// Named array of doubles in device memory on a rank's entities, row-major: [steps, local entities, components].
///
/// The first `owned` entries belong to this rank and count in sums over all ranks. The remaining entries are this
/// rank's copies of entries that other ranks own. Move-only; use `clone` to copy.
class Field {
 public:
  Field() = default;
  /// Constructs a field of zeros. With `steps` > 1 the field has values for each of this many steps. Throws Error for
  /// several steps on entities with copies.
  Field(std::string name, std::shared_ptr<const Entities> on, int components = 1, int steps = 1);
  /// Constructs a field of zeros on entries of this process alone: [extent, components].
  Field(std::string name, std::size_t extent, int components = 1);

  const std::string& name() const { return name_; }
  /// Entities that the values are on. Must not be called on a default-constructed Field, which has no entities.
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
  Field like(std::string name) const;  ///< zeros, of the same shape and from the same pool
  void fill(double value);
  /// Copies the values of `other`. If `other` is on another generation of the same entities, this field first takes the
  /// shape of `other`. Throws Error if the sizes differ within one generation, or if the generations differ and the
  /// entities have different names.
  void copy_from(const Field& other);
  std::vector<double> to_host() const;
  void from_host(const std::vector<double>& values);  ///< `size()` values

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
};

/// Computes y += a x over all entries, copies included.
void axpy(double a, const Field& x, Field& y);
/// Computes x *= a over all entries, copies included.
void scale(double a, Field& x);
/// Returns Σ x y over this rank's owned entries, in a fixed order.
double local_dot(const Field& x, const Field& y);
/// Returns Σ x over this rank's owned entries, one sum per component.
std::vector<double> local_sum(const Field& x);

}  // namespace diffsim
