// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "loss.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <exception>

#include "arrays.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "state.hpp"

namespace diffsim::python {

void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

const std::shared_ptr<Loss>& LossHandle::shared() const {
  if (is_given_) throw InputError("this loss is part of a sum; use the sum, or create another loss");
  if (!loss_) throw_finalised();
  return loss_;
}

const std::shared_ptr<Loss>& LossHandle::for_sum() const {
  if (shared().use_count() > 1)
    throw InputError("this loss is used by a problem or belongs to a scene file; create another one for the sum");
  return loss_;
}

void LossHandle::give_to(LossHandle& sum) {
  is_given_ = true;
  if (!sum.subject_.mesh) sum.subject_.mesh = subject_.mesh;
  if (!sum.subject_.scene) sum.subject_.scene = subject_.scene;
}

void LossHandle::Subject::require_same(const Subject& other) const {
  if (mesh && other.mesh && mesh != other.mesh) throw InputError("this loss is for another mesh");
  if (scene && other.scene && scene != other.scene) throw InputError("this loss is for another scene");
}

std::shared_ptr<Loss> loss_of(nb::object object, const DifferentiableScene& scene, bool values_only) {
  const TetrahedralMesh* const mesh = scene.mesh().get();
  LossHandle* known = nullptr;
  if (nb::try_cast(object, known) && known) {
    known->subject().require_same({mesh, &scene});
    return known->shared();
  }
  if (!PyCallable_Check(object.ptr())) throw InputError("a loss must be a function loss(n, state)");
  return std::make_shared<PythonLoss>(std::move(object), mesh->comm(), scene.dt(), values_only);
}

PythonLoss::PythonLoss(nb::object function, MPI_Comm comm, double dt, bool values_only)
    : function_(std::move(function)), comm_(comm), dt_(dt), values_only_(values_only) {}

PythonLoss::~PythonLoss() {
  const nb::gil_scoped_acquire with_gil;
  function_.reset();
}

double PythonLoss::value(int n, const State& state, const ParameterSet& /*parameters*/) {
  evaluate(n, state);
  return value_;
}

double PythonLoss::tangent(int n, const State& state, const ParameterSet& /*parameters*/, const State& tangent,
                           const ParameterSet& /*direction*/) {
  State gradient = state.zero_like();
  ParameterSet none;
  add_gradient(n, state, none, gradient, none);
  return local_dot(gradient, tangent);
}

void PythonLoss::add_gradient(int n, const State& state, const ParameterSet& /*parameters*/, State& adjoint,
                              ParameterSet& /*gradient*/) {
  if (step_ != n) evaluate(n, state);
  step_ = -1;
  for (std::size_t i = 0; i < derivatives_.size(); ++i) {
    const std::vector<double>& derivative = derivatives_[i];
    if (derivative.empty()) continue;
    Field& field = adjoint[state.fields()[i].name()];
    std::vector<double> sum = field.to_host();
    for (std::size_t k = 0; k < std::min(field.owned_size(), derivative.size()); ++k) sum[k] += derivative[k];
    field.from_host(sum);
  }
}

void PythonLoss::add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                                      const ParameterSet& direction, State& adjoint_tangent,
                                      ParameterSet& gradient_tangent) {
  if (!is_linear_)
    Loss::add_gradient_tangent(n, state, parameters, tangent, direction, adjoint_tangent, gradient_tangent);
}

void PythonLoss::evaluate(int n, const State& state) {
  step_ = -1;
  value_ = 0.0;
  derivatives_.assign(state.fields().size(), {});
  call_on_all_ranks(comm_, [&] {
    check_signals();
    const LentState lent(state, n * dt_);
    read(function_(n, lent.object()), state);
  });
  step_ = n;
}

void PythonLoss::read(nb::handle result, const State& state) {
  static const char* const form = "a loss must return None or (value, {'positions': array, …}), ";
  if (result.is_none()) return;
  if (!nb::isinstance<nb::tuple>(result) || nb::len(result) != 2) {
    if (!nb::isinstance<nb::float_>(result) && !PyNumber_Check(result.ptr()))
      throw InputError(std::string(form) + "not an object of type " +
                       nb::cast<std::string>(nb::str(result.type().attr("__name__"))));
    value_ = nb::cast<double>(nb::float_(result));
    if (!values_only_) throw InputError(std::string(form) + "not a value without its derivatives");
    return;
  }
  value_ = nb::cast<double>(nb::float_(result[0]));
  const nb::object derivatives = result[1];
  if (!nb::isinstance<nb::dict>(derivatives)) throw InputError(std::string(form) + "with a dict of derivatives");
  for (const auto [key, derivative] : nb::borrow<nb::dict>(derivatives)) {
    const std::string name = nb::cast<std::string>(key);
    const Field& field = state[name];
    if (derivative.is_none()) continue;
    ArrayOf<double> array = doubles(derivative, "derivative with respect to " + name);
    if (array.values.size() != field.size() && array.values.size() != field.owned_size())
      throw InputError("the derivative with respect to " + name + " has " + std::to_string(array.values.size()) +
                       " entries; give the " + std::to_string(field.size()) + " of state['" + name + "']");
    const auto at = static_cast<std::size_t>(&field - state.fields().data());
    derivatives_[at] = std::move(array.values);
  }
}

}  // namespace diffsim::python
