// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of rigid bodies and joints.
#include <cmath>

#include "cell_model_fixture.hpp"

namespace diffsim::app::rigid_test {
namespace {

const std::string no_more = "parameters: [{name: gravity}]\n";

/// Returns a scene with a door on a post, driven by a torque. `hinge`: further keys of the joint; `door`: of the body.
std::string scene(const std::string& hinge, const std::string& more = no_more, const std::string& door = "density: 600",
                  const std::string& integrator = "velocity_verlet") {
  return "bodies:\n  post: {kind: rigid, mesh: {box: {size: [0.1, 1, 0.1], cells: [1, 1, 1]}}, density: 2000}\n"
         "  door: {kind: rigid, mesh: {box: {size: [0.8, 0.9, 0.04], cells: [1, 1, 1]}}, "
         "placement: {translate: [0.12, 0, 0]}, " +
         door +
         "}\njoints:\n  floor: {kind: fixed, body: post, point: [0, 0, 0]}\n"
         "  hinge: {kind: revolute, body: door, to: post, point: [0.1, 0, 0.02], axis: [0, 1, 0]" +
         hinge + "}\nsolver: {integrator: " + integrator +
         ", dt: 0.01, steps: 20, substeps: 1}\n"
         "objective: [{type: target_position, region: door/all, target: [0, 0.4, -0.5]}]\n" +
         more;
}

class Rigid : public CellModelTest {};

TEST_F(Rigid, turns_by_the_angle_of_its_torque) {
  write("scene.yaml", scene(", torque: 20"));
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> joints = dataset("run/trajectory.h5", "/joints");
  ASSERT_EQ(joints.size(), 21u * 2u);
  EXPECT_TRUE(std::isnan(joints[0]));  // a fixed joint has no coordinate
  // Moment of inertia about the hinge: m (a² + b²)/12 + m d², with the distance d of the centre from the hinge.
  const double m = 600.0 * 0.8 * 0.9 * 0.04, d = 0.12 + 0.4 - 0.1;
  const double inertia = m * (0.8 * 0.8 + 0.04 * 0.04) / 12.0 + m * d * d;
  EXPECT_NEAR(joints[2 * 20 + 1], 0.5 * 20.0 / inertia * 0.2 * 0.2, 2e-6);  // error O(dt²)
}

TEST_F(Rigid, passes_the_check_of_its_gradient) {
  const std::string parameters =
      "parameters:\n  - {name: density, region: door/all}\n  - {name: \"joint_torque:hinge\", per: step}\n"
      "  - {name: \"joint_stiffness:hinge\"}\n  - {name: \"joint_damping:hinge\"}\n  - {name: "
      "\"joint_target:hinge\"}\n";
  for (const std::string integrator : {"symplectic_euler", "velocity_verlet"}) {
    write("scene.yaml",
          scene(", torque: 20, stiffness: 5, damping: 0.5, target: 0.3", parameters, "density: 600", integrator));
    good({"check", "scene.yaml"}, "check");
  }
}

TEST_F(Rigid, refuses_what_it_cannot_do) {
  refused(scene("", no_more, "material: {model: neo_hookean}"), "give `density` next to `mesh`");
  refused(scene("", no_more, "thickness: 0"), "density");
  refused(scene("", "boundary: [{region: door/all, fix: [x, y, z]}]\n" + no_more), "of a rigid body is fixed or moved");
  refused(scene("", no_more, "density: 600", "newmark"), "do not support integrator newmark");
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = scene("");
    return text.replace(text.find(from), from.size(), to);
  };
  refused(changed("to: post", "to: pots"), "'post'");
  refused(changed("to: post", "to: door"), "is the same body");
  refused(changed("axis: [0, 1, 0]", "axis: [0, 0, 0]"), "has no length");
  refused(changed("kind: fixed", "kind: fixed, stiffness: 3"), "only allowed for revolute and prismatic joints");
  refused(changed("hinge:",
                  "again: {kind: revolute, body: door, to: post, point: [0.1, 0.5, 0.02], axis: [0, 1, 0]}\n"
                  "  hinge:"),
          "depend on one another");
}

}  // namespace
}  // namespace diffsim::app::rigid_test
