// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/loss.hpp"
#include "diffsim/core/model.hpp"

namespace diffsim {

/// Pair of States that can be joined to one State: a state and its derivative along a direction, or an adjoint and its
/// derivative. The joined State has the fields of `first`, followed by the fields of `second` with `_tangent` appended
/// to their names.
class JoinedState {
 public:
  explicit JoinedState(const State& shape) : first(shape.zero_like()), second(shape.zero_like()) {}
  State make_joined() const;
  void split(const State& joined);  ///< copies the fields of `joined` to `first` and `second`
  void join(State& joined) const;

  State first, second;
};

/// Model that consists of an underlying Model and of its derivative along a direction of the parameters. The state is
/// (x, dx).
///
/// The adjoint is (λ̇, λ), where λ is the adjoint of the underlying Model and λ̇ the derivative of λ along the direction.
/// For the loss dL = Σ dℓₙ (DirectionalLoss), the gradient that a reverse sweep computes is therefore H dp, where H =
/// ∂²L/∂p² and dp is the direction. Any schedule and store can be used. The gradient ∂L/∂p of the underlying Model is
/// stored in this object (`sum_gradient`).
class DirectionalModel : public Model {
 public:
  /// Creates the Model. `model` and `direction` must outlive this object, and the ghost entries of `direction` must be
  /// up to date.
  DirectionalModel(Model& model, const ParameterSet& direction);

  /// Returns the gradient ∂L/∂p of the underlying Model after the reverse sweep, summed over ranks for global
  /// parameters. Call this function only once. Collective.
  ParameterSet& sum_gradient();

  MPI_Comm comm() const override { return model_.comm(); }
  State make_state() const override { return halves_.make_joined(); }
  using Model::parameters;
  ParameterSet& parameters() override { return model_.parameters(); }
  void prepare() override;
  /// Throws Error, because third derivatives are not available. `step_tangent` throws the same Error.
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
  std::unique_ptr<Record> unrecorded_;  // record for steps whose caller passes no record
};

/// Loss for the sweep of a DirectionalModel: the derivative dL = Σ dℓₙ of another Loss along (dx, dp), as a function of
/// the DirectionalModel's state (x, dx).
class DirectionalLoss : public Loss {
 public:
  DirectionalLoss(Loss& loss, DirectionalModel& model) : loss_(loss), model_(model), halves_(model.halves_.first) {}
  bool observes(int n) const override { return loss_.observes(n); }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  /// Throws Error, because third derivatives are not available.
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
