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

#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/model.hpp"
#include "direction.hpp"
#include "loss.hpp"
#include "scene.hpp"
#include "state.hpp"

namespace diffsim::python {
namespace {

/// Python functions of a link. `tangent` and `pullback_tangent` may be None.
struct LinkFunctions {
  nb::object evaluate, pullback, tangent, pullback_tangent;
};

/// Python object of a link: names of the controls and of the parameters that the functions receive, and the functions.
struct LinkObject {
  std::vector<std::string> controls, parameters;
  LinkFunctions functions;
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
    control.field.from_host(doubles_of_shape(arrays[key], shape_of(control),
                                             "'" + control.name() + "' of the function `" + function + "`"));
  }
  if (arrays.size() != static_cast<std::size_t>(std::distance(controls.begin(), controls.end())))
    throw InputError("the function `" + function + "` of a link returns arrays that are not controls of the link");
}

/// Adds derivatives with respect to a field to `field`. `used`: number of values at the start of the field that
/// derivatives can be added to. The other values are at copies of other ranks' entities; the derivatives with respect
/// to these values must be zero. Throws InputError if they are not, or if the number of derivatives is wrong.
void add_derivatives(nb::handle object, std::size_t used, Field& field) {
  if (object.is_none()) return;
  const std::vector<double> values = doubles(object, "derivative with respect to " + field.name()).values;
  if (values.size() != field.size() && values.size() != used)
    throw InputError("the derivative with respect to " + field.name() + " has " + std::to_string(values.size()) +
                     " entries; give " + std::to_string(field.size()));
  std::vector<double> sum = field.to_host();
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (k < used)
      sum[k] += values[k];
    else if (values[k] != 0.0)
      throw InputError("a link depends on " + field.name() +
                       " at copies of other ranks' entities; use the entries of owned entities only");
  }
  field.from_host(sum);
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
      const LentState x(state, n * dt_);
      read_controls(link_.functions.evaluate(n, x.object(), arguments(parameters, parameters)), "evaluate", controls);
    });
    sum_globals(controls, comm_);
  }
  void tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
               const ParameterSet& direction, ParameterSet& control_tangents) override {
    call_on_all_ranks(comm_, [&] {
      require(link_.functions.tangent, "tangent");
      const LentState x(state, n * dt_), dx(tangent, n * dt_);
      read_controls(link_.functions.tangent(n, x.object(), arguments(parameters, parameters), dx.object(),
                                            arguments(direction, parameters)),
                    "tangent", control_tangents);
    });
    sum_globals(control_tangents, comm_);
  }
  void add_adjoint(int n, const State& state, const ParameterSet& parameters, const ParameterSet& control_adjoints,
                   State& adjoint, ParameterSet& gradient) override {
    call_on_all_ranks(comm_, [&] {
      const LentState x(state, n * dt_);
      add_pair(
          link_.functions.pullback(n, x.object(), arguments(parameters, parameters), controls_of(control_adjoints)),
          "pullback", adjoint, gradient);
    });
  }
  void add_adjoint_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                           const ParameterSet& direction, const ParameterSet& control_adjoints,
                           const ParameterSet& control_adjoint_tangents, State& adjoint_tangent,
                           ParameterSet& gradient_tangent) override {
    call_on_all_ranks(comm_, [&] {
      require(link_.functions.pullback_tangent, "pullback_tangent");
      const LentState x(state, n * dt_), dx(tangent, n * dt_);
      add_pair(link_.functions.pullback_tangent(n, x.object(), arguments(parameters, parameters), dx.object(),
                                                arguments(direction, parameters), controls_of(control_adjoints),
                                                controls_of(control_adjoint_tangents)),
               "pullback_tangent", adjoint_tangent, gradient_tangent);
    });
  }

 private:
  static void require(const nb::object& function, const char* name) {
    if (function.is_none()) throw InputError(std::string("this link has no function `") + name + "`");
  }
  /// Returns the arrays of the link's parameters in `set`: values, or changes. A parameter that `set` lacks is zero.
  /// `all`: parameters of the model, which have the shapes of the arrays.
  nb::dict arguments(const ParameterSet& set, const ParameterSet& all) const {
    NamedArrays arrays;
    for (const std::string& name : link_.parameters) {
      if (all.at(name).is_control)
        throw InputError("'" + name +
                         "' is a parameter of one link and a control of another; remove it from one of them");
      const Parameter* const found = set.find(name);
      if (found)
        arrays.add(*found);
      else
        arrays.add(Parameter{all.at(name).field.like(name)});
    }
    return arrays.to_dict();
  }
  static nb::dict controls_of(const ParameterSet& set) {
    NamedArrays arrays;
    for (const Parameter& control : set) arrays.add(control);
    return arrays.to_dict();
  }
  /// Adds the derivatives in `pair`, the result of a pullback, to the adjoint of the state and to the gradient.
  void add_pair(nb::handle pair, const std::string& function, State& adjoint, ParameterSet& gradient) const {
    const char* const form =
        "` of a link must return a pair of dicts, ({'positions': array, …}, {parameter: array, …})";
    if (!nb::isinstance<nb::tuple>(pair) || nb::len(pair) != 2) throw InputError("the function `" + function + form);
    const nb::object by_state = pair[0], by_parameters = pair[1];
    if (!nb::isinstance<nb::dict>(by_state) || !nb::isinstance<nb::dict>(by_parameters))
      throw InputError("the function `" + function + form);
    for (const auto [key, array] : nb::borrow<nb::dict>(by_state)) {
      Field& field = adjoint[nb::cast<std::string>(key)];
      add_derivatives(array, field.owned_size(), field);
    }
    for (const auto [key, array] : nb::borrow<nb::dict>(by_parameters)) {
      const auto name = nb::cast<std::string>(key);
      if (std::count(link_.parameters.begin(), link_.parameters.end(), name) == 0)
        throw InputError("the function `" + function + "` of a link returns a derivative with respect to '" + name +
                         "', which is not in the link's list of parameters");
      // The gradient contains only the parameters whose gradient is requested.
      if (Parameter* const sum = gradient.find(name))
        add_derivatives(array, sum->is_global() ? sum->field.size() : sum->field.owned_size(), sum->field);
    }
  }

  LinkObject link_;
  MPI_Comm comm_;
  double dt_;
};

void add_link(SceneHandle& handle, const LinkObject& object) {
  if (object.controls.empty()) throw InputError("a link has no controls; give the name of at least one parameter");
  const DifferentiableScene& of = handle.shared()->get();
  auto link = std::make_shared<PythonLink>(object, of.mesh()->comm(), of.dt());  // copies Python objects, with the GIL
  const LibraryScope scope;
  DifferentiableScene& scene = handle.shared()->change();
  for (const std::string& name : object.parameters)
    if (scene.parameters().at(name).is_control || std::count(object.controls.begin(), object.controls.end(), name) > 0)
      throw InputError("'" + name + "' is a control, and cannot be a parameter of a link");
  scene.add_link(std::move(link));
}

void add_parameter(SceneHandle& handle, const std::string& name, nb::handle values) {
  const ArrayOf<double> array = doubles(values, name);
  if (array.shape.size() > 1 || array.values.empty())
    throw InputError("the values of the parameter '" + name + "' must be a number or a vector");
  if (name.empty() || name == initial_positions_name || name == initial_velocities_name)
    throw InputError("a parameter cannot have the name '" + name + "'; give another name");
  const LibraryScope scope;
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
            if (!PyCallable_Check(evaluate.ptr()) || !PyCallable_Check(pullback.ptr()))
              throw InputError("evaluate and pullback of a link must be functions");
            new (self)
                LinkObject{std::move(controls),
                           std::move(parameters),
                           {std::move(evaluate), std::move(pullback), std::move(tangent), std::move(pullback_tangent)}};
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
      .def_ro("parameters", &LinkObject::parameters, "Names of the parameters that the functions receive.");
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
