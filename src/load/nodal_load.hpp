// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "diffsim/core/force_term.hpp"
#include "load/parameters.hpp"

namespace diffsim {

/// Creates the force term of dead loads on vertices. The force on vertex i is the value p_i (N) of the parameter
/// `nodal_load` [steps, owned vertices, 3].
std::unique_ptr<ForceTerm> make_nodal_load(int num_owned_vertices);

}  // namespace diffsim
