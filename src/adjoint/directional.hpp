// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/loss.hpp"
#include "diffsim/core/model.hpp"

namespace diffsim {

/// Two States as one: a state and its derivative along a direction, or an adjoint and its derivative. The joined State
/// has the fields of both States. The names of the second State's fields end in `_tangent`.
class JoinedState {
 public:
  explicit JoinedState(const State& shape) : first(shape.zero_like()), second(shape.zero_like()) {}
  State make_joined() const;
  void split(const State& joined);  ///< sets `first` and `second`
  void join(State& joined) const;

  State first, second;
};

/// Model that consists of another Model and its derivative along a direction of the parameters. The state is (x, dx).
///
/// The adjoint is (λ̇, λ), where λ is the adjoint of the other Model and λ̇ the derivative of λ along the direction.
/// The reverse sweep of dL = Σ dℓₙ (DirectionalLoss) therefore yields the derivative of the gradient, H dp, with any
/// schedule and store and without changes to the sweep. The gradient passed to the sweep receives H dp; the gradient of
/// the other Model is stored in this object.
class DirectionalModel : public Model {
 public:
  /// Creates the Model for `direction`, which must outlive this object and whose ghost entries must be up to date.
  DirectionalModel(Model& model, const ParameterSet& direction);

  /// Returns ∂L/∂p of the other Model after the sweep, summed over ranks for global parameters. Call this function only
  /// once. Collective.
  ParameterSet& sum_gradient();

  MPI_Comm comm() const override { return model_.comm(); }
  State make_state() const override { return halves_.make_joined(); }
  using Model::parameters;
  ParameterSet& parameters() override { return model_.parameters(); }
  void prepare() override;
  /// Throws Error, as does `step_tangent`: third derivatives are not available.
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
  std::unique_ptr<Record> unrecorded_;  // record of a step for which the caller needs none
};

/// Loss dL = Σ dℓₙ along (dx, dp), as a function of the DirectionalModel's state.
class DirectionalLoss : public Loss {
 public:
  DirectionalLoss(Loss& loss, DirectionalModel& model) : loss_(loss), model_(model), halves_(model.halves_.first) {}
  bool observes(int n) const override { return loss_.observes(n); }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  /// Throws Error: third derivatives are not available.
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
