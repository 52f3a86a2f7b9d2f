// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/simulation/robot.hpp"

#include "diffsim/core/error.hpp"
#include "diffsim/simulation/scene.hpp"

namespace diffsim {

void add_joints(DifferentiableScene& scene, const Robot& robot, const std::map<std::string, JointDrive>& drives) {
  std::map<std::string, JointDrive> all = drives;
  all.insert(robot.drives.begin(), robot.drives.end());
  for (const Joint& joint : robot.joints) {
    scene.join(joint);
    if (const auto drive = all.find(joint.name); drive != all.end()) scene.drive(joint.name, drive->second);
  }
}

void add_velocities(const TetrahedralMesh& mesh, const Robot& robot, std::vector<double>& velocities) {
  for (std::size_t b = 0; b < robot.velocities.size(); ++b)
    add_rigid_velocity(mesh, robot.bodies[b].name, robot.velocities[b][0], robot.velocities[b][1], velocities);
}

}  // namespace diffsim
