// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "shell/membrane_energy.hpp"
#include "shell/shell_membranes_impl.hpp"

namespace diffsim {

template std::unique_ptr<ForceTerm> make_shell_membranes<MembraneEnergy>(const std::string&, const TetrahedralMesh&,
                                                                         const std::vector<int>&);

}  // namespace diffsim
