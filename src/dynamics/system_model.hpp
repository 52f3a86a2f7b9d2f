// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/model.hpp"
#include "diffsim/dynamics/system.hpp"

namespace diffsim {

/// Base class of the time steppers of a System. SystemModel implements functions of Model, such as `parameters` and
/// `prepare`, by calling the function of the System with the same name. A derived class implements `step` and the
/// derivatives of a step.
class SystemModel : public Model {
 public:
  System& system() { return *system_; }
  const System& system() const { return *system_; }
  double dt() const { return dt_; }  ///< length of a time step, s
  /// Number of steps over which gravity and constant loads grow linearly to their full values, or 0 if the full values
  /// act from the first step on.
  virtual int ramp_steps() const { return 0; }

  MPI_Comm comm() const override { return system_->comm(); }
  State make_state() const override { return system_->make_state(); }
  using Model::parameters;
  ParameterSet& parameters() override { return system_->parameters(); }
  void prepare() override { system_->prepare(); }
  void prepare_tangent(const ParameterSet& direction) override { system_->prepare_tangent(direction); }
  void begin_adjoint(const ParameterSet& gradient) override { system_->begin_adjoint(gradient); }
  void prepare_adjoint(ParameterSet& gradient) override { system_->prepare_adjoint(gradient); }
  void set_diagnosis(bool on) override { system_->set_diagnosis(on); }
  NotFinite diagnosis() const override { return system_->diagnosis(); }
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override {
    system_->begin_adjoint_tangent(gradient, direction);
  }
  void prepare_adjoint_tangent(const ParameterSet& direction, ParameterSet& gradient_tangent) override {
    system_->prepare_adjoint_tangent(direction, gradient_tangent);
  }

 protected:
  /// Throws Error (input) if the length `dt` of a time step is not positive.
  SystemModel(std::shared_ptr<System> system, double dt);

  const std::shared_ptr<System> system_;

 private:
  double dt_;
};

}  // namespace diffsim
