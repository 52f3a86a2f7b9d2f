// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/model.hpp"

namespace diffsim {

/// Base class of Models that change how the steps of another Model are executed or differentiated. All functions of a
/// ForwardingModel, except `set_reversible` and the functions that execute, undo or differentiate steps, call the
/// functions of the other Model, which must outlive the ForwardingModel.
class ForwardingModel : public Model {
 public:
  explicit ForwardingModel(Model& model) : model_(model) {}

  MPI_Comm comm() const override { return model_.comm(); }
  State make_state() const override { return model_.make_state(); }
  using Model::parameters;
  ParameterSet& parameters() override { return model_.parameters(); }
  void prepare() override { model_.prepare(); }
  void prepare_tangent(const ParameterSet& direction) override { model_.prepare_tangent(direction); }
  void begin_adjoint(const ParameterSet& gradient) override { model_.begin_adjoint(gradient); }
  void prepare_adjoint(ParameterSet& gradient) override { model_.prepare_adjoint(gradient); }
  double solver_tolerance() const override { return model_.solver_tolerance(); }
  void tighten_solver(double factor) override { model_.tighten_solver(factor); }
  void remember_steps(std::size_t bytes) override { model_.remember_steps(bytes); }
  std::unique_ptr<Record> make_record() const override { return model_.make_record(); }
  std::size_t record_bytes() const override { return model_.record_bytes(); }
  void set_diagnosis(bool on) override { model_.set_diagnosis(on); }
  NotFinite diagnosis() const override { return model_.diagnosis(); }
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override {
    model_.begin_adjoint_tangent(gradient, direction);
  }
  void prepare_adjoint_tangent(const ParameterSet& direction, ParameterSet& gradient_tangent) override {
    model_.prepare_adjoint_tangent(direction, gradient_tangent);
  }

 protected:
  Model& model_;
};

}  // namespace diffsim
