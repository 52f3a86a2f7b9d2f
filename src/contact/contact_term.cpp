// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/contact/contact_term.hpp"

#include "diffsim/core/error.hpp"

namespace diffsim {

void ContactTerm::require_derivatives(const ParameterSet& set, bool with_friction) {
  if (!with_friction && (set.find("friction") || set.find("friction_velocity")))
    throw Error("contact was made without friction, so there is no derivative by it; make it with friction",
                ErrorKind::input);
}

}  // namespace diffsim
