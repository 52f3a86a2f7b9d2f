// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "contact/parameters.hpp"
#include "diffsim/core/impl/point_parameters_impl.hpp"

namespace diffsim::contact {

/// Returns the parameters of an impact on the plane `label`, in the order of the values of a PlaneForce<thick>. The
/// coefficient of restitution has the index `PlaneForce::damping`. Without a thickness in `law`, the thicknesses of a
/// PlaneForce<true> are zero.
inline std::vector<PointParameter> impact_parameters(const std::string& label, const ContactLawNames& law, bool thick) {
  using Spec = ContactParameters;
  std::vector<PointParameter> all{PointParameter::of(Spec::obstacle_position, label),
                                  PointParameter::of(Spec::obstacle_velocity, label),
                                  PointParameter::unused(),
                                  PointParameter::unused(),
                                  {law.friction()},
                                  PointParameter::unused(),
                                  {law.restitution}};
  std::vector<std::string> optional{PointParameter::of(Spec::obstacle_angular_velocity, label).name};
  if (law.has_thickness()) optional.insert(optional.end(), law.thickness.begin(), law.thickness.end());
  for (const std::string& name : optional) {
    all.push_back({name});
    all.back().is_optional = true;
  }
  if (thick && !law.has_thickness()) all.insert(all.end(), 2, PointParameter::unused());
  return all;
}

}  // namespace diffsim::contact
