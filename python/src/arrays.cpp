// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"

#include <nanobind/stl/string.h>

#include "diffsim/core/error.hpp"

namespace diffsim::python {
namespace {

/// Converts an object that has the protocol of DLPack only, such as a view of another package, to a numpy array.
nb::object as_array(const nb::module_& numpy, nb::handle object) {
  if (nb::hasattr(object, "__dlpack__") && !nb::hasattr(object, "__array__") && !PyObject_CheckBuffer(object.ptr()))
    return numpy.attr("from_dlpack")(object);
  return numpy.attr("asarray")(object);
}

/// Converts an array-like object to a contiguous numpy array of the type `dtype` in row-major order, without a copy if
/// the object is such an array. `shape`: shape to which the object is broadcast, or None.
nb::object contiguous(nb::handle object, const char* dtype, const std::string& what, const char* conversion,
                      nb::handle shape) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  try {
    nb::object array = as_array(numpy, object);
    if (!shape.is_none()) array = numpy.attr("broadcast_to")(array, shape);
    if (std::string(conversion) == "same_kind" && nb::cast<std::size_t>(array.attr("size")) == 0)
      array = array.attr("astype")(dtype);
    return numpy.attr("ascontiguousarray")(
        array.attr("astype")(dtype, nb::arg("casting") = conversion, nb::arg("copy") = false));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError) && !error.matches(PyExc_ValueError) && !error.matches(PyExc_BufferError)) throw;
    throw InputError(what + ": " + nb::cast<std::string>(nb::str(error.value())));
  }
}

template <class T>
ArrayOf<T> read(nb::handle object, const char* dtype, const std::string& what, const char* conversion) {
  const nb::object array = contiguous(object, dtype, what, conversion, nb::none());
  const auto view = nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(array);
  ArrayOf<T> result;
  result.values.assign(view.data(), view.data() + view.size());
  // numpy.ascontiguousarray returns arrays of at least one dimension.
  for (const nb::handle extent : nb::borrow<nb::tuple>(array.attr("shape")))
    result.shape.push_back(nb::cast<std::size_t>(extent));
  return result;
}

template <class T>
nb::object make_array(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto* owner = new std::vector<T>(std::move(values));
  const nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  static T none{};  // data pointer of an empty array
  return nb::cast(
      nb::ndarray<nb::numpy, T>(owner->empty() ? &none : owner->data(), shape.size(), shape.data(), capsule));
}

}  // namespace

ArrayOf<double> doubles(nb::handle object, const std::string& what) {
  return read<double>(object, "float64", what, "unsafe");
}

ArrayOf<std::int64_t> integers(nb::handle object, const std::string& what) {
  return read<std::int64_t>(object, "int64", what, "same_kind");
}

ArrayOfObject::ArrayOfObject(nb::handle object, const std::vector<std::size_t>& shape, const std::string& what) {
  nb::list extents;
  for (const std::size_t extent : shape) extents.append(extent);
  array_ = contiguous(object, "float64", what, "unsafe", nb::tuple(extents));
  const auto view = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(array_);
  values_ = {view.data(), view.size()};
}

std::vector<double> doubles_of_shape(nb::handle object, const std::vector<std::size_t>& shape,
                                     const std::string& what) {
  const ArrayOfObject array(object, shape, what);
  return {array.values().begin(), array.values().end()};
}

nb::object to_numpy(std::vector<double> values, const std::vector<std::size_t>& shape) {
  return make_array(std::move(values), shape);
}
nb::object to_numpy(std::vector<std::int64_t> values, const std::vector<std::size_t>& shape) {
  return make_array(std::move(values), shape);
}
nb::object to_numpy(std::vector<int> values, const std::vector<std::size_t>& shape) {
  return make_array(std::move(values), shape);
}

std::vector<std::size_t> shape_of(const Field& field) {
  const auto components = static_cast<std::size_t>(field.components());
  if (field.on().is_one_for_all()) return {components};
  return {field.extent(), components};
}

std::vector<std::size_t> shape_of(const Parameter& parameter) {
  std::vector<std::size_t> shape;
  const Field& field = parameter.field;
  if (field.steps() > 1) shape.push_back(static_cast<std::size_t>(field.steps()));
  if (!parameter.is_global()) shape.push_back(parameter.on().local());
  if (field.components() > 1) shape.push_back(static_cast<std::size_t>(field.components()));
  return shape;
}

}  // namespace diffsim::python
