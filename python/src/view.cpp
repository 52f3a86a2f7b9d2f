// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "view.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstdint>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::python {
namespace {

bool is_on_gpu() { return memory_kind() == MemoryKind::cuda || memory_kind() == MemoryKind::hip; }

/// Returns the type of the device that stores fields, in the numbering of DLPack.
int dlpack_device_type() {
  if (memory_kind() == MemoryKind::cuda) return nb::device::cuda::value;
  return memory_kind() == MemoryKind::hip ? nb::device::rocm::value : nb::device::cpu::value;
}

int number_of_device() { return is_on_gpu() ? device_number() : 0; }

void require_viewable() {
  if (memory_kind() != MemoryKind::host && !is_on_gpu())
    throw InputError("this build stores arrays in memory that Python packages cannot access (back end " + back_end() +
                     "), so there are no views; read a copy, for example state['positions'] or parameters['gravity']");
}

/// Waits until kernels of a GPU have written the values that another package is about to read.
void wait_for_gpu() {
  if (!is_on_gpu()) return;
  const LibraryScope scope;
  wait_for_kernels();
}

nb::tuple tuple_of(const std::vector<std::size_t>& shape) {
  nb::list extents;
  for (const std::size_t extent : shape) extents.append(extent);
  return nb::tuple(extents);
}

/// Returns an array of the memory at `data`, for the array package `Framework`.
template <class Framework>
nb::object make_array(double* data, const std::vector<std::size_t>& shape, bool is_writable, nb::object owner) {
  static double none = 0.0;  // address of the values of an empty array
  if (!data) data = &none;
  const int device = dlpack_device_type(), number = number_of_device();
  if (is_writable)
    return nb::cast(nb::ndarray<Framework, double>(data, shape.size(), shape.data(), owner, nullptr,
                                                   nb::dtype<double>(), device, number));
  return nb::cast(nb::ndarray<Framework, const double>(data, shape.size(), shape.data(), owner, nullptr,
                                                       nb::dtype<double>(), device, number));
}

}  // namespace

// ---- SharedMemory ----

SharedMemory::~SharedMemory() {
  if (!data_) return;
  const ReleaseScope scope;
  data_.reset();
}

void SharedMemory::release() {
  is_released_ = true;
  static auto* used = new std::vector<std::shared_ptr<const double>>;  // never destroyed: arrays refer to the memory
  if (data_ && num_arrays_ > 0) used->push_back(data_);
  data_.reset();
}

nb::object SharedMemory::make_owner(const std::shared_ptr<SharedMemory>& memory) {
  auto* shared = new std::shared_ptr<SharedMemory>(memory);
  ++memory->num_arrays_;
  return nb::capsule(shared, [](void* p) noexcept {
    auto* const last = static_cast<std::shared_ptr<SharedMemory>*>(p);
    --(*last)->num_arrays_;
    delete last;
  });
}

// ---- ArrayView ----

ArrayView::ArrayView(double* data, std::shared_ptr<const double> memory, std::vector<std::size_t> shape,
                     bool is_writable)
    : data_(data),
      memory_(std::make_shared<SharedMemory>(std::move(memory))),
      shape_(std::move(shape)),
      is_writable_(is_writable) {}

ArrayView ArrayView::of(const Field& field, bool owned_only) {
  require_viewable();
  std::vector<std::size_t> shape = shape_of(field);
  if (owned_only && shape.size() > 1) shape[0] = field.owned();
  return ArrayView(const_cast<double*>(field.data()), field.shared_data(), std::move(shape), false);
}

ArrayView ArrayView::of(const Parameter& parameter) {
  require_viewable();
  const Field& field = parameter.field;
  return ArrayView(const_cast<double*>(field.data()), field.shared_data(), shape_of(parameter), false);
}

ArrayView ArrayView::to_edit(Parameter& parameter) {
  require_viewable();
  return ArrayView(parameter.field.data(), parameter.field.shared_data(), shape_of(parameter), true);
}

void ArrayView::end_edit() {
  is_writable_ = false;
  if (writable_array_.is_valid()) writable_array_.attr("setflags")(nb::arg("write") = false);
  writable_array_.reset();
}

nb::object ArrayView::to_numpy() {
  memory_->require();
  if (is_on_gpu())
    throw InputError(
        "this view refers to the memory of a GPU, which numpy cannot read; use torch.from_dlpack, "
        "jax.numpy.from_dlpack "
        "or cupy.asarray, or read a copy, for example state['positions']");
  if (writable_array_.is_valid()) return writable_array_;
  nb::object array = make_array<nb::numpy>(data_, shape_, is_writable_, SharedMemory::make_owner(memory_));
  if (is_writable_) writable_array_ = array;
  return array;
}

nb::object ArrayView::to_dlpack() const {
  memory_->require();
  wait_for_gpu();
  return make_array<nb::array_api>(data_, shape_, is_writable_, SharedMemory::make_owner(memory_));
}

nb::dict ArrayView::cuda_array_interface() const {
  memory_->require();
  if (!is_on_gpu()) throw nb::attribute_error("__cuda_array_interface__: the values are in the memory of the host");
  wait_for_gpu();
  memory_->mark_used();  // arrays of the interface refer to the view, which cannot count the arrays
  nb::dict made;
  made["shape"] = tuple_of(shape_);
  made["typestr"] = "<f8";
  made["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data_), !is_writable_);
  made["strides"] = nb::none();
  made["version"] = 3;
  return made;
}

namespace {

/// Function `__array__(dtype, copy)` of the protocol of numpy.
nb::object array(ArrayView& view, nb::handle dtype, nb::handle copy) {
  nb::object made = view.to_numpy();
  const bool is_copied = !copy.is_none() && nb::cast<bool>(copy);
  if (dtype.is_none()) return is_copied ? made.attr("copy")() : made;
  nb::object converted = made.attr("astype")(dtype, nb::arg("copy") = is_copied);
  if (!copy.is_none() && !is_copied && !converted.is(made))
    throw nb::value_error("a view of doubles cannot have another dtype without a copy");
  return converted;
}

/// Function `__dlpack__(stream, max_version, dl_device, copy)` of DLPack.
nb::object dlpack(ArrayView& view, const nb::kwargs& arguments) {
  nb::dict others;
  bool is_copied = false;
  for (const auto [key, value] : arguments) {
    if (nb::cast<std::string>(key) == "copy")
      is_copied = !value.is_none() && nb::cast<bool>(value);
    else
      others[key] = value;
  }
  const nb::object source = is_copied ? view.to_numpy().attr("copy")() : view.to_dlpack();
  return source.attr("__dlpack__")(**others);
}

const char* const doc = R"(View of the library's memory of an array of doubles, without a copy.

numpy.asarray(view) returns a numpy array on this memory, view[index] indexes this array. torch.from_dlpack,
jax.numpy.from_dlpack, numpy.from_dlpack and cupy.asarray return arrays on this memory, too; on a GPU, the memory is the
GPU's. A view is read-only, except in a block of Parameters.edit. The memory exists as long as the view and the arrays,
but later calls of the library may change the values.)";

}  // namespace

void bind_view(nb::module_& module) {
  nb::class_<ArrayView>(module, "ArrayView", doc)
      .def_prop_ro(
          "shape", [](const ArrayView& view) { return tuple_of(view.shape()); }, "Shape of the array.",
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "dtype", [](const ArrayView&) { return nb::module_::import_("numpy").attr("dtype")("float64"); },
          "Type of the values, float64.", nb::sig("def dtype(self) -> numpy.dtype"))
      .def_prop_ro(
          "readonly", [](const ArrayView& view) { return !view.is_writable(); },
          "Whether the array is read-only; False in a block of Parameters.edit.")
      .def("__array__", &array, nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
           "Return a numpy array on the memory, or a copy if `dtype` or `copy` requires a copy.",
           nb::sig("def __array__(self, dtype: object = None, copy: bool | None = None) -> numpy.ndarray"))
      .def("__dlpack__", &dlpack, "Return a DLPack capsule.",
           nb::sig("def __dlpack__(self, **arguments: object) -> object"))
      .def(
          "__dlpack_device__",
          [](const ArrayView&) { return nb::make_tuple(dlpack_device_type(), number_of_device()); },
          "Return the type and the number of the device that stores the array.",
          nb::sig("def __dlpack_device__(self) -> tuple[int, int]"))
      .def_prop_ro("__cuda_array_interface__", &ArrayView::cuda_array_interface,
                   "Description of the memory on a GPU; the attribute does not exist on the host.",
                   nb::sig("def __cuda_array_interface__(self) -> dict[str, object]"))
      .def(
          "__getitem__", [](ArrayView& view, nb::handle index) { return nb::object(view.to_numpy()[index]); },
          nb::arg("index"), "Return the entries at an index of numpy.",
          nb::sig("def __getitem__(self, index: object) -> object"))
      .def(
          "__setitem__", [](ArrayView& view, nb::handle index, nb::handle value) { view.to_numpy()[index] = value; },
          nb::arg("index"), nb::arg("value"), "Set the entries at an index of numpy, in a block of Parameters.edit.",
          nb::sig("def __setitem__(self, index: object, value: object) -> None"))
      .def("__len__",
           [](const ArrayView& view) {
             if (view.shape().empty()) throw nb::type_error("the view of a single value has no length");
             return view.shape()[0];
           })
      .def("__repr__", [](const ArrayView& view) {
        return nb::str("ArrayView(shape={}, readonly={})").format(tuple_of(view.shape()), !view.is_writable());
      });
}

}  // namespace diffsim::python
