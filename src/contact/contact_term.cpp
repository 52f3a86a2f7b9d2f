// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/contact_term.hpp"

#include <algorithm>
#include <string_view>

#include "diffsim/contact/parameters.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {

void ContactTerm::begin_adjoint_tangent(const ParameterSet& gradient, const ParameterSet& direction) {
  for (const ParameterSet* set : {&gradient, &direction}) {
    require_derivatives(*set);
    if (set->find("rest_positions"))
      throw Error("no second derivative of the " + name() + " by rest_positions", ErrorKind::input);
  }
}

void ContactTerm::require_derivatives(const ParameterSet& set) const {
  const auto is_of_friction = [](const Parameter& parameter) {
    const std::string_view without_label = std::string_view(parameter.name()).substr(0, parameter.name().find(':'));
    return without_label == ContactParameters::friction.name ||
           without_label == ContactParameters::friction_velocity.name;
  };
  if (!uses_velocities() && std::any_of(set.begin(), set.end(), is_of_friction))
    throw Error("contact was made without friction, so there is no derivative by it; make it with friction",
                ErrorKind::input);
}

}  // namespace diffsim
