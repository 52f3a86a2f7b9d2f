// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <string>

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Parameters of contact. Each of the first five may be there again for a pair of bodies or of a body and an obstacle,
/// whose names follow: `friction:A|B`; and `thickness` for a body or an obstacle, `thickness:A`.
struct ContactParameters {
  static constexpr ParameterSpec barrier_distance{.name = "barrier_distance",
                                                  .unit = "m",
                                                  .meaning = "distance d̂ from which on surfaces repel each other",
                                                  .range = Interval::positive()};
  static constexpr ParameterSpec barrier_stiffness{.name = "barrier_stiffness",
                                                   .unit = "Pa",
                                                   .meaning = "stiffness κ of the barrier",
                                                   .range = Interval::positive()};
  static constexpr ParameterSpec friction{.name = "friction",
                                          .meaning = "Coulomb's coefficient µ",
                                          .range = Interval::not_negative(),
                                          .default_value = 0.0};
  static constexpr ParameterSpec friction_velocity{.name = "friction_velocity",
                                                   .unit = "m/s",
                                                   .meaning = "slip ε_v below which friction grows with the slip",
                                                   .range = Interval::positive(),
                                                   .default_value = 1e-5};
  static constexpr ParameterSpec thickness{
      .name = "thickness",
      .unit = "m",
      .meaning = "thickness ξ of bodies in contact: two are kept apart by half of both",
      .range = Interval::not_negative(),
      .default_value = 0.0};
  /// Specs of what a pair may have for itself, κ, d̂, µ, ε_v, ξ in this order.
  static constexpr std::array<ParameterSpec, 5> of_law() {
    return {barrier_stiffness, barrier_distance, friction, friction_velocity, thickness};
  }
  // Of each obstacle, whose label follows: `obstacle_position:LABEL`.
  static constexpr ParameterSpec obstacle_position{
      .name = "obstacle_position",
      .unit = "m",
      .meaning = "translation of an obstacle at the start; of a plane, a point of it",
      .components = 3};
  static constexpr ParameterSpec obstacle_velocity{
      .name = "obstacle_velocity", .unit = "m/s", .meaning = "velocity of an obstacle", .components = 3};
  static constexpr ParameterSpec obstacle_angular_velocity{
      .name = "obstacle_angular_velocity", .unit = "rad/s", .meaning = "angular velocity of an obstacle that turns"};
};

/// Names of the parameters of a law of contact.
struct ContactLawNames {
  std::array<std::string, 4> numbers;    ///< κ, d̂, µ, ε_v
  std::array<std::string, 2> thickness;  ///< of the two of a pair, ξ being their mean; one that is not there is zero

  const std::string& range() const { return numbers[1]; }
  const std::string& friction() const { return numbers[2]; }
  bool operator==(const ContactLawNames&) const = default;
};

/// Names of the parameters of the law that pairs share which have none of their own.
inline ContactLawNames shared_law_names() {
  ContactLawNames names;
  for (std::size_t k = 0; k < names.numbers.size(); ++k) names.numbers[k] = ContactParameters::of_law()[k].name;
  names.thickness.fill(std::string(ContactParameters::thickness.name));
  return names;
}

}  // namespace diffsim
