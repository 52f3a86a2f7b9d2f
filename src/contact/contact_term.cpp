// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/contact_term.hpp"

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
  if (!uses_velocities() && (set.find("friction") || set.find("friction_velocity")))
    throw Error("contact was made without friction, so there is no derivative by it; make it with friction",
                ErrorKind::input);
}

}  // namespace diffsim
