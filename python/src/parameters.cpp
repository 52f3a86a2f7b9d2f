// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/parameters.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "scene.hpp"
#include "view.hpp"

namespace diffsim::python {
namespace {

const ParameterSet& parameters_of(const ParametersHandle& handle) {
  return const_cast<DifferentiableScene&>(handle.shared()->get()).parameters();
}

/// Returns the parameter `name`. Throws KeyError (Python) for an unknown name.
const Parameter& find(const ParametersHandle& handle, const std::string& name) {
  const Parameter* const found = parameters_of(handle).find(name);
  if (!found) throw nb::key_error(name.c_str());
  return *found;
}

/// Returns the parameter `name`, whose values a program may change.
const Parameter& find_for_change(const ParametersHandle& handle, const std::string& name) {
  const Parameter& found = find(handle, name);
  if (found.is_control) throw InputError("a feedback or a link computes '" + name + "', so its values cannot be given");
  return found;
}

/// Throws InputError on all ranks if a value on any rank is outside the range of the parameter. Collective.
void require_range(const Parameter& parameter, std::span<const double> values, MPI_Comm comm) {
  collectively(comm, [&] {
    if (parameter.spec.name.empty()) return;
    for (const double x : values)
      if (const std::string fault = range_error(parameter.spec, x); !fault.empty())
        throw InputError(parameter.name() + ": " + fault);
  });
}

nb::object get(const ParametersHandle& handle, const std::string& name) {
  return read_values([&]() -> const Parameter& { return find(handle, name); });
}

void set(ParametersHandle& handle, const std::string& name, nb::handle value) {
  const MPI_Comm comm = handle.shared()->get().mesh()->comm();
  const ArrayOfObject array =
      read_on_all_ranks(comm, [&] { return ArrayOfObject(value, shape_of(find_for_change(handle, name)), name); });
  const std::span<const double> values = array.values();
  const LibraryScope scope;
  require_same_on_all_ranks(comm, "name", name);
  require_range(find(handle, name), values, comm);
  ParameterSet& parameters = handle.shared()->change().parameters();
  parameters.at(name).field.from_host(values.data(), values.size());
  synchronise(parameters);
}

/// Context manager of Python in which a program writes the memory of a parameter through a view.
class ParameterEdit final : public Handle {
 public:
  ParameterEdit(std::shared_ptr<SharedScene> scene, std::string name)
      : scene_(std::move(scene)), name_(std::move(name)) {}
  ~ParameterEdit() override {
    const ReleaseScope scope;
    release();
  }
  void release() override {
    if (view_ && scene_) scene_->end_edit();
    scene_.reset();
  }

  /// Begins the block, and returns a writable view.
  std::shared_ptr<ArrayView> begin() {
    if (!scene_) throw_finalised();
    if (view_) throw InputError("this block of parameters.edit('" + name_ + "') is open; call edit again for another");
    DifferentiableScene& scene = scene_->begin_edit();
    try {
      view_ = std::make_shared<ArrayView>(ArrayView::to_edit(scene.parameters().at(name_)));
    } catch (...) {
      scene_->end_edit();
      throw;
    }
    return view_;
  }

  /// Makes the new values known to the library. Throws InputError if a value is outside the range of the parameter.
  /// Collective.
  void end() {
    if (!scene_) throw_finalised();
    if (!view_) throw InputError("this block of parameters.edit('" + name_ + "') is not open");
    const std::shared_ptr<ArrayView> view = std::move(view_);  // destroyed with the GIL
    view->end_edit();
    const double* const written = view->data();
    const LibraryScope scope;
    DifferentiableScene& changed = scene_->end_edit();
    wait_for_kernels();
    Parameter& parameter = changed.parameters().at(name_);
    if (std::as_const(parameter.field).data() != written)
      throw Error("parameter '" + name_ + "' has other memory than at the start of the block; assign the values again");
    parameter.field.data();  // changes the revision
    synchronise(changed.parameters());
    const MPI_Comm comm = changed.mesh()->comm();
    if (memory_kind() == MemoryKind::host)
      require_range(parameter, {written, parameter.field.size()}, comm);
    else
      require_range(parameter, parameter.field.to_host(), comm);
  }

 private:
  std::shared_ptr<SharedScene> scene_;
  std::string name_;
  std::shared_ptr<ArrayView> view_;  // nullptr outside of the block
};

std::vector<std::string> names(const ParametersHandle& handle) { return parameters_of(handle).names(); }

const char* const edit_doc = R"(Return a context manager whose view of the values is writable.

with parameters.edit(name) as view: numpy.asarray(view), torch.from_dlpack(view) and view[index] write the library's
memory without a copy. At the end of the block, the library registers the change, and sets the values at copies of other
ranks' entities to the values of the ranks that own these entities. An InputError at the end means that a value is
outside the range of the parameter; the written values remain, and must be corrected. The block must not use the
simulator or the scene. Write no array of the view after the block. Collective.)";

void bind_edit(nb::module_& module) {
  nb::class_<ParameterEdit>(module, "ParameterEdit", "Context manager of Parameters.edit.")
      .def("__enter__", &ParameterEdit::begin, "Return a writable view.", nb::sig("def __enter__(self) -> ArrayView"))
      .def(
          "__exit__",
          [](ParameterEdit& edit, nb::handle type, nb::handle, nb::handle) {
            try {
              edit.end();
            } catch (const Error&) {
              if (type.is_none()) throw;  // otherwise, the exception that ended the block continues
            }
            return false;
          },
          nb::arg("type").none(), nb::arg("value").none(), nb::arg("traceback").none(),
          "Register the change of the values. Collective.",
          nb::sig("def __exit__(self, type: object, value: object, traceback: object) -> bool"));
}

}  // namespace

void bind_parameters(nb::module_& module) {
  bind_edit(module);
  nb::class_<ParametersHandle>(module, "Parameters", R"(Values of all parameters of a scene, by name.

Reading a value returns a copy of the shape [steps, entities, components]. The axis of steps exists if the parameter has
values for each step, the axis of entities (this rank's cells or vertices) unless there is one value for the whole
model, and the axis of components if there are several components. Assignment broadcasts the given values to this shape,
is collective, and has an effect from the next step or rollout on.)")
      .def("__getitem__", &get, nb::arg("name"), "Return a copy of the values.",
           nb::sig("def __getitem__(self, name: str) -> numpy.ndarray"))
      .def("__setitem__", &set, nb::arg("name"), nb::arg("value"), "Set the values. Collective.",
           nb::sig("def __setitem__(self, name: str, value: object) -> None"))
      .def(
          "view",
          [](const ParametersHandle& handle, const std::string& name) {
            return view_of([&]() -> const Parameter& { return find(handle, name); });
          },
          nb::arg("name"), "Return a view of the library's memory of the values.",
          nb::sig("def view(self, name: str) -> ArrayView"))
      .def(
          "edit",
          [](const ParametersHandle& handle, const std::string& name) {
            return new ParameterEdit(handle.shared(), find_for_change(handle, name).name());
          },
          nb::rv_policy::take_ownership, nb::keep_alive<0, 1>(), nb::arg("name"), edit_doc,
          nb::sig("def edit(self, name: str) -> ParameterEdit"))
      .def("__contains__", [](const ParametersHandle& handle,
                              const std::string& name) { return parameters_of(handle).find(name) != nullptr; })
      .def("__len__", [](const ParametersHandle& handle) { return names(handle).size(); })
      .def("__iter__", [](const ParametersHandle& handle) { return nb::iter(nb::cast(names(handle))); })
      .def("keys", &names, "Return the names of the parameters.")
      .def(
          "unit",
          [](const ParametersHandle& handle, const std::string& name) {
            return std::string(parameters_of(handle).at(name).spec.unit);
          },
          nb::arg("name"), "Return the SI unit of a parameter; 1 if it is dimensionless.")
      .def("__repr__", [](const ParametersHandle& handle) { return nb::str("Parameters({})").format(names(handle)); });
}

}  // namespace diffsim::python
