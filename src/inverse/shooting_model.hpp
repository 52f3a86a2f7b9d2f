// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adjoint/forwarding_model.hpp"
#include "diffsim/core/loss.hpp"

namespace diffsim::inverse {

/// Model of a rollout in windows (multiple shooting, Bock & Plitt 1984). A window is a range of consecutive steps. Each
/// window w = 1, 2, … after the first starts from a state z_w, which is a parameter, instead of the state x at the end
/// of the previous window. The parameter of a field NAME of the state is `window:w:NAME`, [owned entities, components].
/// Fields that are the same on all ranks, such as the origins of prescribed motions, continue from window to window.
/// The parameters are added to those of the underlying Model, and removed by the destructor.
class ShootingModel final : public ForwardingModel {
 public:
  /// `starts`: first step of each window after the first, in ascending order. `model` must outlive this object, and no
  /// other parameter may be added to the Model during the life of this object.
  ShootingModel(Model& model, std::vector<int> starts);
  ~ShootingModel() override;

  /// Returns the index w - 1 of the window w that starts with step n; no value if no window after the first starts with
  /// step n.
  std::optional<std::size_t> window_at(int n) const;
  /// Names of the fields of the state that z_w replaces at the start of a window.
  const std::vector<std::string>& fields() const { return fields_; }
  /// Name of the parameter of a field at the start of a window. In all functions of this class, `window` is w - 1.
  static std::string parameter_of(const std::string& field, std::size_t window) {
    return "window:" + std::to_string(window + 1) + ":" + field;
  }
  /// Number of windows after the first.
  std::size_t num_starts() const { return starts_.size(); }
  /// Returns the start values z_w of a field, [owned entities, components], from `set`; empty if `set` does not contain
  /// the parameter.
  std::vector<double> start(const ParameterSet& set, const std::string& field, std::size_t window) const;
  /// Adds `values` to the start values z_w of a field in `set`. Does nothing if `set` does not contain the parameter.
  void add_to_start(ParameterSet& set, const std::string& field, std::size_t window,
                    const std::vector<double>& values) const;

  std::unique_ptr<Record> make_record() const override;
  std::size_t record_bytes() const override { return model_.record_bytes() + model_.make_state().bytes(); }
  void step(int n, State& state, Record* record) override;
  void step_tangent(int n, const Record& record, const ParameterSet& direction, State& tangent) override;
  void step_adjoint(int n, const Record& record, State& adjoint, ParameterSet& gradient) override;
  void step_adjoint_tangent(int n, const Record& record, const StepTangent& tangent, const ParameterSet& direction,
                            const AdjointPair& pair) override;

 private:
  /// Replaces the fields of `state` by the start values z_w of a window from `set`; by zeros if `set` does not contain
  /// the parameters.
  void replace(std::size_t window, const ParameterSet& set, State& state) const;
  /// Adds the fields of `adjoint` to the derivatives, in `gradient`, with respect to the start values z_w of a window,
  /// and sets the fields of `adjoint` to zero.
  void move_to_start(std::size_t window, State& adjoint, ParameterSet& gradient) const;

  std::vector<int> starts_;
  std::vector<std::string> fields_;
};

/// Loss of a rollout in windows: a given loss plus the terms of the augmented Lagrangian for the continuity conditions
/// x = z_w, where z_w is the start state of window w, and x is the state at the end of the previous window:
///
///   Σ_w Σ_f [λ_wf · d + ½ μ c_f |d|²],   d = x - z_w for the field f of the state.
///
/// c_f are weights of the fields, μ is the penalty factor, and λ_wf are Lagrange multipliers.
class ShootingLoss final : public Loss {
 public:
  /// `loss` and `model` must outlive this object. `weights`: weights c_f of the fields of the state, by the name of the
  /// field.
  ShootingLoss(Loss& loss, const ShootingModel& model, std::map<std::string, double> weights)
      : loss_(loss), model_(model), weights_(std::move(weights)) {}

  void set_penalty(double mu) { mu_ = mu; }
  /// Returns Σ_w Σ_f c_f |d|², summed over the ranks, where d = x - z_w is the jump of field f at the start of window w
  /// in the last rollout. Collective.
  double squared_defects() const;
  /// Updates the Lagrange multipliers of each window and field: λ ← λ + μ c_f d, with the jumps d = x - z_w of the last
  /// rollout (Nocedal & Wright 2006, section 17.3).
  void update_multipliers();

  std::string unit() const override { return loss_.unit(); }
  double num_observations() const override { return loss_.num_observations(); }
  bool observes(int n) const override { return loss_.observes(n) || model_.window_at(n); }
  double value(int n, const State& state, const ParameterSet& parameters) override;
  double tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                 const ParameterSet& direction) override;
  void add_gradient(int n, const State& state, const ParameterSet& parameters, State& adjoint,
                    ParameterSet& gradient) override;
  void add_gradient_tangent(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                            const ParameterSet& direction, State& adjoint_tangent,
                            ParameterSet& gradient_tangent) override;
  void add_gauss_newton(int n, const State& state, const ParameterSet& parameters, const State& tangent,
                        const ParameterSet& direction, State& adjoint, ParameterSet& gradient) override;

 private:
  using Values = std::map<std::string, std::vector<double>>;
  /// Returns the jump d = x - z_w of each field, [owned entities, components], with x from `state` and z_w from `set`.
  Values difference(std::size_t window, const State& state, const ParameterSet& set) const;
  /// Adds `g`, the derivatives with respect to the jumps d = x - z_w, to the derivatives with respect to x in
  /// `adjoint`, and subtracts `g` from those with respect to z_w in `gradient`.
  void add(std::size_t window, const Values& g, State& adjoint, ParameterSet& gradient) const;
  /// Returns μ c_f dd for each field f: the product of the penalty's Hessian μ c_f with `dd`, a change of the jumps.
  Values curvature_product(const Values& dd) const;
  /// Returns the multipliers of a window; zeros before the first update.
  const std::vector<double>& multipliers(std::size_t window, const std::string& field, std::size_t size) const;

  Loss& loss_;
  const ShootingModel& model_;
  std::map<std::string, double> weights_;
  double mu_ = 1.0;
  std::map<std::size_t, Values> defects_;  // jumps d = x - z_w of the last rollout, by window
  mutable std::map<std::size_t, Values> multipliers_;
};

}  // namespace diffsim::inverse
