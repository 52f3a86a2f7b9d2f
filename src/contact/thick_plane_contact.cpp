// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

// Planes with a thickness: objects of their own, so that planes without one cost nothing.

#include "plane_contact_impl.hpp"

namespace diffsim {

std::unique_ptr<ContactTerm> make_thick_plane_contact(std::shared_ptr<const TetrahedralMesh> mesh,
                                                      const PlaneShape& plane, ContactForces forces,
                                                      const PlaneLaw& law) {
  return std::make_unique<PlaneContact<true>>(std::move(mesh), plane, forces, law);
}

}  // namespace diffsim
