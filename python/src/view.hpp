// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/core/parameters.hpp"
#include "runtime.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// Memory of a field that Python objects share with the library: with views, and with arrays of other packages that
/// refer to the memory. If such arrays exist at the interpreter's exit, the memory is never freed, because a program
/// may read these arrays after the runtime has been finalised.
class SharedMemory final : public Handle {
 public:
  explicit SharedMemory(std::shared_ptr<const double> data) : data_(std::move(data)) {}
  ~SharedMemory() override;
  void release() override;
  /// Throws RunError (Python) if the interpreter's exit handlers have released the memory.
  void require() const {
    if (is_released_) throw_finalised();
  }
  /// Declares that arrays without an owner from `make_owner` refer to the memory.
  void mark_used() { ++num_arrays_; }
  /// Returns a Python object that shares `memory`; the object is the owner of an array of another package.
  static nb::object make_owner(const std::shared_ptr<SharedMemory>& memory);

 private:
  std::shared_ptr<const double> data_;  // nullptr for a field without values
  std::atomic<int> num_arrays_ = 0;     // number of existing objects from `make_owner`, and calls of `mark_used`
  bool is_released_ = false;
};

/// Python object that refers to the memory of a field, without a copy. Arrays of numpy and of packages that support
/// DLPack or the CUDA array interface can refer to the memory of a view, and keep the memory alive. A view is
/// read-only, except in a block of `Parameters.edit`.
class ArrayView {
 public:
  /// Returns a read-only view of the values of a field of a state. `owned_only`: true for a view of the values at the
  /// entities that this rank owns. Throws Error (input) if neither the host nor a GPU's array packages can access the
  /// memory.
  static ArrayView of(const Field& field, bool owned_only = false);
  /// Returns a read-only view of the values of a parameter.
  static ArrayView of(const Parameter& parameter);
  /// Returns a writable view of the values of a parameter, and changes the revision of the parameter's field.
  static ArrayView to_edit(Parameter& parameter);
  /// Makes the view and the numpy array that `to_numpy` returned read-only.
  void end_edit();

  const std::vector<std::size_t>& shape() const { return shape_; }
  bool is_writable() const { return is_writable_; }
  const double* data() const { return data_; }
  /// Returns a numpy array that refers to the memory.
  nb::object to_numpy();
  /// Returns an object with the methods `__dlpack__` and `__dlpack_device__` that refers to the memory.
  nb::object to_dlpack() const;
  /// Returns the dict of the CUDA array interface, version 3. Throws AttributeError (Python) in a build for the host.
  nb::dict cuda_array_interface() const;

 private:
  ArrayView(double* data, std::shared_ptr<const double> memory, std::vector<std::size_t> shape, bool is_writable);

  double* data_;
  std::shared_ptr<SharedMemory> memory_;
  std::vector<std::size_t> shape_;
  bool is_writable_;
  nb::object writable_array_;  // numpy array that `to_numpy` returns while the view is writable
};

/// Returns a view of the field or the parameter that `find` returns. `find` runs in a LibraryScope.
template <class Find>
ArrayView view_of(const Find& find) {
  using Found = std::decay_t<decltype(find())>;
  const Found* found = nullptr;
  {
    const LibraryScope scope;
    found = &find();
  }
  return ArrayView::of(*found);
}

}  // namespace diffsim::python
