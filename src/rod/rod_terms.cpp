// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "rod/rod_terms.hpp"

#include "diffsim/core/stencil_term_impl.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "rod/rod_energies.hpp"
#include "rod/rod_joints.hpp"
#include "rod/rod_stencils.hpp"

namespace diffsim::rod {

std::vector<std::unique_ptr<ForceTerm>> make_terms(const TetrahedralMesh& mesh, const std::vector<int>& segments,
                                                   const RodSection& section,
                                                   const std::vector<PointParameter>& parameters) {
  const LowerCellSet& all = mesh.lower_cells(CellKind::segment);
  require_directors(mesh, segments);
  std::vector<std::unique_ptr<ForceTerm>> terms;
  terms.push_back(std::make_unique<StencilTerm<RodStretch>>("stretching of rods", RodStretch{section}, parameters,
                                                            ends_of(all, segments, false), segments, all.num()));
  terms.push_back(std::make_unique<StencilTerm<RodSectionShape>>(
      "sections of rods", RodSectionShape{section}, parameters, ends_of(all, segments, true), segments, all.num()));
  for (const Beyond beyond : {Beyond::segment, Beyond::wall, Beyond::direction})
    terms.push_back(make_joints(mesh, segments, RodJoint{beyond, section}, parameters));
  return terms;
}

}  // namespace diffsim::rod
