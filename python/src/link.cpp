// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python class of links, and the functions of scenes that add a link and a parameter of a link.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/model.hpp"
#include "direction.hpp"
#include "loss.hpp"
#include "scene.hpp"
#include "state_functions.hpp"

namespace diffsim::python {
namespace {

/// Python object of a link: names of the controls, and the functions with the names of the parameters that the
/// functions receive.
struct LinkObject {
  std::vector<std::string> controls;
  StateFunctions functions;
};

/// Sets `controls` to the arrays that a function of a link returned. Throws InputError if `result` is not a dict of all
/// controls, or if an array cannot be broadcast to the shape of the control.
void read_controls(nb::handle result, const std::string& function, ParameterSet& controls) {
  if (!nb::isinstance<nb::dict>(result))
    throw InputError("the function `" + function + "` of a link must return a dict from controls to arrays");
  const nb::dict arrays = nb::borrow<nb::dict>(result);
  for (Parameter& control : controls) {
    const nb::str key(control.name().c_str());
    if (!arrays.contains(key))
      throw InputError("the function `" + function + "` of a link returns no '" + control.name() + "'");
    const ArrayOfObject array(arrays[key], shape_of(control),
                              "'" + control.name() + "' of the function `" + function + "`");
    control.field.from_host(array.values().data(), array.values().size());
  }
  if (arrays.size() != static_cast<std::size_t>(std::distance(controls.begin(), controls.end())))
    throw InputError("the function `" + function + "` of a link returns arrays that are not controls of the link");
}

/// Link whose functions are Python functions. All ranks of `comm` call the functions together.
class PythonLink final : public Link {
 public:
  PythonLink(LinkObject link, MPI_Comm comm, double dt) : link_(std::move(link)), comm_(comm), dt_(dt) {}
  ~PythonLink() override {
    const nb::gil_scoped_acquire with_gil;
    link_.functions = {};
  }

  std::vector<std::string> controls() const override { return link_.controls; }
  void evaluate(int n, const State& state, const ParameterSet& parameters, ParameterSet& controls) override {
    call_on_all_ranks(comm_, [&] {
      check_signals();
      read_controls(link_.functions.evaluate(at(n, state, parameters)), "evaluate", controls);
    });
    sum_globals(controls, comm_);
  }
  void tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
               const ParameterSet& direction, ParameterSet& control_tangents) override {
    call_on_all_ranks(comm_, [&] {
      read_controls(link_.functions.tangent(at(n, state, parameters), {tangent, direction}), "tangent",
                    control_tangents);
    });
    sum_globals(control_tangents, comm_);
  }
  void add_adjoint(int n, const State& state, const ParameterSet& parameters, const ParameterSet& control_adjoints,
                   State& adjoint, ParameterSet& gradient) override {
    call_on_all_ranks(comm_, [&] {
      link_.functions.add_pullback(at(n, state, parameters), controls_of(control_adjoints), adjoint, gradient);
    });
  }
  void add_adjoint_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                           const ParameterSet& direction, const ParameterSet& control_adjoints,
                           const ParameterSet& control_adjoint_tangents, State& adjoint_tangent,
                           ParameterSet& gradient_tangent) override {
    call_on_all_ranks(comm_, [&] {
      link_.functions.add_pullback_tangent(at(n, state, parameters), {tangent, direction},
                                           controls_of(control_adjoints), controls_of(control_adjoint_tangents),
                                           adjoint_tangent, gradient_tangent);
    });
  }

 private:
  Moment at(int n, const State& state, const ParameterSet& parameters) const { return {n, n * dt_, state, parameters}; }
  static nb::dict controls_of(const ParameterSet& set) {
    NamedArrays arrays;
    for (const Parameter& control : set) arrays.add(control);
    return arrays.to_dict();
  }

  LinkObject link_;
  MPI_Comm comm_;
  double dt_;
};

void add_link(SceneHandle& handle, const LinkObject& object) {
  const DifferentiableScene& of = handle.shared()->get();
  auto link = std::make_shared<PythonLink>(object, of.mesh()->comm(), of.dt());  // copies Python objects, with the GIL
  const LibraryScope scope;
  require_same_on_all_ranks(of.mesh()->comm(), "controls and parameters of the link", object.controls,
                            object.functions.parameters());
  if (object.controls.empty()) throw InputError("a link has no controls; give the name of at least one parameter");
  DifferentiableScene& scene = handle.shared()->change();
  for (const std::string& name : object.functions.parameters())
    if (scene.parameters().at(name).is_control || std::count(object.controls.begin(), object.controls.end(), name) > 0)
      throw InputError("'" + name + "' is a control, and cannot be a parameter of a link");
  scene.add_link(std::move(link));
  handle.shared()->record().refuse("the link that computes '" + object.controls.front() + "'");
}

void add_parameter(SceneHandle& handle, const std::string& name, nb::handle values) {
  const MPI_Comm comm = handle.shared()->get().mesh()->comm();
  const ArrayOf<double> array = read_on_all_ranks(comm, [&] {
    ArrayOf<double> read = doubles(values, name);
    if (read.shape.size() > 1 || read.values.empty())
      throw InputError("the values of the parameter '" + name + "' must be a number or a vector");
    return read;
  });
  const LibraryScope scope;
  require_same_on_all_ranks(comm, "name, values", name, array.values);
  if (name.empty() || name == initial_positions_name || name == initial_velocities_name)
    throw InputError("a parameter cannot have the name '" + name + "'; give another name");
  DifferentiableScene& scene = handle.shared()->change();
  if (scene.parameters().find(name))
    throw InputError("the scene already has a parameter '" + name + "'; give another name");
  scene.parameters()
      .add(name, Entities::one_for_all(scene.mesh()->comm()), static_cast<int>(array.values.size()))
      .field.from_host(array.values);
}

void bind_class_of_links(nb::module_& module) {
  nb::class_<LinkObject>(module, "Link",
                         "Function u[n] = π(n, x[n], p) that computes controls of a scene before step n.")
      .def(
          "__init__",
          [](LinkObject* self, std::vector<std::string> controls, nb::object evaluate, nb::object pullback,
             nb::object tangent, nb::object pullback_tangent, std::vector<std::string> parameters) {
            new (self)
                LinkObject{std::move(controls),
                           {"link",
                            {std::move(evaluate), std::move(pullback), std::move(tangent), std::move(pullback_tangent)},
                            std::move(parameters)}};
          },
          nb::arg("controls"), nb::arg("evaluate"), nb::arg("pullback"), nb::arg("tangent") = nb::none(),
          nb::arg("pullback_tangent") = nb::none(), nb::arg("parameters") = std::vector<std::string>{},
          R"(Create a link from Python functions of numpy arrays.

controls: names of the parameters that the link computes, such as "nodal_load" or "gravity". parameters: names of the
parameters p that the functions receive as a dict of arrays. evaluate(n, state, p) returns u, a dict from controls to
arrays, which are broadcast to the shapes of the controls. pullback(n, state, p, w) returns the pair (∂π/∂x)ᵀ w, a dict
from fields such as positions and velocities to arrays, and (∂π/∂p)ᵀ w, a dict from parameters to arrays. A derivative
that is missing in one of the two dicts is zero. tangent(n, state, p, dstate, dp) returns the derivative of u along dstate and dp; Hessian
products and tangents of rollouts need tangent. pullback_tangent(n, state, p, dstate, dp, w, dw) returns the derivatives
of the results of pullback along dstate, dp and dw; Hessian products need pullback_tangent. States are valid only during
a call.

On several ranks, the arrays that a rank returns may depend only on vertices that the rank owns. A control with one value
for the whole model is the sum of the values that the ranks return, so only one rank may return a part that does not
depend on the vertices.)")
      .def_ro("controls", &LinkObject::controls, "Names of the parameters that the link computes.")
      .def_prop_ro(
          "parameters", [](const LinkObject& link) { return link.functions.parameters(); },
          "Names of the parameters that the functions receive.");
}

}  // namespace

void bind_link(nb::module_& module, nb::class_<SceneHandle>& scene) {
  bind_class_of_links(module);
  scene
      .def("add_link", &add_link, nb::arg("link"),
           R"(Add a link, which computes some parameters of the scene, the controls, before each step.

Call this function before a simulator or a problem uses the scene, and after the controls and the parameters of the link
have been added.)")
      .def("add_parameter", &add_parameter, nb::arg("name"), nb::arg("values"),
           R"(Add a parameter of a link or of a force term, with one value for the whole model.

values: a number or a vector; the same on all ranks.)",
           nb::sig("def add_parameter(self, name: str, values: object) -> None"));
}

}  // namespace diffsim::python
