// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "diffsim/core/force_term.hpp"

namespace diffsim {

class TetrahedralMesh;

/// Creates the force term of the membrane energy of shells (`ShellMembrane<Membrane>`). `Membrane`: MembraneEnergy or
/// NeoHookeanMembrane. `name`: name of the force term; `triangles`: local indices of the shell's triangles.
template <class Membrane>
std::unique_ptr<ForceTerm> make_shell_membranes(const std::string& name, const TetrahedralMesh& mesh,
                                                const std::vector<int>& triangles);

}  // namespace diffsim
