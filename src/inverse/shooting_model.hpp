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

/// Model of a rollout in windows (multiple shooting, Bock & Plitt 1984). Each window w after the first starts from a
/// state z_w that is a parameter, instead of the state x at the end of the previous window. The parameter of a field
/// NAME of the state is `window:w:NAME`, [owned entities, components], with w = 1, 2, … Fields that are the same on all
/// ranks, such as the origins of prescribed motions, continue from window to window. The parameters are added to those
/// of the underlying Model, and removed by the destructor.
class ShootingModel final : public ForwardingModel {
 public:
  /// `starts`: first step of each window after the first, in ascending order. `model` must outlive this object, and no
  /// other parameter may be added to the Model during the life of this object.
  ShootingModel(Model& model, std::vector<int> starts);
  ~ShootingModel() override;

  /// Returns the index w - 1 of the window w that starts with step n; no value if no window after the first starts with
  /// step n.
  std::optional<std::size_t> window_at(int n) const;
  /// Names of the state's fields that start anew in each window.
  const std::vector<std::string>& fields() const { return fields_; }
  /// Name of the parameter of a field at the start of a window. In all functions of this class, `window` is w - 1.
  static std::string parameter_of(const std::string& field, std::size_t window) {
    return "window:" + std::to_string(window + 1) + ":" + field;
  }
  /// Number of windows after the first.
  std::size_t num_starts() const { return starts_.size(); }
  /// Returns z_w of a field, [owned entities, components], from `set`; empty if `set` does not contain the field.
  std::vector<double> start(const ParameterSet& set, const std::string& field, std::size_t window) const;
  /// Adds `values` to z_w of a field in `set`. Does nothing if `set` does not contain the field.
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
  /// Replaces the fields of `state` by z_w from `set`; by zeros if `set` does not contain them.
  void replace(std::size_t window, const ParameterSet& set, State& state) const;
  /// Adds the fields of `adjoint` to the derivatives with respect to z_w, and sets the fields to zero.
  void move_to_start(std::size_t window, State& adjoint, ParameterSet& gradient) const;

  std::vector<int> starts_;
  std::vector<std::string> fields_;
};

/// Loss of a rollout in windows: a loss plus the augmented Lagrangian of the continuity conditions x = z_w, where x is
/// the state at the end of the previous window:
///
///   Σ_w Σ_f [λ_wf · d + ½ μ c_f |d|²],   d = x - z_w for the field f of the state.
///
/// c_f are weights of the fields, μ is the penalty, and λ are the multipliers.
class ShootingLoss final : public Loss {
 public:
  /// `loss` and `model` must outlive this object. `weights`: c_f by name of the field.
  ShootingLoss(Loss& loss, const ShootingModel& model, std::map<std::string, double> weights)
      : loss_(loss), model_(model), weights_(std::move(weights)) {}

  void set_penalty(double mu) { mu_ = mu; }
  /// Returns Σ_w Σ_f c_f |d|² of the last call of `value` for each window, summed over the ranks. Collective.
  double squared_defects() const;
  /// Adds μ c_f d of the last call of `value` to the multipliers (Nocedal & Wright 2006, section 17.3).
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
  /// Returns d, [owned entities, components] by field, for the values of `state` and `set`.
  Values difference(std::size_t window, const State& state, const ParameterSet& set) const;
  /// Adds g, derivatives with respect to d, to the derivatives with respect to x and z_w.
  void add(std::size_t window, const Values& g, State& adjoint, ParameterSet& gradient) const;
  /// Returns μ c_f dd for each field f, the derivative of μ c_f d along dd.
  Values curvature_product(const Values& dd) const;
  /// Returns the multipliers of a window; zeros before the first update.
  const std::vector<double>& multipliers(std::size_t window, const std::string& field, std::size_t size) const;

  Loss& loss_;
  const ShootingModel& model_;
  std::map<std::string, double> weights_;
  double mu_ = 1.0;
  std::map<std::size_t, Values> defects_;  // d of the last call of `value`, by window
  mutable std::map<std::size_t, Values> multipliers_;
};

}  // namespace diffsim::inverse
