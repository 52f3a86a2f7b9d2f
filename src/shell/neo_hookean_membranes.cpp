// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shell/neo_hookean_membrane.hpp"
#include "shell/shell_membranes_impl.hpp"

namespace diffsim {

template std::unique_ptr<ForceTerm> make_shell_membranes<NeoHookeanMembrane>(const std::string&, const TetrahedralMesh&,
                                                                             const std::vector<int>&);

}  // namespace diffsim
