// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace diffsim {

/// A named array of doubles in device memory, entry-major: [extent, components].
///
/// The first `owned` entries belong to this rank and count in sums over all ranks; the others are this rank's copies of
/// entries that other ranks own. Move-only: a copy is asked for by `clone`.
class Field {
 public:
  Field() = default;
  /// Zeroed. `owned` < 0: all entries are owned.
  Field(std::string name, std::size_t extent, int components = 1, std::ptrdiff_t owned = -1);

  const std::string& name() const { return name_; }
  std::size_t extent() const { return extent_; }
  std::size_t owned() const { return owned_; }
  int components() const { return components_; }
  std::size_t size() const { return extent_ * static_cast<std::size_t>(components_); }
  std::size_t owned_size() const { return owned_ * static_cast<std::size_t>(components_); }
  std::size_t bytes() const { return size() * sizeof(double); }
  double* data() { return data_.get(); }              ///< device address
  const double* data() const { return data_.get(); }  ///< device address

  Field clone() const;
  Field like(std::string name) const;  ///< zeroed, of the same shape
  void fill(double value);
  void copy_from(const Field& other);  ///< sizes must agree
  std::vector<double> to_host() const;
  void from_host(const std::vector<double>& values);  ///< `size()` values

 private:
  struct Deleter {
    void operator()(double* data) const noexcept;
  };
  std::string name_;
  std::size_t extent_ = 0;
  std::size_t owned_ = 0;
  int components_ = 1;
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
