// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "adjoint/directional.hpp"
#include "diffsim/core/loss.hpp"
#include "diffsim/core/model.hpp"

namespace diffsim {

/// Model that consists of an underlying Model and of its derivative along a direction dp of the parameters p, for
/// products with the Gauss–Newton matrix. The Gauss–Newton matrix is Jᵀ W J with J = dr/dp, where r are the residuals
/// of a least-squares loss and W is the weight matrix of the residuals. The state of a GaussNewtonModel is (x, dx),
/// where x is a state of the underlying Model and dx is the derivative of x along the direction dp of the parameters.
///
/// The adjoint of a GaussNewtonModel is (λ, 0), where λ is an adjoint of the underlying Model. At each observed state
/// x, a GaussNewtonLoss adds (∂r/∂x)ᵀ W dr to the adjoint λ, where W is the weight matrix of the residuals r, and dr is
/// the derivative of r along the direction dp of the parameters. Instead of the gradient of the loss, a reverse sweep
/// of a GaussNewtonModel computes the product of the Gauss–Newton matrix with the direction dp of the parameters. The
/// product does not need second derivatives of the steps.
class GaussNewtonModel : public Model {
 public:
  /// Creates the Model. `model` and `direction` must outlive the GaussNewtonModel, and the ghost entries of `direction`
  /// must be up to date.
  GaussNewtonModel(Model& model, const ParameterSet& direction);

  MPI_Comm comm() const override { return model_.comm(); }
  State make_state() const override { return halves_.make_joined(); }
  using Model::parameters;
  ParameterSet& parameters() override { return model_.parameters(); }
  void prepare() override;
  /// Throws Error, because the derivative of the Gauss–Newton matrix is not available; `step_tangent` throws the same
  /// Error.
  void prepare_tangent(const ParameterSet& direction) override;
  void begin_adjoint(const ParameterSet& gradient) override { model_.begin_adjoint(gradient); }
  void prepare_adjoint(ParameterSet& gradient) override { model_.prepare_adjoint(gradient); }
  double solver_tolerance() const override { return model_.solver_tolerance(); }
  std::unique_ptr<Record> make_record() const override;
  std::size_t record_bytes() const override { return model_.record_bytes() + 2 * halves_.first.bytes(); }
  void step(int n, State& state, Record* record) override;
  void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) override;
  void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) override;

 private:
  friend class GaussNewtonLoss;
  Model& model_;
  const ParameterSet& direction_;
  mutable JoinedState halves_;
  std::unique_ptr<Record> unrecorded_;  // record for steps whose caller passes no record
};

/// Loss for a GaussNewtonModel. The value of a GaussNewtonLoss is the derivative dL = Σ dℓₙ of another Loss L = Σ
/// ℓₙ(x[n], p) along the direction dp of the parameters p and along the derivatives dx[n] of the states x[n]. Instead
/// of the gradient of a GaussNewtonLoss's value, `add_gradient` adds the contribution of the least-squares loss to the
/// product with the Gauss–Newton matrix.
class GaussNewtonLoss : public Loss {
 public:
  GaussNewtonLoss(Loss& loss, GaussNewtonModel& model) : loss_(loss), model_(model), halves_(model.halves_.first) {}
  bool observes(int n) const override { return loss_.observes(n); }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  /// Throws Error, because the derivative of the Gauss–Newton matrix is not available.
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;

 private:
  Loss& loss_;
  GaussNewtonModel& model_;
  JoinedState halves_;
};

}  // namespace diffsim
