// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>

#include "diffsim/contact/contact.hpp"
#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Specifications of the parameters of contact. Each parameter of a contact law (see `of_law`) may have a separate
/// value for one pair of surfaces (bodies, regions or obstacles); the name of a pair's parameter ends with the names A
/// and B of the two surfaces, for example `friction:A|B`. The parameter `thickness` may have a separate value for one
/// body or obstacle, with the name `thickness:A`.
struct ContactParameters {
  static constexpr ParameterSpec barrier_distance{.name = "barrier_distance",
                                                  .unit = "m",
                                                  .meaning = "distance d̂ below which surfaces repel each other",
                                                  .range = Interval::positive()};
  static constexpr ParameterSpec barrier_stiffness{.name = "barrier_stiffness",
                                                   .unit = "Pa",
                                                   .meaning = "stiffness κ of the barrier",
                                                   .range = Interval::positive()};
  static constexpr ParameterSpec friction{.name = "friction",
                                          .meaning = "Coulomb's coefficient µ",
                                          .range = Interval::not_negative(),
                                          .default_value = 0.0};
  static constexpr ParameterSpec friction_velocity{
      .name = "friction_velocity",
      .unit = "m/s",
      .meaning = "sliding velocity ε_v below which friction increases with the sliding velocity",
      .range = Interval::positive(),
      .default_value = 1e-5};
  static constexpr ParameterSpec contact_damping{
      .name = "contact_damping",
      .unit = "s/m",
      .meaning = "damping c of penalty contact: relative increase of the pressure per velocity of approach",
      .range = Interval::not_negative(),
      .default_value = 0.0};
  static constexpr ParameterSpec restitution{
      .name = "restitution",
      .meaning = "coefficient of restitution e of impacts: ratio of the normal velocities after and before an impact",
      .range = {.low = 0.0, .high = 1.0, .has_low = true, .has_high = true},
      .default_value = 0.0};
  static constexpr ParameterSpec thickness{
      .name = "thickness",
      .unit = "m",
      .meaning = "thickness ξ of bodies in contact: two surfaces are kept apart by the mean of their thicknesses",
      .range = Interval::not_negative(),
      .default_value = 0.0};
  /// Scale of the contact surface of an affine or rigid body; the name ends with the name of the body, for example
  /// `surface_scale:A`.
  static constexpr ParameterSpec surface_scale{.name = "surface_scale",
                                               .meaning = "scale of the contact surface of an affine or rigid body",
                                               .range = Interval::positive(),
                                               .default_value = 1.0,
                                               .has_second_derivative = false};
  /// Specifications of the parameters of a contact law, in the order κ, d̂, µ, ε_v, c, ξ, e: barrier stiffness, barrier
  /// distance, Coulomb coefficient, friction velocity, damping, thickness, coefficient of restitution.
  static constexpr std::array<ParameterSpec, 7> of_law() {
    return {barrier_stiffness, barrier_distance, friction, friction_velocity, contact_damping, thickness, restitution};
  }
  // Parameters of each obstacle. Names end with the label of the obstacle, for example `obstacle_position:LABEL`.
  static constexpr ParameterSpec obstacle_position{
      .name = "obstacle_position",
      .unit = "m",
      .meaning = "translation of an obstacle at the start; of a plane, a point of it",
      .components = 3};
  static constexpr ParameterSpec obstacle_velocity{
      .name = "obstacle_velocity", .unit = "m/s", .meaning = "velocity of an obstacle", .components = 3};
  static constexpr ParameterSpec obstacle_angular_velocity{
      .name = "obstacle_angular_velocity", .unit = "rad/s", .meaning = "angular velocity of a rotating obstacle"};
};

/// Names of the parameters of a contact law.
struct ContactLawNames {
  /// Names of the parameters κ, d̂, µ, ε_v and c, see ContactParameters. The name of the damping c is empty unless the
  /// contact law is a penalty.
  std::array<std::string, 5> numbers;
  /// Names of two thickness parameters: either those of the two bodies, or of the body and the obstacle, to which the
  /// contact law applies, or twice the name of one parameter for the pair of surfaces (`thickness:A|B`). The thickness
  /// ξ of a contact law is the mean of the two thickness parameters. An empty parameter name, and a parameter that does
  /// not exist, stand for a zero thickness.
  std::array<std::string, 2> thickness;
  /// Name of the coefficient of restitution e; empty unless the contact law is an impact.
  std::string restitution = {};
  ContactLawKind kind = ContactLawKind::barrier;

  const std::string& range() const { return numbers[1]; }
  const std::string& friction() const { return numbers[2]; }
  const std::string& damping() const { return numbers[4]; }
  bool is_penalty() const { return kind == ContactLawKind::penalty; }
  bool is_impact() const { return kind == ContactLawKind::impact; }
  bool has_thickness() const { return !thickness[0].empty() || !thickness[1].empty(); }
  bool operator==(const ContactLawNames&) const = default;
};

/// Returns the parameter names of the shared contact law, for example `friction`. The shared contact law applies to
/// every pair of surfaces (bodies, regions or obstacles) that has no separate contact law.
inline ContactLawNames shared_law_names(ContactLawKind kind = ContactLawKind::barrier) {
  ContactLawNames names;
  names.kind = kind;
  for (std::size_t k = 0; k < names.numbers.size(); ++k) names.numbers[k] = ContactParameters::of_law()[k].name;
  if (!names.is_penalty()) names.numbers[4].clear();
  if (names.is_impact()) names.restitution = ContactParameters::restitution.name;
  names.thickness.fill(std::string(ContactParameters::thickness.name));
  return names;
}

}  // namespace diffsim
