// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "body/assembly.hpp"
#include "body/joint_constraints.hpp"
#include "body/joint_coupling.hpp"
#include "body/placement.hpp"

namespace diffsim::body {

/// Joints for which this rank computes the constraints, and the derivatives of these constraints with respect to the
/// joints' points and axes (parameters `joint_point` and `joint_axis`) and to the ratios of joints that follow joints
/// (parameter `joint_ratio`).
///
/// With the Lagrange multipliers λ_k of the constraints g_k(x; p) = 0 and the placement (point and axis, see
/// PlacementOf) or the ratio p of a joint, the derivatives of rollouts with respect to p consist of derivatives of two
/// sums over the joint's constraints,
///   values:  Σ_k λ_k g_k(x; p)
///   slopes:  Σ_k λ_k ∇g_k(x; p)·w
/// at given positions x and along given node vectors w.
class PlacedJoints {
 public:
  /// Joint whose constraints belong to one assembly.
  struct Place {
    Joint joint;
    Frame body, other;                ///< frames of the joint's bodies
    std::size_t assembly;             ///< index of the assembly
    std::size_t first;                ///< index in the assembly of the first constraint of the joint
    std::optional<LinearForm> rotor;  ///< change ρ - ρ₀ (`rotor_constraints`), if the joint has a rotor
    std::size_t first_of_rotor = 0;   ///< index in the assembly of the first constraint of the rotor
  };

  /// Joint and the joint that this joint follows. The constraint between both joints belongs to one assembly.
  struct Coupling {
    CoupledJoints joints;
    std::size_t assembly;  ///< index of the assembly
    std::size_t index;     ///< index of the constraint among the assembly's constraints of type JointCoupling
  };

  /// `couplings`: couplings of joints in `places`.
  PlacedJoints(std::vector<Place> places, std::vector<Coupling> couplings);
  ~PlacedJoints();

  /// Computes the constraints of all joints from the values of the parameters `joint_point`, `joint_axis` and
  /// `joint_ratio`, and replaces the constraints of `assemblies`. The constraints of a joint whose parameters have not
  /// changed remain. Throws Error (input) if an axis has zero or infinite length, or if a ratio is 0 or not finite.
  void set_values(const ParameterSet& parameters, std::vector<Assembly>& assemblies);
  /// Sets the change of the parameters along which quantities of type `Along` have derivatives, and replaces the
  /// constraints of `assemblies`.
  void set_direction(const ParameterSet& direction, std::vector<Assembly>& assemblies);

  /// Begins the accumulation of derivatives with respect to the placements and ratios that are parameters in
  /// `gradient`.
  void begin_gradient(const ParameterSet& gradient);
  /// Adds `scale` times the derivatives of Σ_k λ_k g_k(x; p) with respect to the placements and ratios p.
  /// `lambda`: multipliers, [assemblies][constraints].
  template <class T>
  void add_values(const std::vector<std::vector<T>>& lambda, const NodeVectors<T>& x, double scale);
  /// Adds `scale` times the derivatives of Σ_k λ_k ∇g_k(x; p)·w with respect to the placements and ratios p.
  template <class T>
  void add_slopes(const std::vector<std::vector<T>>& lambda, const NodeVectors<T>& x, const NodeVectors<T>& w,
                  double scale);
  /// Adds the accumulated derivatives to `gradient`, and sets the accumulated derivatives to zero.
  void move_to(ParameterSet& gradient);
  /// Adds to `gradient_tangent` the derivatives, along the direction of `set_direction`, of the accumulated derivatives
  /// with respect to placements and ratios, and sets the added derivatives to zero. Only calls of `add_values` and
  /// `add_slopes` with T = `Along` accumulate derivatives along the direction.
  void move_tangent_to(ParameterSet& gradient_tangent);

  /// Computation for which the turns of joints may have to be known.
  enum class TurnsFor {
    step,     ///< time step with a ratio for which both rotations must stay within π (see JointCouplingOf)
    tangent,  ///< derivative along a direction that contains the ratio of two rotations
    adjoint,  ///< gradient with respect to the ratio of two rotations
  };
  /// Returns true if `require_known_turns` may throw on this rank for steps, or on any rank for derivatives.
  bool needs_turns(TurnsFor purpose) const;
  /// Throws Error (run) unless `has_known_turns` for the positions before and after a time step, for each coupling of
  /// this rank between two rotations whose turns must be known for `purpose`.
  void require_known_turns(const NodeVectors<double>& before, const NodeVectors<double>& after, TurnsFor purpose) const;

 private:
  struct State;
  template <class T, class Sum>
  void accumulate(const std::vector<std::vector<T>>& lambda, double scale, const Sum& sum);
  static void replace(State& state, std::vector<Assembly>& assemblies);
  /// Computes the joint's constraints with their derivatives with respect to the placement.
  static void differentiate(State& state);

  /// Replaces the couplings for which the placement of a joint, the ratio, or a derivative of them along the direction
  /// has changed.
  void replace_couplings(std::vector<Assembly>& assemblies);
  template <class T, class Sum>
  void accumulate_couplings(const std::vector<std::vector<T>>& lambda, double scale, const Sum& sum);

  std::vector<State> states_;
  struct StateOfCoupling;
  std::vector<StateOfCoupling> couplings_;
  bool ratios_are_wanted_ = false, ratios_move_ = false;
};

}  // namespace diffsim::body
