// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "app/inputs.hpp"
#include "app/setup.hpp"
#include "app/text_file.hpp"

namespace diffsim::app {

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
  return warnings;
}

}  // namespace diffsim::app
