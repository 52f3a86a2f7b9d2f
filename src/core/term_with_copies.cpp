// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/term_with_copies.hpp"

#include <optional>
#include <utility>

#include "core/exchange.hpp"
#include "core/field_pool.hpp"
#include "core/node_vectors.hpp"
#include "diffsim/core/impl/block_matrix.hpp"

namespace diffsim {
namespace {

class TermWithCopies final : public ForceTerm {
 public:
  TermWithCopies(std::unique_ptr<ForceTerm> term, const Entities& owned, const std::vector<VertexLocation>& copies)
      : term_(std::move(term)), copies_(copies), nodes_(with_copies(owned, copies)) {}

  std::string name() const override { return term_->name(); }
  bool has_energy() const override { return term_->has_energy(); }
  bool uses_velocities() const override { return term_->uses_velocities(); }
  bool has_symmetric_jacobian() const override { return term_->has_symmetric_jacobian(); }
  bool couplings_vary() const override { return true; }

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

  double energy(const Configuration& at, const ParameterSet& parameters) override {
    const Here here(*this, at);
    return term_->energy(here.configuration, parameters);
  }
  void add_force(const Configuration& at, const ParameterSet& parameters, Field& force) override {
    const Here here(*this, at);
    Field share = take("force");
    term_->add_force(here.configuration, parameters, share);
    hand_over(share, force);
  }
  void add_force_tangent(const Configuration& at, const ConfigurationTangent& tangent, const ParameterSet& direction,
                         Field& force_tangent) override {
    const Here here(*this, at);
    const Field dx = complete(tangent.positions);
    const std::optional<Field> dv = complete_rates(tangent.velocities);
    Field share = take("force_tangent");
    term_->add_force_tangent(here.configuration, {dx, address(dv), tangent.time}, direction, share);
    hand_over(share, force_tangent);
  }
  void add_force_adjoint(const Configuration& at, const Field& w, const ConfigurationAdjoint& adjoint,
                         ParameterSet& gradient) override {
    const Here here(*this, at);
    const Field w_here = complete(w);
    Shares shares(*this, adjoint);
    term_->add_force_adjoint(here.configuration, w_here, shares.adjoint(), gradient);
    shares.hand_over();
  }
  void add_force_adjoint_tangent(const Configuration& at, const ConfigurationTangent& tangent,
                                 const ParameterSet& direction, const Field* w, const Field* dw,
                                 const ConfigurationAdjoint& adjoint_tangent, ParameterSet& gradient_tangent) override {
    const Here here(*this, at);
    const Field dx = complete(tangent.positions);
    const std::optional<Field> dv = complete_rates(tangent.velocities), w_here = complete_or_none(w),
                               dw_here = complete_or_none(dw);
    Shares shares(*this, adjoint_tangent);
    term_->add_force_adjoint_tangent(here.configuration, {dx, address(dv), tangent.time}, direction, address(w_here),
                                     address(dw_here), shares.adjoint(), gradient_tangent);
    shares.hand_over();
  }

  void add_couplings(const Configuration& at, Couplings& couplings) override {
    term_->add_couplings(at, couplings);
    couplings.set_copies(copies_);
  }
  void add_jacobian(const Configuration& at, const ParameterSet& parameters, const JacobianWeights& weights,
                    BlockMatrix& matrix) override {
    const Here here(*this, at);
    term_->add_jacobian(here.configuration, parameters, weights, matrix);
  }
  void add_stiffness_bound(const ParameterSet& parameters, Field& stiffness) override {
    add_bound(&ForceTerm::add_stiffness_bound, parameters, stiffness);
  }
  void add_damping_bound(const ParameterSet& parameters, Field& damping) override {
    add_bound(&ForceTerm::add_damping_bound, parameters, damping);
  }

 private:
  void add_bound(void (ForceTerm::*add)(const ParameterSet&, Field&), const ParameterSet& parameters, Field& bound) {
    ParameterSet at_rest;
    for (const Parameter& parameter : parameters) {
      const bool is_rest = parameter.name() == "rest_positions";
      at_rest.add({is_rest ? complete(parameter.field).clone() : parameter.field.clone(), parameter.spec});
    }
    Field share = take("bound");
    (term_.get()->*add)(at_rest, share);
    hand_over(share, bound);
  }
  /// Configuration on the nodes that the rank owns, followed by the term's copies of other ranks' nodes.
  struct Here {
    Here(const TermWithCopies& term, const Configuration& at)
        : x(term.complete(at.positions)),
          v(term.complete_rates(at.velocities)),
          configuration{x, at.step, at.invalid_cell, address(v), at.time, at.load_factor} {}
    Field x;
    std::optional<Field> v;
    Configuration configuration;
  };
  /// Contributions to an adjoint, on the nodes that the rank owns, followed by the term's copies of other ranks' nodes.
  class Shares {
   public:
    Shares(const TermWithCopies& term, const ConfigurationAdjoint& to) : term_(term), to_(to), x_(term.take("x_bar")) {
      if (term.uses_velocities() && to.velocities) v_.emplace(term.take("v_bar"));
    }
    ConfigurationAdjoint adjoint() { return {x_, v_ ? &*v_ : nullptr}; }
    void hand_over() {
      term_.hand_over(x_, to_.positions);
      if (v_) term_.hand_over(*v_, *to_.velocities);
    }

   private:
    const TermWithCopies& term_;
    const ConfigurationAdjoint& to_;
    Field x_;
    std::optional<Field> v_;
  };

  static const Field* address(const std::optional<Field>& field) { return field ? &*field : nullptr; }
  std::optional<Field> complete_or_none(const Field* field) const {
    return field ? std::optional<Field>(complete(*field)) : std::nullopt;
  }
  std::optional<Field> complete_rates(const Field* v) const {
    return complete_or_none(uses_velocities() ? v : nullptr);
  }
  Field take(const char* name) const { return pool_->take(name, nodes_, 3); }
  /// Returns the values of `field` at the nodes that the rank owns and at the term's copies of other ranks' nodes.
  Field complete(const Field& field) const {
    Field all = pool_->take(field.name(), nodes_, 3);
    copy_vectors(field.data(), all.data(), nodes_->owned());
    nodes_->exchange()->copy_to_ghosts(all);
    return all;
  }
  /// Sums the contributions in `share`, at owned nodes and at copies, on the ranks that own the nodes. Adds these sums
  /// to `sum` at the owned nodes.
  void hand_over(Field& share, Field& sum) const {
    nodes_->exchange()->add_to_owners(share);
    add_vectors(share.data(), sum.data(), nodes_->owned());
  }
  std::unique_ptr<ForceTerm> term_;
  std::vector<VertexLocation> copies_;
  std::shared_ptr<const Entities> nodes_;
  std::shared_ptr<FieldPool> pool_ = FieldPool::make();
};

}  // namespace

std::unique_ptr<ForceTerm> make_term_with_copies(std::unique_ptr<ForceTerm> term, const Entities& owned,
                                                 const std::vector<VertexLocation>& copies) {
  return std::make_unique<TermWithCopies>(std::move(term), owned, copies);
}

}  // namespace diffsim
