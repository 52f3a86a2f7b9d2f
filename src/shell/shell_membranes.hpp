// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Creates the force term of the membranes of shells (`ShellMembrane<Membrane>`) on local triangles. `Membrane`:
/// MembraneEnergy or NeoHookeanMembrane. `name`: name of the term.
template <class Membrane>
std::unique_ptr<ForceTerm> make_shell_membranes(const std::string& name, const TetrahedralMesh& mesh,
                                                const std::vector<int>& triangles);

}  // namespace diffsim
