// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/plane_contact.hpp"

#include <utility>

#include "contact/placed_plane.hpp"
#include "contact/point_obstacle_impl.hpp"
#include "contact/surface_groups.hpp"

namespace diffsim {
namespace {

/// Parameters of the plane's force, in the order in which the force stores their values (contact/plane_force.hpp).
std::vector<PointParameter> parameters_of(const std::string& label, const ContactLawNames& law) {
  using Spec = ContactParameters;
  std::vector<PointParameter> all{PointParameter::of(Spec::obstacle_position, label),
                                  PointParameter::of(Spec::obstacle_velocity, label)};
  for (std::size_t k = 0; k + 1 < law.numbers.size(); ++k) all.push_back({law.numbers[k]});
  const auto add_optional = [&](PointParameter parameter) {
    parameter.is_optional = true;
    all.push_back(std::move(parameter));
  };
  add_optional({law.damping()});
  add_optional(PointParameter::of(Spec::obstacle_angular_velocity, label));
  if (law.has_thickness())
    for (const std::string& name : law.thickness) add_optional({name});
  return all;
}

template <bool thick>
std::unique_ptr<ContactTerm> make(std::shared_ptr<const TetrahedralMesh> mesh, const PlaneShape& plane,
                                  ContactForces forces, const PlaneLaw& law) {
  contact::PlaneForce<thick> force = contact::placed_plane<thick>(plane);
  force.uses_velocities = forces == ContactForces::barrier_and_friction || forces == ContactForces::friction_part;
  force.pushes = forces != ContactForces::friction_part;
  force.codimension = 2 - law.dimension;
  force.is_penalty = law.parameters.is_penalty();
  std::vector<int> vertices = contact::surface_vertices(*mesh, law.regions, law.groups, law.dimension);
  return std::make_unique<contact::PointObstacle<contact::PlaneForce<thick>>>(
      "plane", plane.label, force, parameters_of(plane.label, law.parameters), std::move(mesh), std::move(vertices),
      law.parameters, forces);
}

}  // namespace

std::unique_ptr<ContactTerm> make_plane_contact(std::shared_ptr<const TetrahedralMesh> mesh, const PlaneShape& plane,
                                                ContactForces forces, const PlaneLaw& law) {
  return law.parameters.has_thickness() ? make<true>(std::move(mesh), plane, forces, law)
                                        : make<false>(std::move(mesh), plane, forces, law);
}

}  // namespace diffsim
