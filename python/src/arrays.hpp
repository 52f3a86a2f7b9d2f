// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/core/parameters.hpp"
#include "runtime.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// Copy of the values and of the shape of an array-like Python object.
template <class T>
struct ArrayOf {
  std::vector<T> values;
  std::vector<std::size_t> shape;
};

/// Array of doubles in host memory, in row-major order, that is read without a copy if possible: the memory of a Python
/// object that is such an array, or of a converted copy. An ArrayOfObject must be destroyed with the GIL.
class ArrayOfObject {
 public:
  /// Broadcasts an array-like object to `shape`. Throws InputError if the object cannot be broadcast; the message names
  /// `what`.
  ArrayOfObject(nb::handle object, const std::vector<std::size_t>& shape, const std::string& what);
  std::span<const double> values() const { return values_; }

 private:
  nb::object array_;  // numpy array that owns the memory or refers to the owner
  std::span<const double> values_;
};

/// Copies an array-like object of any shape. Throws InputError if numpy cannot convert the object; the message names
/// `what`.
ArrayOf<double> doubles(nb::handle object, const std::string& what);
ArrayOf<std::int64_t> integers(nb::handle object, const std::string& what);
/// Broadcasts an array-like object to `shape` and returns a copy of the values. Throws InputError if the object
/// cannot be broadcast; the message names `what`.
std::vector<double> doubles_of_shape(nb::handle object, const std::vector<std::size_t>& shape, const std::string& what);

/// Returns a numpy array of this shape that owns `values`.
nb::object to_numpy(std::vector<double> values, const std::vector<std::size_t>& shape);
nb::object to_numpy(std::vector<std::int64_t> values, const std::vector<std::size_t>& shape);
nb::object to_numpy(std::vector<int> values, const std::vector<std::size_t>& shape);

/// Returns the shape of a field of a state: [entities, components], or [components] for a field on a single entity.
std::vector<std::size_t> shape_of(const Field& field);
/// Returns the shape of the numpy array of a parameter: [steps, entities, components]. The dimension steps is omitted
/// if one value is valid for all steps, entities if the parameter is global, and components if there is only one.
std::vector<std::size_t> shape_of(const Parameter& parameter);

/// Returns a numpy array with the values of the field or the parameter that `find` returns. `find` runs in a
/// LibraryScope.
template <class Find>
nb::object read_values(const Find& find) {
  std::vector<double> values;
  std::vector<std::size_t> shape;
  {
    const LibraryScope scope;
    const auto& found = find();
    shape = shape_of(found);
    if constexpr (std::is_same_v<decltype(found), const Parameter&>)
      values = found.field.to_host();
    else
      values = found.to_host();
  }
  return to_numpy(std::move(values), shape);
}

}  // namespace diffsim::python
