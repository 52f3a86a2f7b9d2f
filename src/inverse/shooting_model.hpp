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

/// Model whose rollout is divided into windows (multiple shooting, Bock & Plitt 1984). A window is a range of
/// consecutive steps. The first window, window 0, starts from the initial state of the rollout. Each later window w =
/// 1, 2, … starts from a state z_w, whose values are parameters, instead of the state x at the end of the previous
/// window. The parameter `window:w:NAME`, [owned entities, components], contains the field NAME of the start state z_w
/// of window w. Unless groups of processes share the windows, fields of the state that are the same on all ranks, such
/// as the origins of prescribed motions, are not replaced at the start of a window. The constructor adds the parameters
/// `window:w:NAME` of all windows w after the first to the parameters of the underlying Model; the destructor removes
/// the added parameters.
///
/// If groups of processes share the windows, the ShootingModel of a group has the consecutive windows of this group:
/// step n of the ShootingModel is step n + `first_step` of the underlying Model, and all fields of the state are
/// replaced at the start of a window.
class ShootingModel final : public ForwardingModel {
 public:
  /// `starts`: first step of each window after the first, in ascending order. `first_step`: first step of the windows
  /// of this process's group; not given if there is one group. `model` must outlive the ShootingModel, and no parameter
  /// may be added to `model` during the lifetime of the ShootingModel.
  ShootingModel(Model& model, std::vector<int> starts, std::optional<int> first_step = {});
  ~ShootingModel() override;

  /// Returns the step of the underlying Model that step n of the ShootingModel executes.
  int step_of_model(int n) const { return n + first_step_; }
  /// Returns w - 1 if the window w = 1, 2, … starts with step n of the ShootingModel; returns no value if no window
  /// after the first window starts with step n.
  std::optional<std::size_t> window_at(int n) const;
  /// Returns true if the state before step n of the ShootingModel is a state of the rollout or of the end of a window;
  /// false for the state before the first step of a group other than the group with window 0, because `step` replaces
  /// this state.
  bool has_state_before(int n) const { return n > 0 || first_step_ == 0; }
  /// Names of the fields of the state that are replaced, at the start of a window w, by the fields of the start state
  /// z_w.
  const std::vector<std::string>& fields() const { return fields_; }
  /// Returns the name `window:w:NAME` of the parameter that contains the field NAME of the start state z_w, where NAME
  /// is `field` and w is `window` + 1. In all functions of ShootingModel, the argument `window` is w - 1 for the window
  /// w = 1, 2, ….
  static std::string parameter_of(const std::string& field, std::size_t window) {
    return "window:" + std::to_string(window + 1) + ":" + field;
  }
  /// Number of windows after the first window.
  std::size_t num_starts() const { return starts_.size(); }
  /// Returns the values of a field at the start of a window, [owned entities, components], from the parameter set
  /// `set`, or an empty vector if `set` does not contain these values.
  std::vector<double> start(const ParameterSet& set, const std::string& field, std::size_t window) const;
  /// Adds `values` to the values of a field at the start of a window in the parameter set `set`. `add_to_start` does
  /// nothing if `set` does not contain the parameter of the field and window.
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
  /// Replaces the fields of `state` by the start state z_w of a window, whose values are stored in the parameter set
  /// `set`. If `set` does not contain the parameter of a field and window, replaces the values of the field by zeros.
  void replace(std::size_t window, const ParameterSet& set, State& state) const;
  /// Adds the fields of `adjoint` to the derivatives in `gradient` with respect to the start state z_w of a window, and
  /// sets the fields of `adjoint` to zero.
  void move_to_start(std::size_t window, State& adjoint, ParameterSet& gradient) const;

  std::vector<int> starts_;
  int first_step_;
  std::vector<std::string> fields_;
};

/// Loss of a rollout that is divided into windows: a given loss plus the terms of the augmented Lagrangian for the
/// continuity conditions x = z_w between the state x at the end of a window and the start state z_w of the next window
/// w. The sum of the terms of the augmented Lagrangian is
///   Σ_w Σ_f [λ_wf · d + ½ μ c_f |d|²],   d = x - z_w,
/// for all windows w after the first window and all fields f of the state. z_w is the start state of window w, x is the
/// state at the end of the previous window, c_f are weights of the fields, μ is the penalty factor, and λ_wf are
/// Lagrange multipliers.
class ShootingLoss final : public Loss {
 public:
  /// `loss` and `model` must outlive the ShootingLoss. `weights`: weights c_f of the fields f of the state, by the name
  /// of the field.
  ShootingLoss(Loss& loss, const ShootingModel& model, std::map<std::string, double> weights)
      : loss_(loss), model_(model), weights_(std::move(weights)) {}

  void set_penalty(double mu) { mu_ = mu; }
  /// Returns Σ_w Σ_f c_f |d|², summed over the ranks, where d = x - z_w is the jump of field f at the start of window w
  /// in the last rollout, and c_f are the weights of the fields. Collective.
  double squared_defects() const;
  /// Updates the Lagrange multipliers λ of each window w and field f: λ ← λ + μ c_f d, with the penalty factor μ, the
  /// weight c_f of the field, and the jump d of the field at the start of the window in the last rollout (Nocedal &
  /// Wright 2006, section 17.3).
  void update_multipliers();

  std::string unit() const override { return loss_.unit(); }
  double num_observations() const override { return loss_.num_observations(); }
  bool observes(int n) const override { return is_observed(n) || ends_window(n); }
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
  /// Returns true if the given loss observes the state before step n of the ShootingModel.
  bool is_observed(int n) const { return model_.has_state_before(n) && loss_.observes(model_.step_of_model(n)); }
  /// Returns w - 1 if the state before step n of the ShootingModel is the state x at the end of a window and w is the
  /// next window; otherwise returns no value.
  std::optional<std::size_t> ends_window(int n) const {
    return model_.has_state_before(n) ? model_.window_at(n) : std::nullopt;
  }
  /// Returns the jump d = x - z_w of each field, [owned entities, components], with the state x from `state` and the
  /// start state z_w of the window from `set`.
  Values difference(std::size_t window, const State& state, const ParameterSet& set) const;
  /// Adds `g`, the derivatives with respect to the jumps d = x - z_w, to the derivatives in `adjoint` with respect to
  /// x, the state at the end of a window. Subtracts `g` from the derivatives in `gradient` with respect to z_w, the
  /// start state of the next window w.
  void add(std::size_t window, const Values& g, State& adjoint, ParameterSet& gradient) const;
  /// Returns the product μ c_f dd for each field f, where μ c_f is the Hessian of the penalty ½ μ c_f |d|² of a jump d,
  /// and `dd` is a change of the jump.
  Values curvature_product(const Values& dd) const;
  /// Returns the Lagrange multipliers of a field of a window; zeros before the first call of `update_multipliers`.
  const std::vector<double>& multipliers(std::size_t window, const std::string& field, std::size_t size) const;

  Loss& loss_;
  const ShootingModel& model_;
  std::map<std::string, double> weights_;
  double mu_ = 1.0;
  std::map<std::size_t, Values> defects_;  // jumps d = x - z_w of the last rollout, by window
  mutable std::map<std::size_t, Values> multipliers_;
};

}  // namespace diffsim::inverse
