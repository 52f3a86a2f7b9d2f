// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/loss.hpp"
#include "diffsim/core/model.hpp"

namespace diffsim {

/// A state and its derivative along a direction, or an adjoint and its derivative, as one State: the fields twice,
/// those of the second half with `_tangent` after their names.
class JoinedState {
 public:
  explicit JoinedState(const State& shape) : first(shape.zero_like()), second(shape.zero_like()) {}
  State make_joined() const;
  void split(const State& joined);  ///< sets both
  void join(State& joined) const;

  State first, second;
};

/// A Model together with its derivative along a direction of the parameters, as a Model: its state is (x, dx).
///
/// Its adjoint is (λ̇, λ): λ that of the Model, λ̇ the derivative of λ along the direction. So the reverse sweep of
/// dL = Σ dℓₙ (DirectionalLoss) gives the derivative of the gradient, H dp, with any schedule and store; the sweep does
/// not know. The gradient it is given is that derivative, the Model's own is kept here.
class DirectionalModel : public Model {
 public:
  /// `direction` outlives this; copies of other ranks' entries are up to date.
  DirectionalModel(Model& model, const ParameterSet& direction);

  /// ∂L/∂p of the Model, after the sweep, summed over ranks where a parameter is global. Collective; once.
  ParameterSet& sum_gradient();

  MPI_Comm comm() const override { return model_.comm(); }
  State make_state() const override { return halves_.make_joined(); }
  using Model::parameters;
  ParameterSet& parameters() override { return model_.parameters(); }
  void prepare() override;
  /// Throws Error, as `step_tangent`: there are no third derivatives.
  void prepare_tangent(const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override;
  void prepare_adjoint(ParameterSet& gradient) override;
  double solver_tolerance() const override { return model_.solver_tolerance(); }
  std::unique_ptr<Record> make_record() const override;
  std::size_t record_bytes() const override;
  void step(int n, State& state, Record* record) override;
  void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) override;
  void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) override;

 private:
  friend class DirectionalLoss;
  Model& model_;
  const ParameterSet& direction_;
  ParameterSet gradient_;
  mutable JoinedState halves_;
  bool begun_ = false;
  std::unique_ptr<Record> unrecorded_;  // of the Model's last step that nobody wanted a record of
};

/// dL = Σ dℓₙ along (dx, dp), as a Loss of the DirectionalModel's state.
class DirectionalLoss : public Loss {
 public:
  DirectionalLoss(Loss& loss, DirectionalModel& model) : loss_(loss), model_(model), halves_(model.halves_.first) {}
  bool observes(int n) const override { return loss_.observes(n); }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  /// Throws Error: there are no third derivatives.
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;

 private:
  Loss& loss_;
  DirectionalModel& model_;
  JoinedState halves_;
};

}  // namespace diffsim
