// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Python class of policies, and the function that adds a feedback to a scene.

#include "diffsim/sensor/feedback.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "all_ranks.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "loss.hpp"
#include "sensor.hpp"

namespace diffsim::python {
namespace {

/// Python functions of a policy. `tangent` and `pullback_tangent` may be None.
struct PolicyFunctions {
  nb::object evaluate, pullback, tangent, pullback_tangent;
};

nb::object array_of(std::span<const double> values) {
  return to_numpy(std::vector<double>(values.begin(), values.end()), {values.size()});
}

std::vector<double> read_array(nb::handle object, std::size_t size, const char* what) {
  ArrayOf<double> array = doubles(object, what);
  if (array.values.size() != size)
    throw InputError(std::string(what) + " of a policy has " + std::to_string(array.values.size()) + " values, not " +
                     std::to_string(size));
  return std::move(array.values);
}

/// Policy whose functions are Python functions. All ranks of `comm` call the functions together.
class PythonPolicy final : public Policy {
 public:
  PythonPolicy(std::size_t inputs, std::size_t outputs, std::vector<double> weights, PolicyFunctions functions,
               MPI_Comm comm)
      : inputs_(inputs),
        outputs_(outputs),
        weights_(std::move(weights)),
        functions_(std::move(functions)),
        comm_(comm) {}
  ~PythonPolicy() override {
    const nb::gil_scoped_acquire with_gil;
    functions_ = {};
  }

  std::size_t num_inputs() const override { return inputs_; }
  std::size_t num_outputs() const override { return outputs_; }
  std::size_t num_weights() const override { return weights_.size(); }
  std::vector<double> initial_weights() const override { return weights_; }

  std::vector<double> evaluate(Values y, Values theta) const override {
    std::vector<double> u;
    call_on_all_ranks(comm_, [&] {
      check_signals();
      u = read_array(functions_.evaluate(array_of(y), array_of(theta)), outputs_, "the output");
    });
    return u;
  }
  std::vector<double> tangent(Values y, Values theta, Values dy, Values dtheta) const override {
    std::vector<double> du;
    call_on_all_ranks(comm_, [&] {
      require(functions_.tangent, "tangent");
      du = read_array(functions_.tangent(array_of(y), array_of(theta), array_of(dy), array_of(dtheta)), outputs_,
                      "the tangent");
    });
    return du;
  }
  void add_adjoint(Values y, Values theta, Values w, std::span<double> y_adjoint,
                   std::span<double> theta_adjoint) const override {
    call_on_all_ranks(comm_, [&] {
      add_pair(functions_.pullback(array_of(y), array_of(theta), array_of(w)), y_adjoint, theta_adjoint);
    });
  }
  void add_adjoint_tangent(Values y, Values theta, Values dy, Values dtheta, Values w, Values dw,
                           std::span<double> y_adjoint_tangent,
                           std::span<double> theta_adjoint_tangent) const override {
    call_on_all_ranks(comm_, [&] {
      require(functions_.pullback_tangent, "pullback_tangent");
      add_pair(functions_.pullback_tangent(array_of(y), array_of(theta), array_of(dy), array_of(dtheta), array_of(w),
                                           array_of(dw)),
               y_adjoint_tangent, theta_adjoint_tangent);
    });
  }

 private:
  static void require(const nb::object& function, const char* name) {
    if (function.is_none())
      throw InputError(std::string("this policy has no function `") + name +
                       "`; create the Policy with the argument `" + name + "`");
  }
  void add_pair(nb::handle pair, std::span<double> by_y, std::span<double> by_theta) const {
    if (!nb::isinstance<nb::sequence>(pair) || nb::len(pair) != 2)
      throw InputError("the pullback of a policy must return (derivative by y, derivative by theta)");
    const std::vector<double> first = read_array(pair[0], inputs_, "the derivative by y"),
                              second = read_array(pair[1], weights_.size(), "the derivative by theta");
    for (std::size_t i = 0; i < first.size(); ++i) by_y[i] += first[i];
    for (std::size_t i = 0; i < second.size(); ++i) by_theta[i] += second[i];
  }

  std::size_t inputs_, outputs_;
  std::vector<double> weights_;
  mutable PolicyFunctions functions_;
  MPI_Comm comm_;
};

/// Python object of a policy: a policy of the library, or Python functions.
struct PolicyObject {
  std::shared_ptr<const Policy> of_library;  // nullptr for Python functions
  std::size_t inputs = 0, outputs = 0;
  std::vector<double> weights;
  PolicyFunctions functions;

  std::shared_ptr<const Policy> on(MPI_Comm comm) const {
    if (of_library) return of_library;
    return std::make_shared<PythonPolicy>(inputs, outputs, weights, functions, comm);
  }
};

void bind_policy(nb::module_& module) {
  nb::class_<PolicyObject>(module, "Policy", "Function u = π(y; θ) of inputs y with weights θ, for feedbacks.")
      .def(
          "__init__",
          [](PolicyObject* self, std::size_t num_inputs, std::size_t num_outputs, nb::handle weights,
             nb::object evaluate, nb::object pullback, nb::object tangent, nb::object pullback_tangent) {
            new (self) PolicyObject{
                nullptr,
                num_inputs,
                num_outputs,
                doubles(weights, "weights").values,
                {std::move(evaluate), std::move(pullback), std::move(tangent), std::move(pullback_tangent)}};
          },
          nb::arg("num_inputs"), nb::arg("num_outputs"), nb::arg("weights"), nb::kw_only(), nb::arg("evaluate"),
          nb::arg("pullback"), nb::arg("tangent") = nb::none(), nb::arg("pullback_tangent") = nb::none(),
          R"(Create a policy from Python functions of numpy arrays.

weights: initial weights θ, [weights]. evaluate(y, theta) returns u, [num_outputs]. pullback(y, theta, w) returns the
pair (∂π/∂y)ᵀ w, (∂π/∂θ)ᵀ w. tangent(y, theta, dy, dtheta) returns the derivative of u along dy and dθ; Hessian products
and tangents of rollouts need tangent. pullback_tangent(y, theta, dy, dtheta, w, dw) returns the derivatives of the
results of pullback along dy, dθ and dw; Hessian products need pullback_tangent. The functions are called before each
step, with the same arguments on all ranks.)")
      .def_prop_ro(
          "num_weights",
          [](const PolicyObject& self) {
            return self.of_library ? self.of_library->num_weights() : self.weights.size();
          },
          "Number of weights.")
      .def_prop_ro(
          "initial_weights",
          [](const PolicyObject& self) {
            return array_of(self.of_library ? self.of_library->initial_weights() : self.weights);
          },
          "Weights from which an optimisation can start, [weights].",
          nb::sig("def initial_weights(self) -> numpy.ndarray"))
      .def(
          "evaluate",
          [](const PolicyObject& self, nb::handle y, nb::handle theta) {
            if (!self.of_library) return nb::object(self.functions.evaluate(y, theta));
            const Policy& policy = *self.of_library;
            return array_of(policy.evaluate(read_array(y, policy.num_inputs(), "the input"),
                                            read_array(theta, policy.num_weights(), "the vector of weights")));
          },
          nb::arg("y"), nb::arg("theta"), "Return the outputs u, [outputs].",
          nb::sig("def evaluate(self, y: object, theta: object) -> numpy.ndarray"));
  module.def(
      "perceptron",
      [](std::size_t num_inputs, std::size_t num_outputs, const std::vector<std::size_t>& hidden, nb::handle limits,
         std::uint64_t seed) {
        PerceptronOptions options{.hidden = hidden, .seed = seed};
        if (!limits.is_none()) options.limits = doubles(limits, "limits").values;
        return PolicyObject{make_perceptron(num_inputs, num_outputs, options), 0, 0, {}, {}};
      },
      nb::arg("num_inputs"), nb::arg("num_outputs"), nb::arg("hidden") = std::vector<std::size_t>{},
      nb::arg("limits") = nb::none(), nb::arg("seed") = 0,
      R"(Return a Policy: a fully connected network with tanh in its hidden layers.

hidden: numbers of neurons of the hidden layers; empty for a linear controller. limits: bounds of the outputs,
[num_outputs]; None for no bounds. seed: seed of the random initial weights.)");
}

}  // namespace

void bind_feedback(nb::module_& module, nb::class_<SceneHandle>& scene) {
  bind_policy(module);
  scene.def(
      "add_feedback",
      [](SceneHandle& handle, const std::string& name, const std::vector<SensorHandle*>& sensors,
         const std::vector<std::string>& controls, const PolicyObject& policy, nb::handle offsets, nb::handle scales,
         nb::handle frequencies) {
        const auto numbers = [](nb::handle object, const char* what) {
          return object.is_none() ? std::vector<double>{} : doubles(object, what).values;
        };
        const MPI_Comm comm = handle.shared()->get().mesh()->comm();
        const Feedback feedback = read_on_all_ranks(comm, [&] {
          Feedback read{.name = name,
                        .offsets = numbers(offsets, "offsets"),
                        .scales = numbers(scales, "scales"),
                        .frequencies = numbers(frequencies, "frequencies"),
                        .controls = controls};
          for (const SensorHandle* const sensor : sensors) {
            if (!sensor || sensor->scene() != handle.shared())
              throw InputError("feedback '" + name + "' has a sensor of another scene");
            read.sensors.push_back(sensor->shared());
          }
          read.policy = policy.on(comm);
          return read;
        });
        const LibraryScope scope;
        require_same_on_all_ranks(comm, "name, number of sensors, controls, offsets, scales, frequencies", name,
                                  sensors.size(), controls, feedback.offsets, feedback.scales, feedback.frequencies);
        handle.shared()->change().add_feedback(feedback);
        handle.shared()->record().refuse("the feedback '" + name + "'");
      },
      nb::arg("name"), nb::arg("sensors"), nb::arg("controls"), nb::arg("policy"), nb::kw_only(),
      nb::arg("offsets") = nb::none(), nb::arg("scales") = nb::none(), nb::arg("frequencies") = nb::none(),
      R"(Add a feedback: before each step n, a policy computes the values of some parameters from sensors.

The inputs of the policy are (y - offset) / scale for each component y of each sensor at the state x[n], then
sin(2π f t) and cos(2π f t) for each f (Hz) in frequencies. controls: names of the parameters whose values are the
outputs, such as "gravity" or "joint_torque:NAME". Adds the parameter policy:NAME of the weights. Call this function
before a simulator or a problem uses the scene.)",
      nb::sig("def add_feedback(self, name: str, sensors: Sequence[Sensor], controls: Sequence[str], policy: Policy, "
              "*, offsets: object | None = None, scales: object | None = None, frequencies: object | None = None) "
              "-> None"));
}

}  // namespace diffsim::python
