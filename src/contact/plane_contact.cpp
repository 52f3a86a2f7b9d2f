// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "plane_contact_impl.hpp"

namespace diffsim {

std::unique_ptr<ContactTerm> make_plane_contact(std::shared_ptr<const TetrahedralMesh> mesh, const PlaneShape& plane,
                                                ContactForces forces, const PlaneLaw& law) {
  const auto& [a, b] = law.parameters.thickness;
  if (!a.empty() || !b.empty()) return make_thick_plane_contact(std::move(mesh), plane, forces, law);
  return std::make_unique<PlaneContact<false>>(std::move(mesh), plane, forces, law);
}

}  // namespace diffsim
