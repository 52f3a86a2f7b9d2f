// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <utility>

#include "diffsim/body/joint.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Specifications of the parameters of joints (`Joint::point`, `Joint::axis`, `Joint::ratio`, `Joint::armature`) and of
/// driven joints (JointDrive), and of two unknowns of scenes, `initial_coordinates` and `initial_rates` of several
/// joints. For a parameter of one joint, the name of the joint is a suffix of the parameter's name, for example
/// `joint_torque:NAME`. The member `unit` of a ParameterSpec in JointParameters is the unit for revolute joints;
/// `of_kind` and `of_follower` return the ParameterSpec with the unit for other joints. A Parameter of a scene has the
/// ParameterSpec with the unit for its joint.
struct JointParameters {
  static constexpr ParameterSpec torque{.name = "joint_torque",
                                        .unit = "N m",
                                        .meaning = "torque about the axis of a joint, or force along it",
                                        .sample = 0.02,
                                        .by_step = true};
  static constexpr ParameterSpec stiffness{.name = "joint_stiffness",
                                           .unit = "N m",
                                           .meaning = "stiffness of a spring in a joint, or gain of a position servo",
                                           .range = Interval::not_negative(),
                                           .sample = 0.5};
  static constexpr ParameterSpec damping{.name = "joint_damping",
                                         .unit = "N m s",
                                         .meaning = "damping of a joint, or velocity gain of a servo",
                                         .range = Interval::not_negative(),
                                         .sample = 0.01};
  static constexpr ParameterSpec friction{.name = "joint_friction",
                                          .unit = "N m",
                                          .meaning = "friction of a joint, independent of the load",
                                          .range = Interval::not_negative(),
                                          .sample = 0.01};
  static constexpr ParameterSpec limit_stiffness{.name = "joint_limit_stiffness",
                                                 .unit = "N m",
                                                 .meaning = "stiffness of the barrier at the limits of a joint",
                                                 .range = Interval::not_negative(),
                                                 .sample = 0.3};
  static constexpr ParameterSpec target{.name = "joint_target",
                                        .unit = "1",
                                        .meaning = "coordinate of a joint, rad or m, at which its spring has no force",
                                        .sample = 0.2,
                                        .by_step = true};
  static constexpr ParameterSpec point{.name = "joint_point",
                                       .unit = "m",
                                       .meaning = "point of a joint, for the bodies at the rest positions",
                                       .sample = 0.0,
                                       .components = 3};
  static constexpr ParameterSpec axis{.name = "joint_axis",
                                      .unit = "1",
                                      .meaning =
                                          "direction of a joint's axis, of any length, for the bodies at the "
                                          "rest positions",
                                      .components = 3};
  static constexpr ParameterSpec ratio{.name = "joint_ratio",
                                       .unit = "1",
                                       .meaning =
                                           "ratio of a joint's coordinate to the coordinate of the joint that it "
                                           "follows: 1, rad/m or m/rad",
                                       .range = Interval::but_zero(),
                                       .sample = 0.7};
  static constexpr ParameterSpec initial_coordinates{
      .name = "initial_coordinates",
      .unit = "1",
      .meaning = "initial coordinates of the joints in the list `joints`, rad or m"};
  static constexpr ParameterSpec initial_rates{.name = "initial_rates",
                                               .unit = "1/s",
                                               .meaning =
                                                   "initial rates of the coordinates of the joints in the list "
                                                   "`joints`, rad/s or m/s"};
  static constexpr ParameterSpec armature{.name = "joint_armature",
                                          .unit = "kg m²",
                                          .meaning = "inertia of a motor's rotor with respect to a joint's coordinate",
                                          .range = Interval::positive(),
                                          .sample = 2e-4};

  /// Names of the parameters whose unit depends on the kind of the joint, with the units for prismatic joints.
  static constexpr std::pair<std::string_view, std::string_view> prismatic_units[] = {
      {torque.name, "N"},          {stiffness.name, "N/m"}, {damping.name, "N s/m"},
      {friction.name, "N"},        {target.name, "m"},      {limit_stiffness.name, "N/m"},
      {initial_rates.name, "m/s"}, {armature.name, "kg"},   {initial_coordinates.name, "m"}};

  /// Returns `spec`, a member of JointParameters, with the unit for joints of the given kind.
  static constexpr ParameterSpec of_kind(ParameterSpec spec, JointKind kind) {
    for (const auto& [name, unit] : prismatic_units)
      if (kind == JointKind::prismatic && spec.name == name) spec.unit = unit;
    return spec;
  }

  /// Returns `ratio` with the unit for a joint that follows another joint. `kind`: kind of the joint that follows.
  /// `leader`: kind of the joint that is followed.
  static constexpr ParameterSpec of_follower(JointKind kind, JointKind leader) {
    ParameterSpec spec = ratio;
    if (kind != leader) spec.unit = kind == JointKind::prismatic ? "m" : "1/m";
    return spec;
  }
};

}  // namespace diffsim
