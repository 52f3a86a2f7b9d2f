// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python class of the functions of a sensor, and the function of scenes that makes a sensor of Python functions.

#include <mpi.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "loss.hpp"
#include "sensor.hpp"
#include "state_functions.hpp"

namespace diffsim::python {
namespace {

using Numbers = std::vector<double>;

/// Function y = g(s) of the sums s over all ranks, with the derivatives of g. Without functions, g(s) = s.
struct CombineFunctions {
  nb::object evaluate, jacobian, hessian;  // None without the function

  bool is_identity() const { return evaluate.is_none(); }
};

/// Python object of the functions of a sensor.
struct SensorFunctions {
  std::vector<std::string> components;
  StateFunctions sums;
  CombineFunctions combine;
  std::string name, unit;
};

/// Returns the values that a function of a sensor returned. Throws InputError if the function returned None.
Numbers read_result(nb::handle result, const std::string& function) {
  const std::string what = "the result of the function `" + function + "` of a sensor";
  if (result.is_none()) throw InputError(what + " is None; return a number or an array");
  return doubles(result, what).values;
}

/// Overload of `read_result` that throws InputError unless the function returned `size` values, of any shape.
Numbers read_result(nb::handle result, const std::string& function, std::size_t size) {
  Numbers values = read_result(result, function);
  if (values.size() != size)
    throw InputError("the result of the function `" + function + "` of a sensor has " + std::to_string(values.size()) +
                     " values; give " + std::to_string(size));
  return values;
}

/// Returns the scalar product of the derivatives `gradient` on this rank and of changes of parameters. Parameters that
/// `direction` lacks do not change.
double dot_on_rank(const ParameterSet& gradient, const ParameterSet& direction) {
  double sum = 0.0;
  for (const Parameter& parameter : gradient) {
    const Parameter* const change = direction.find(parameter.name());
    if (!change) continue;
    const Numbers g = parameter.field.to_host(), d = change->field.to_host();
    const std::size_t used = parameter.is_global() ? parameter.field.size() : parameter.field.owned_size();
    for (std::size_t i = 0; i < used; ++i) sum += g[i] * d[i];
  }
  return sum;
}

/// Sensor y = g(s) of the sum s of the results of a Python function over all ranks. All ranks call the functions
/// together.
class PythonSensor final : public Sensor {
 public:
  PythonSensor(SensorFunctions of, DifferentiableScene& scene) : of_(std::move(of)), scene_(scene) {}
  ~PythonSensor() override {
    const nb::gil_scoped_acquire with_gil;
    of_ = {};
  }

  std::string name() const override { return of_.name; }
  std::string unit() const override { return of_.unit; }
  std::vector<std::string> components() const override { return of_.components; }
  MPI_Comm comm() const override { return scene_.mesh()->comm(); }

  Numbers value(int n, const State& state) override {
    Numbers y = sums(at(n, state));
    if (!of_.combine.is_identity())
      call_on_all_ranks(comm(), [&] { y = read_result(of_.combine.evaluate(array_of(y)), "combine", size()); });
    return y;
  }
  Numbers tangent(int n, const State& state, const State& tangent, const ParameterSet& direction) override {
    const Moment moment = at(n, state);
    const Numbers s = sums_of_pullbacks(moment), ds = sum_tangents(moment, s.size(), {tangent, direction});
    if (of_.combine.is_identity()) return ds;
    const Numbers J = jacobian(s);
    Numbers dy(size(), 0.0);
    for (std::size_t i = 0; i < dy.size(); ++i)
      for (std::size_t j = 0; j < ds.size(); ++j) dy[i] += J[i * ds.size() + j] * ds[j];
    return dy;
  }
  void add_adjoint(int n, const State& state, const Numbers& w, State& adjoint, ParameterSet& gradient) override {
    const Moment moment = at(n, state);
    const Numbers by_sums = transposed_product(sums_of_pullbacks(moment), w);
    call_on_all_ranks(comm(), [&] { of_.sums.add_pullback(moment, array_of(by_sums), adjoint, gradient); });
  }
  void add_adjoint_tangent(int n, const State& state, const State& tangent, const ParameterSet& direction,
                           const Numbers& w, const Numbers& dw, State& adjoint_tangent,
                           ParameterSet& gradient_tangent) override {
    const Moment moment = at(n, state);
    const Change change{tangent, direction};
    const Numbers s = sums_of_pullbacks(moment), by_sums = transposed_product(s, w);
    Numbers by_sums_tangent = transposed_product(s, dw);
    if (!of_.combine.is_identity()) {
      const Numbers ds = sum_tangents(moment, s.size(), change), H = hessian(s);
      const std::size_t k = s.size();
      for (std::size_t i = 0; i < w.size(); ++i)
        for (std::size_t j = 0; j < k; ++j)
          for (std::size_t l = 0; l < k; ++l) by_sums_tangent[j] += w[i] * H[(i * k + j) * k + l] * ds[l];
    }
    call_on_all_ranks(comm(), [&] {
      of_.sums.add_pullback_tangent(moment, change, array_of(by_sums), array_of(by_sums_tangent), adjoint_tangent,
                                    gradient_tangent);
    });
  }

 private:
  static nb::object array_of(const Numbers& values) { return to_numpy(values, {values.size()}); }
  std::size_t size() const { return of_.components.size(); }
  Moment at(int n, const State& state) const { return {n, n * scene_.dt(), state, scene_.parameters()}; }

  /// Returns the sums s.
  Numbers sums(const Moment& at) const {
    Numbers s;
    call_on_all_ranks(comm(), [&] {
      check_signals();
      const nb::object result = of_.sums.evaluate(at);
      s = of_.combine.is_identity() ? read_result(result, "evaluate", size()) : read_result(result, "evaluate");
    });
    require_same_size(s);
    return summed(std::move(s));
  }
  /// Returns the sums s if g needs s, else zeros.
  Numbers sums_of_pullbacks(const Moment& at) const {
    return of_.combine.is_identity() ? Numbers(size(), 0.0) : sums(at);
  }
  void require_same_size(const Numbers& s) const {
    const auto count = static_cast<long>(s.size());
    std::array<long, 2> extremes{count, -count};
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_LONG, MPI_MAX, comm()));
    if (extremes[0] != -extremes[1])
      throw InputError("the function `evaluate` of a sensor returns " + std::to_string(-extremes[1]) +
                       " values on one rank and " + std::to_string(extremes[0]) +
                       " on another; return the same number of values on all ranks");
  }
  /// Returns the sum of the values over all ranks. Collective.
  Numbers summed(Numbers values) const {
    DIFFSIM_MPI(
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, comm()));
    return values;
  }
  /// Returns the derivatives ds of the `count` sums s. Without the function `tangent`, the rows of the Jacobian are
  /// computed by `pullback`.
  Numbers sum_tangents(const Moment& at, std::size_t count, const Change& change) const {
    Numbers ds(count, 0.0);
    State adjoint = at.state.zero_like();
    ParameterSet gradient = at.parameters.zero_like(of_.sums.parameters());
    call_on_all_ranks(comm(), [&] {
      if (of_.sums.has_tangent()) {
        ds = read_result(of_.sums.tangent(at, change), "tangent", count);
        return;
      }
      for (std::size_t i = 0; i < count; ++i) {
        Numbers unit(count, 0.0);
        unit[i] = 1.0;
        adjoint.fill(0.0);
        gradient.fill(0.0);
        of_.sums.add_pullback(at, array_of(unit), adjoint, gradient);
        ds[i] = local_dot(adjoint, change.state) + dot_on_rank(gradient, change.parameters);
      }
    });
    return summed(std::move(ds));
  }
  /// Returns the Jacobian ∂g/∂s, [components, sums].
  Numbers jacobian(const Numbers& s) const {
    return derivatives(of_.combine.jacobian, "combine_jacobian", s, size() * s.size());
  }
  /// Returns the second derivatives of g, [components, sums, sums].
  Numbers hessian(const Numbers& s) const {
    return derivatives(of_.combine.hessian, "combine_hessian", s, size() * s.size() * s.size());
  }
  Numbers derivatives(const nb::object& function, const char* name, const Numbers& s, std::size_t count) const {
    Numbers result;
    call_on_all_ranks(comm(), [&] {
      if (function.is_none())
        throw InputError(std::string("this sensor has no function `") + name +
                         "`; create the sensor with the argument `" + name + "`");
      result = read_result(function(array_of(s)), name, count);
    });
    return result;
  }
  /// Returns (∂g/∂s)ᵀ w.
  Numbers transposed_product(const Numbers& s, const Numbers& w) const {
    if (of_.combine.is_identity()) return w;
    const Numbers J = jacobian(s);
    Numbers product(s.size(), 0.0);
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t j = 0; j < s.size(); ++j) product[j] += J[i * s.size() + j] * w[i];
    return product;
  }

  SensorFunctions of_;
  DifferentiableScene& scene_;
};

SensorFunctions make_functions(std::vector<std::string> components, StateFunctions sums, CombineFunctions combine,
                               std::string name, std::string unit) {
  if (components.empty()) throw InputError("a sensor has no components; give the name of at least one component");
  for (const nb::object& function : {combine.evaluate, combine.jacobian, combine.hessian})
    if (!function.is_none() && !PyCallable_Check(function.ptr()))
      throw InputError("combine, combine_jacobian and combine_hessian of a sensor must be functions or None");
  if (combine.is_identity() != combine.jacobian.is_none())
    throw InputError("a sensor needs both combine and combine_jacobian, or none of them");
  return {std::move(components), std::move(sums), std::move(combine), std::move(name), std::move(unit)};
}

SensorHandle* sensor_of(SceneHandle& handle, const SensorFunctions& functions) {
  DifferentiableScene& scene = handle.shared()->use();
  auto sensor = std::make_shared<PythonSensor>(functions, scene);  // copies Python objects, with the GIL
  {
    const LibraryScope scope;
    for (const std::string& name : functions.sums.parameters())
      if (scene.parameters().at(name).is_control)
        throw InputError("'" + name + "' is a control, and cannot be a parameter of a sensor");
  }
  return new SensorHandle(std::move(sensor), handle.shared());
}

void bind_class_of_functions(nb::module_& module) {
  nb::class_<SensorFunctions>(module, "SensorFunctions",
                              "Functions of a measured quantity y(n, x[n], p), for DifferentiableScene.sensor.")
      .def(
          "__init__",
          [](SensorFunctions* self, std::vector<std::string> components, nb::object evaluate, nb::object pullback,
             nb::object tangent, nb::object pullback_tangent, std::vector<std::string> parameters, nb::object combine,
             nb::object combine_jacobian, nb::object combine_hessian, std::string name, std::string unit) {
            StateFunctions sums(
                "sensor", {std::move(evaluate), std::move(pullback), std::move(tangent), std::move(pullback_tangent)},
                std::move(parameters));
            new (self) SensorFunctions(
                make_functions(std::move(components), std::move(sums),
                               {std::move(combine), std::move(combine_jacobian), std::move(combine_hessian)},
                               std::move(name), std::move(unit)));
          },
          nb::arg("components"), nb::arg("evaluate"), nb::arg("pullback"), nb::arg("tangent") = nb::none(),
          nb::arg("pullback_tangent") = nb::none(), nb::arg("parameters") = std::vector<std::string>{}, nb::kw_only(),
          nb::arg("combine") = nb::none(), nb::arg("combine_jacobian") = nb::none(),
          nb::arg("combine_hessian") = nb::none(), nb::arg("name") = "python", nb::arg("unit") = "1",
          R"(Create the functions of a sensor from Python functions of numpy arrays.

components: names of the components of y. parameters: names of the parameters p that the functions receive as a dict of
arrays. evaluate(n, state, p) returns y, [components]. pullback(n, state, p, w) returns the pair (∂y/∂x)ᵀ w, a dict from
fields such as positions and velocities to arrays, and (∂y/∂p)ᵀ w, a dict from parameters to arrays. A derivative that is
missing in one of the two dicts is zero. tangent(n, state, p, dstate, dp) returns the derivative of y along dstate and
dp; without tangent, this derivative takes one call of pullback per component. pullback_tangent(n, state, p, dstate, dp,
w, dw) returns the derivatives of the results of pullback along dstate, dp and dw; Hessian products need
pullback_tangent, but Gauss–Newton products do not. States are valid only during a call.

On several ranks, evaluate returns the contribution of the vertices that the rank owns, and y is the sum over the ranks,
so only one rank may return a part that does not depend on the vertices.

combine(s), if given, returns y = g(s), [components], from the sum s over the ranks of the results of evaluate, for
example the ratio of two sums. w and dw then belong to s. combine_jacobian(s) returns ∂g/∂s, [components, sums].
combine_hessian(s) returns the second derivatives, [components, sums, sums], which Hessian products need. The three
functions must give the same results on all ranks. name, unit: for messages.)")
      .def_ro("components", &SensorFunctions::components, "Names of the components.")
      .def_prop_ro(
          "parameters", [](const SensorFunctions& of) { return of.sums.parameters(); },
          "Names of the parameters that the functions receive.")
      .def_ro("name", &SensorFunctions::name, "Name of the measured quantity, for messages.")
      .def_ro("unit", &SensorFunctions::unit, "Unit of the values.");
}

}  // namespace

void bind_sensor_functions(nb::module_& module, nb::class_<SceneHandle>& scene) {
  bind_class_of_functions(module);
  scene.def("sensor", &sensor_of, nb::arg("functions"),
            R"(Return a sensor of Python functions. Collective.

Add the parameters of the functions to the scene first.)",
            nb::sig("def sensor(self, functions: SensorFunctions) -> Sensor"));
}

}  // namespace diffsim::python
