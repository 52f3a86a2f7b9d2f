// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/loss.hpp"
#include "diffsim/core/model.hpp"

namespace diffsim {

/// Pair of States, `first` and `second`, that can be joined to a single State. Examples of a JoinedState are a state
/// with its derivative along a direction, and an adjoint with its derivative. The joined State has the fields of
/// `first`, followed by the fields of `second` with `_tangent` appended to their names.
class JoinedState {
 public:
  explicit JoinedState(const State& shape) : first(shape.zero_like()), second(shape.zero_like()) {}
  State make_joined() const;
  void split(const State& joined);  ///< copies the fields of `joined` to `first` and `second`
  void join(State& joined) const;

  State first, second;
};

/// Model that consists of an underlying Model and of its derivative along a direction dp of the parameters p. The state
/// of a DirectionalModel is (x, dx), where x is a state of the underlying Model and dx is the derivative of x along the
/// direction dp of the parameters.
///
/// The adjoint of a DirectionalModel is (λ̇, λ), where λ is the adjoint of the underlying Model and λ̇ is the
/// derivative of λ along the direction dp of the parameters. Let L be the loss of the underlying Model, with the
/// Hessian H = ∂²L/∂p². If the loss of the DirectionalModel is the derivative of L along dp (DirectionalLoss), the
/// gradient that a reverse sweep computes is the product H dp. A DirectionalModel can be used with any store, and with
/// any checkpoint schedule that does not undo steps. In addition to the product with the Hessian, a reverse sweep
/// computes the gradient ∂L/∂p of the loss L of the underlying Model (`sum_gradient`).
class DirectionalModel : public Model {
 public:
  /// Creates the Model. `model` and `direction` must outlive the DirectionalModel, and the ghost entries of `direction`
  /// must be up to date.
  DirectionalModel(Model& model, const ParameterSet& direction);

  /// Returns the gradient ∂L/∂p of the loss of the underlying Model after the reverse sweep, summed over ranks for
  /// global parameters. `sum_gradient` must be called only once. Collective.
  ParameterSet& sum_gradient();

  MPI_Comm comm() const override { return model_.comm(); }
  State make_state() const override { return halves_.make_joined(); }
  using Model::parameters;
  ParameterSet& parameters() override { return model_.parameters(); }
  void prepare() override;
  /// Throws Error, because third derivatives are not available; `step_tangent` throws the same Error.
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

/// Loss for a DirectionalModel: the derivative dL = Σ dℓₙ of another Loss L = Σ ℓₙ(x[n], p) along the direction dp of
/// the parameters p and along the derivatives dx[n] of the states x[n].
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
