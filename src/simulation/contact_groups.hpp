// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diffsim/contact/plane_contact.hpp"
#include "diffsim/contact/surface_contact.hpp"
#include "diffsim/simulation/contact.hpp"

namespace diffsim {

/// Names of all that may touch, and the laws of their pairs.
class ContactGroups {
 public:
  ContactGroups(const ContactOptions& options, const std::vector<MeshBody>& bodies);

  std::size_t num_bodies() const { return num_bodies_; }
  /// Of bodies, planes, obstacles of triangles, in this order.
  const std::vector<std::string>& names() const { return names_; }
  const std::string& plane(std::size_t k) const { return names_[num_bodies_ + k]; }
  const std::string& mesh(std::size_t k) const { return names_[num_bodies_ + num_planes_ + k]; }
  /// Place of a name in `names`; their number for one that is not there.
  std::size_t find(const std::string& name) const;

  /// Laws of a plane with each body, those that share one together.
  std::vector<PlaneLaw> laws_of_plane(std::size_t plane) const;
  /// Laws of bodies and obstacles of triangles that are not the shared one.
  std::vector<GroupLaw> laws_of_surfaces() const;

 private:
  const ContactOptions* options_;
  std::size_t num_bodies_, num_planes_;
  std::vector<std::string> names_;
};

}  // namespace diffsim
