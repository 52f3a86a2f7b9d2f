// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "app/inputs.hpp"
#include "app/setup.hpp"
#include "app/text_file.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::app {
namespace {

/// Returns the name of the mesh's body for the name ROBOT/LINK of a robot's link, and `name` for other names. Throws
/// Error (input) for an unknown link, and for a link that a fixed joint joins to another link.
std::string body_of_link(const Scene& scene, const std::string& name) {
  for (const RobotEntry& entry : scene.robots) {
    if (!name.starts_with(entry.name + '/')) continue;
    std::string known;
    for (std::size_t b = 0; b < entry.robot->materials.size(); ++b) {  // the bodies that follow are rotors
      const std::string& body = entry.robot->bodies[b].name;
      const std::string link = body.substr(entry.name.size() + 1);
      if (name == entry.name + '/' + link) return body;
      known += (known.empty() ? "" : ", ") + entry.name + '/' + link;
    }
    throw Error(
        "there is no body '" + name + "'; links that fixed joints connect form one body with the name of the link " +
            "nearest to the base; leave `to` out for a base that is fixed to the world; bodies of the robot: " + known,
        ErrorKind::input);
  }
  return name;
}

}  // namespace

std::vector<std::string> load_robots(MPI_Comm comm, Scene& scene, bool with_surfaces) {
  std::vector<std::string> warnings;
  for (RobotEntry& entry : scene.robots) {
    require_readable(comm, entry.file, entry.place);
    entry.options.with_surfaces = with_surfaces;
    at_place(entry.place, [&] {
      entry.robot = std::make_shared<const Robot>(read_robot(comm, entry.file, entry.name, entry.options));
    });
    for (const DifferentiableMaterial& given : entry.robot->materials) {
      MaterialEntry& material = scene.materials.emplace_back();
      material.model = given.model;
      material.region = RegionName{given.region, entry.place};
      material.body = given.region.substr(0, given.region.find('/'));
      for (const auto& [name, value] : given.values)
        material.values.emplace(name, Numbers{Array{{}, {std::get<double>(value)}}, entry.place});
      material.place = entry.place;
    }
    if (entry.robot->bodies.empty())
      entry.place.fail("no link of this robot moves; give base: free, or a file with a joint that is not fixed");
    for (const std::string& warning : entry.robot->warnings) warnings.push_back(entry.name + ": " + warning);
  }
  for (JointEntry& entry : scene.joints)
    at_place(entry.place, [&] {
      for (std::string* const body : {&entry.joint.body, &entry.joint.other}) *body = body_of_link(scene, *body);
    });
  return warnings;
}

}  // namespace diffsim::app
