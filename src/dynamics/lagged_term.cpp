// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/lagged_term.hpp"

#include <utility>

#include "core/field_pool.hpp"
#include "diffsim/core/impl/block_matrix.hpp"

namespace diffsim {
namespace {

class LaggedTerm final : public ForceTerm {
 public:
  explicit LaggedTerm(std::unique_ptr<ForceTerm> term) : term_(std::move(term)) {}

  std::string name() const override { return term_->name(); }
  bool uses_velocities() const override { return term_->uses_velocities(); }
  bool lags() const override { return true; }
  bool has_energy() const override { return term_->has_dissipation(); }
  bool has_dissipation() const override { return term_->has_dissipation(); }
  bool has_symmetric_jacobian() const override { return term_->has_dissipation(); }
  bool holds_body() const override { return term_->holds_body(); }
  bool couplings_vary() const override { return term_->couplings_vary(); }
  bool limits_steps() const override { return term_->limits_steps(); }

  void prepare(const ParameterSet& parameters) override { term_->prepare(parameters); }
  void prepare_tangent(const ParameterSet& parameters, const ParameterSet& direction) override {
    term_->prepare_tangent(parameters, direction);
  }
  void begin_adjoint(const ParameterSet& gradient) override { term_->begin_adjoint(gradient); }
  void prepare_adjoint(const ParameterSet& parameters, ParameterSet& gradient) override {
    term_->prepare_adjoint(parameters, gradient);
  }
  void begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) override {
    term_->begin_adjoint_tangent(gradient, direction);
  }
  void prepare_adjoint_tangent(const ParameterSet& parameters, const ParameterSet& direction,
                               ParameterSet& gradient_tangent) override {
    term_->prepare_adjoint_tangent(parameters, direction, gradient_tangent);
  }

  double energy(const Configuration& at, const ParameterSet& parameters) override {
    return term_->energy(start_of(at), parameters);
  }
  double dissipation(const Configuration& at, const ParameterSet& parameters) override {
    return term_->dissipation(start_of(at), parameters);
  }
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override {
    term_->add_force(start_of(at), parameters, force);
  }
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override {
    const StartTangent start(*this, at, tangent);
    term_->add_force_tangent(start_of(at), start.tangent, direction, force_tangent);
  }
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override {
    term_->add_force_adjoint(start_of(at), w, start_of(at, adjoint), gradient);
  }
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override {
    const StartTangent start(*this, at, tangent);
    term_->add_force_adjoint_tangent(start_of(at), start.tangent, direction, w, dw, start_of(at, adjoint_tangent),
                                     gradient_tangent);
  }

  void add_couplings(const Configuration& at, Couplings& couplings) override {
    term_->add_couplings(start_of(at), couplings);
  }
  bool pattern_covers(const Configuration& at) override { return term_->pattern_covers(start_of(at)); }
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    const double position = at.start_positions ? 0.0 : weights.position;
    term_->add_jacobian(start_of(at), parameters, {position, weights.velocity, weights.project}, matrix);
  }
  void add_stiffness_bound(const ParameterSet& parameters, Field& stiffness) override {
    term_->add_stiffness_bound(parameters, stiffness);
  }
  void add_damping_bound(const ParameterSet& parameters, Field& damping) override {
    term_->add_damping_bound(parameters, damping);
  }
  double max_step(const Configuration& from, const Configuration& to, const ParameterSet& parameters) override {
    return term_->max_step(from, to, parameters);
  }
  std::string limiting() const override { return term_->limiting(); }

 private:
  static Configuration start_of(const Configuration& at) {
    if (!at.start_positions) return at;
    return {*at.start_positions, at.step, at.invalid_cell, at.velocities, at.start_time, at.load_factor};
  }
  static ConfigurationAdjoint start_of(const Configuration& at, const ConfigurationAdjoint& adjoint) {
    if (!at.start_positions) return adjoint;
    if (!adjoint.start_positions) throw Error("a lagged term needs the adjoint of the start positions");
    return {*adjoint.start_positions, adjoint.velocities};
  }
  /// Tangent of the configuration `start_of(at)`. If start positions are given, the time of the start positions is
  /// constant, so the tangent of the time is zero.
  struct StartTangent {
    Field zero;
    ConfigurationTangent tangent;
    StartTangent(LaggedTerm& term, const Configuration& at, const ConfigurationTangent& given)
        : zero(at.start_positions && !given.start_positions
                   ? term.pool_->take("zero", at.start_positions->shared_on(), 3)
                   : Field()),
          tangent{!at.start_positions     ? given.positions
                  : given.start_positions ? *given.start_positions
                                          : zero,
                  given.velocities, at.start_positions ? 0.0 : given.time} {}
  };

  std::unique_ptr<ForceTerm> term_;
  std::shared_ptr<FieldPool> pool_ = FieldPool::make();
};

}  // namespace

std::unique_ptr<ForceTerm> make_lagged_term(std::unique_ptr<ForceTerm> term) {
  return std::make_unique<LaggedTerm>(std::move(term));
}

}  // namespace diffsim
