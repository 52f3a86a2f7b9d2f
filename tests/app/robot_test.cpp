// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of robots in URDF files.
#include <array>
#include <cmath>

#include "cell_model_fixture.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/simulation/robot.hpp"

namespace diffsim::app::robot_test {
namespace {

const std::string inertia = "<inertia ixx=\"1e-5\" ixy=\"0\" ixz=\"0\" iyy=\"2e-5\" iyz=\"0\" izz=\"2e-5\"/>";

/// Returns an arm with a revolute, a continuous and a prismatic joint, and a tool on a fixed joint. `slider`: inertia
/// of the last link. `more`: further elements.
std::string arm(const std::string& slider = "<inertial><mass value=\"0.1\"/>" + inertia + "</inertial>",
                const std::string& more = {}, const std::string& rail = {}) {
  return "<robot name=\"arm\">\n<link name=\"world\"/>\n"
         "<link name=\"upper\"><inertial><origin xyz=\"0.15 0 0\"/><mass value=\"0.4\"/>"
         "<inertia ixx=\"1e-4\" ixy=\"0\" ixz=\"0\" iyy=\"3e-3\" iyz=\"0\" izz=\"3.05e-3\"/></inertial>"
         "<collision><origin xyz=\"0.15 0 0\"/><geometry><box size=\"0.3 0.04 0.04\"/></geometry></collision></link>\n"
         "<link name=\"lower\"><inertial><origin xyz=\"0.1 0.01 0\" rpy=\"0.1 0.2 0.3\"/><mass value=\"0.2\"/>"
         "<inertia ixx=\"1e-4\" ixy=\"1e-5\" ixz=\"0\" iyy=\"1e-3\" iyz=\"2e-5\" izz=\"1.02e-3\"/></inertial></link>\n"
         "<link name=\"tool\"><inertial><origin xyz=\"0.05 0 0\"/><mass value=\"0.05\"/>" +
         inertia + "</inertial></link>\n<link name=\"slider\">" + slider +
         "</link>\n"
         "<joint name=\"shoulder\" type=\"revolute\"><parent link=\"world\"/><child link=\"upper\"/>"
         "<origin xyz=\"0 0 0.1\" rpy=\"0.2 0 0\"/><axis xyz=\"0 0 1\"/>"
         "<limit lower=\"-2\" upper=\"2\" effort=\"10\" velocity=\"5\"/><dynamics damping=\"0.02\"/></joint>\n"
         "<joint name=\"elbow\" type=\"continuous\"><parent link=\"upper\"/><child link=\"lower\"/>"
         "<origin xyz=\"0.3 0 0\" rpy=\"0 0.1 0.2\"/><axis xyz=\"0 1 0.3\"/></joint>\n"
         "<joint name=\"flange\" type=\"fixed\"><parent link=\"lower\"/><child link=\"tool\"/>"
         "<origin xyz=\"0.2 0 0\" rpy=\"0 0 0.3\"/></joint>\n"
         "<joint name=\"rail\" type=\"prismatic\"><parent link=\"tool\"/><child link=\"slider\"/>"
         "<origin xyz=\"0.1 0 0\"/><axis xyz=\"1 0 0.2\"/>" +
         rail + "<limit lower=\"-1\" upper=\"1\" effort=\"10\" velocity=\"5\"/></joint>\n" + more + "</robot>\n";
}

/// Returns a scene with the arm. `joints`: further initial coordinates.
std::string scene(double dt = 1e-3, int steps = 20, const std::string& more = "parameters: [{name: gravity}]\n",
                  const std::string& joints = {}) {
  return "bodies:\n  arm: {urdf: arm.urdf, base: fixed, initial: {joints: {shoulder: -0.2, elbow: 0.3, rail: 0.05" +
         joints +
         "}}}\n"
         "boundary:\n  - {joint: arm/shoulder, torque: 0.3}\n  - {joint: arm/elbow, torque: 0.05}\n"
         "  - {joint: arm/rail, torque: -0.1}\n"
         "solver: {integrator: velocity_verlet, dt: " +
         std::to_string(dt) + ", steps: " + std::to_string(steps) +
         ", substeps: 1, gravity: [0, 0, -9.81]}\n"
         "objective: [{type: target_position, region: arm/slider, target: [0.2, 0.3, 0]}]\n" +
         more;
}

class RobotTest : public CellModelTest {
 protected:
  void SetUp() override {
    CellModelTest::SetUp();
    write("arm.urdf", arm());
    write("scene.yaml", scene(1e-3, 1));
    const Ran ran = run({"simulate", "scene.yaml"}, "first");
    // The first rank has the message; the exit code is the same on all ranks.
    int without = rank_ == 0 && ran.err.find("does not read URDF files") != std::string::npos ? 1 : 0;
    DIFFSIM_MPI(MPI_Bcast(&without, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (without) GTEST_SKIP() << "this build does not read URDF files";
  }
  /// Checks that a URDF file is refused with a message that contains `says`.
  void refused_file(const std::string& text, const std::string& says) {
    write("arm.urdf", text);
    refused(scene(), says);
  }
};

TEST_F(RobotTest, accelerates_as_the_equations_of_motion_say) {
  // Accelerations of the joints from rest, computed with Pinocchio 4.1 (articulated body algorithm).
  const double expected[3] = {-5.732819181845322, 35.95974103839898, 2.492312080248714};
  std::vector<double> found;
  for (const double dt : {2e-3, 1e-3}) {
    write("scene.yaml", scene(dt, 1));
    good({"simulate", "scene.yaml"}, "run");
    const std::vector<double> q = dataset("run/trajectory.h5", "/bodies/arm/joints");
    ASSERT_EQ(q.size(), 6u);
    for (std::size_t j = 0; j < 3; ++j) found.push_back(2.0 * (q[3 + j] - q[j]) / (dt * dt));
    EXPECT_NEAR(q[0], -0.2, 1e-13);
    EXPECT_NEAR(q[1], 0.3, 1e-13);
    EXPECT_NEAR(q[2], 0.05, 1e-13);
  }
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_NEAR((4.0 * found[3 + j] - found[j]) / 3.0, expected[j], 1e-6 * std::abs(expected[j]));
}

/// A weight that a fixed joint of the scene connects with a link moves as a link of the URDF file does.
TEST_F(RobotTest, carries_a_body_of_the_scene) {
  const std::string weight =
      "<inertial><mass value=\"0.125\"/><inertia ixx=\"5.208333333333333e-5\" ixy=\"0\" ixz=\"0\" "
      "iyy=\"5.208333333333333e-5\" iyz=\"0\" izz=\"5.208333333333333e-5\"/></inertial>";
  write("arm.urdf", arm("<inertial><mass value=\"0.1\"/>" + inertia + "</inertial>",
                        "<link name=\"load\">" + weight +
                            "</link><joint name=\"weld\" type=\"fixed\"><parent link=\"upper\"/>"
                            "<child link=\"load\"/><origin xyz=\"0.2 0.1 0.05\" rpy=\"-0.2 0 0\"/></joint>\n"));
  std::string text = scene(1e-3, 20);
  write("scene.yaml", text);
  good({"simulate", "scene.yaml"}, "whole");
  const std::vector<double> expected = dataset("whole/trajectory.h5", "/bodies/arm/joints");
  // The shoulder is at (0, 0, 0.1), turned by 0.2 rad about x, and by its coordinate, -0.2 rad, about its z axis.
  const double c = std::cos(0.2), s = std::sin(0.2);
  const std::array<double, 3> in_upper{0.2 * c + 0.1 * s, -0.2 * s + 0.1 * c, 0.05};
  const std::array<double, 3> at{in_upper[0], in_upper[1] * c - in_upper[2] * s,
                                 0.1 + in_upper[1] * s + in_upper[2] * c};
  const auto list = [](const std::array<double, 3>& x) {
    return "[" + std::to_string(x[0]) + ", " + std::to_string(x[1]) + ", " + std::to_string(x[2]) + "]";
  };
  write("arm.urdf", arm());
  text.insert(
      text.find("boundary:"),
      "  load: {kind: rigid, density: 1000, mesh: {box: {size: [0.05, 0.05, 0.05], cells: [1, 1, 1]}}, placement: "
      "{translate: " +
          list({at[0] - 0.025, at[1] - 0.025, at[2] - 0.025}) +
          "}}\njoints:\n  weld: {kind: fixed, body: load, to: arm/upper, point: " + list(at) + "}\n");
  write("scene.yaml", text);
  good({"simulate", "scene.yaml"}, "parts");
  const std::vector<double> found = dataset("parts/trajectory.h5", "/bodies/arm/joints");
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6);
  std::string hooked = text;
  hooked.replace(hooked.find("{kind: fixed, body: load"), 24, "{kind: revolute, axis: [0, 0, 1], body: load");
  hooked.replace(hooked.find("objective: ["), 12, "objective: [{type: joint, joint: weld, target: 0.3}, ");
  write("scene.yaml", hooked);
  good({"check", "scene.yaml"}, "check");
  refused(
      [&] {
        std::string wrong = text;
        wrong.replace(wrong.find("to: arm/upper"), 13, "to: arm/tool");
        return wrong;
      }(),
      "there is no body 'arm/tool'");
  refused(
      [&] {
        std::string wrong = text;
        wrong.replace(wrong.find("to: arm/upper"), 13, "to: leg/upper");
        return wrong;
      }(),
      "there is no 'leg/upper'");
}

TEST_F(RobotTest, begins_with_the_velocities_of_its_joints) {
  std::string text = scene(1e-5, 1);
  text.replace(text.find("rail: 0.05}"), 11, "rail: 0.05}, joint_velocities: {shoulder: 0.7, elbow: -1.1, rail: 0.4}");
  write("scene.yaml", text);
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> q = dataset("run/trajectory.h5", "/bodies/arm/joints");
  const double expected[3] = {0.7, -1.1, 0.4};
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR((q[3 + j] - q[j]) / 1e-5, expected[j], 1e-3);  // error O(dt)
}

TEST_F(RobotTest, joints_have_the_friction_and_limits_of_the_file) {
  std::string text = arm();
  const std::string damping = "<dynamics damping=\"0.02\"/>";
  text.replace(text.find(damping), damping.size(), "<dynamics damping=\"0.02\" friction=\"0.4\"/>");
  write("arm.urdf", text);
  const Robot robot = read_robot(MPI_COMM_WORLD, path("arm.urdf"), "arm");
  const JointDrive& shoulder = robot.drives.at("arm/shoulder");
  EXPECT_EQ(shoulder.damping, 0.02);
  EXPECT_EQ(shoulder.friction, 0.4);
  EXPECT_EQ(shoulder.limits, (std::array{-2.0, 2.0}));
  EXPECT_NEAR(shoulder.barrier_distance(), 0.04, 1e-15);
  EXPECT_NEAR(shoulder.limit_stiffness, 10.0 / 0.04, 1e-10);  // effort / distance
  EXPECT_EQ(robot.drives.at("arm/rail").limits, (std::array{-1.0, 1.0}));
  EXPECT_EQ(robot.drives.count("arm/elbow"), 0u);  // continuous, without friction
  EXPECT_TRUE(robot.warnings.empty());
  // A limit at the coordinate 0, which the user did not choose, has no effect; at a chosen coordinate it is refused.
  text.replace(text.find("lower=\"-1\""), 10, "lower=\"0\"");
  write("arm.urdf", text);
  const Robot without = read_robot(MPI_COMM_WORLD, path("arm.urdf"), "arm");
  EXPECT_EQ(without.drives.count("arm/rail"), 0u);
  ASSERT_EQ(without.warnings.size(), 1u);
  EXPECT_NE(without.warnings[0].find("limits of position are not enforced at the joints rail"), std::string::npos);
  RobotOptions chosen;
  chosen.coordinates["rail"] = 0.0;
  EXPECT_EQ(read_robot(MPI_COMM_WORLD, path("arm.urdf"), "arm", chosen).drives.count("arm/rail"), 1u);
}

TEST_F(RobotTest, joints_follow_the_joints_that_they_mimic) {
  write("arm.urdf", arm("<inertial><mass value=\"0.1\"/>" + inertia + "</inertial>", {},
                        "<mimic joint=\"elbow\" multiplier=\"-0.2\" offset=\"0.11\"/>"));
  std::string text = scene(1e-3, 100);
  text.replace(text.find("rail: 0.05}"), 11,
               "rail: 0.05}, joint_velocities: {elbow: -1.1}");  // 0.05 = 0.11 - 0.2 · 0.3
  write("scene.yaml", text);
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> q = dataset("run/trajectory.h5", "/bodies/arm/joints");
  ASSERT_EQ(q.size(), 303u);
  for (std::size_t n = 0; n <= 100; ++n) EXPECT_NEAR(q[3 * n + 2], 0.11 - 0.2 * q[3 * n + 1], 1e-12) << n;
  EXPECT_NEAR(q[4] - q[1], -1.1e-3, 1e-4);
  EXPECT_GT(std::abs(q[301] - q[1]), 0.01);
  text.replace(text.find("{name: gravity}"), 15, "{name: \"joint_ratio:arm/rail\"}");
  write("scene.yaml", text);
  good({"check", "scene.yaml"}, "check");
}

TEST_F(RobotTest, links_without_shapes_have_no_contact) {
  // `lower` and `slider`, which have no shapes, are behind the plane; the box of `upper` is near the plane.
  const std::string contact =
      "contact: {barrier_distance: 5.0e-3, barrier_stiffness: 1.0e4, obstacles: [{plane: {point: [0.301, 0, 0], "
      "normal: [-1, 0, 0]}}]}\n";
  write("scene.yaml", scene(1e-4, 10, contact));
  const Ran ran = good({"simulate", "scene.yaml"}, "touching");
  write("scene.yaml", scene(1e-4, 10, ""));
  good({"simulate", "scene.yaml"}, "free");
  EXPECT_NE(dataset("touching/trajectory.h5", "/bodies/arm/joints"),
            dataset("free/trajectory.h5", "/bodies/arm/joints"));
}

TEST_F(RobotTest, two_robots_and_other_bodies) {
  std::string free = arm();
  free.replace(free.find("<link name=\"world\"/>"), 20,
               "<link name=\"world\"><inertial><mass value=\"2\"/>" + inertia + "</inertial></link>");
  write("free.urdf", free);
  write("scene.yaml",
        "bodies:\n  left: {urdf: arm.urdf, initial: {joints: {elbow: 0.3}}}\n"
        "  right: {urdf: free.urdf, base: free, placement: {translate: [0, 5, 0]}}\n"
        "  soft: {mesh: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}, placement: {translate: [3, 0, 0]}, "
        "material: {model: neo_hookean, density: 100, youngs_modulus: 1.0e4, poisson_ratio: 0.3}}\n"
        "  door: {kind: rigid, mesh: {box: {size: [0.4, 0.1, 0.1], cells: [1, 1, 1]}}, "
        "placement: {translate: [0, -5, 0]}, density: 100}\n"
        "joints:\n  hinge: {kind: revolute, body: door, point: [0, -5, 0], axis: [0, 1, 0], torque: 0.1}\n"
        "boundary: [{joint: right/elbow, torque: 0.05}, {joint: left/shoulder, damping: 0.01}]\n"
        "solver: {integrator: symplectic_euler, dt: 1.0e-4, steps: 20, substeps: 1, damping: 1, gravity: 0}\n"
        "objective:\n  - {type: joint, joint: right/elbow, target: 1}\n  - {type: joint, joint: hinge, target: 1}\n"
        "  - {type: target_position, region: right/slider, target: [0, 0, 0]}\n"
        "parameters:\n  - {name: \"joint_torque:right/elbow\"}\n  - {name: \"joint_torque:hinge\"}\n"
        "  - {name: density, region: right.lower/all}\n  - {name: \"joint_axis:right/rail\"}\n"
        "  - {name: \"joint_point:right/shoulder\"}\n");
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> hinge = dataset("run/trajectory.h5", "/joints"),
                            left = dataset("run/trajectory.h5", "/bodies/left/joints"),
                            right = dataset("run/trajectory.h5", "/bodies/right/joints");
  ASSERT_EQ(hinge.size(), 21u);
  ASSERT_EQ(left.size(), 21u * 3u);
  ASSERT_EQ(right.size(), 21u * 3u);
  EXPECT_GT(hinge[20], 0.0);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(left[60 + j], j == 1 ? 0.3 : 0.0, 1e-12);  // no force acts there
  EXPECT_GT(right[61], 1e-6);
  good({"check", "scene.yaml"}, "check");
}

TEST_F(RobotTest, passes_the_check_of_its_gradient) {
  write(
      "scene.yaml",
      scene(1e-3, 20,
            "parameters:\n  - {name: density}\n  - {name: gravity}\n  - {name: \"joint_torque:arm/elbow\", per: step}\n"
            "  - {name: \"joint_torque:arm/rail\"}\n  - {name: \"joint_damping:arm/shoulder\"}\n"));
  good({"check", "scene.yaml"}, "check");
}

TEST_F(RobotTest, refuses_the_placement_of_a_joint_that_does_not_exist) {
  write("scene.yaml", scene(1e-3, 2, "parameters: [{name: \"joint_axis:arm/elbo\"}]\n"));
  const Ran ran = run({"gradient", "scene.yaml"}, "run");
  EXPECT_EQ(ran.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("the scene has no parameter 'joint_axis:arm/elbo'"), std::string::npos) << ran.err;
  }
}

TEST_F(RobotTest, has_armatures) {
  const auto with_armature = [](const std::string& armatures, const std::string& parameters) {
    std::string text = scene(1e-3, 20, parameters);
    return text.insert(text.find("base: fixed") + 11, ", armature: {" + armatures + "}");
  };
  const std::string gravity = "parameters: [{name: gravity}]\n";
  write("scene.yaml", with_armature("shoulder: 0.02, rail: 0.3",
                                    "parameters:\n  - {name: gravity}\n  - {name: \"joint_armature:arm/shoulder\"}\n"
                                    "  - {name: \"joint_armature:arm/rail\"}\n"));
  good({"check", "scene.yaml"}, "check");
  refused(with_armature("elbo: 1", gravity), "there is no joint 'elbo'; did you mean 'elbow'?");
  refused(with_armature("flange: 1", gravity), "joint 'flange' is fixed; remove it from the armatures");
  refused(with_armature("elbow: -1", gravity), "-1 is not positive");
}

TEST_F(RobotTest, refuses_what_it_cannot_do) {
  refused(scene(1e-3, 1, "parameters: [{name: gravity}]\n", ", elbo: 1"),
          "there is no joint 'elbo'; did you mean 'elbow'?");
  refused(scene(1e-3, 1, "parameters: [{name: gravity}]\n", ", flange: 1"), "joint 'flange' is fixed");
  std::string outside = scene();
  outside.replace(outside.find("rail: 0.05"), 10, "rail: 1.5");
  refused(outside, "joint 'arm/rail': the initial coordinate 1.5 must be between the limits [-1, 1]");
  write("arm.urdf", "<robot name=\"a\"><link name=\"base\"/></robot>");
  std::string still = scene();
  still.replace(still.find(", initial: {joints"), still.find("}}}") + 2 - still.find(", initial: {joints"), "");
  refused(still, "no link of this robot moves");
  refused_file(arm(""), "link 'slider' moves but has no mass");
  refused_file(arm("<inertial><mass value=\"-1\"/>" + inertia + "</inertial>"), "link 'slider' has the mass");
  refused_file(arm("<inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"2\" iyz=\"0\" "
                   "izz=\"4\"/></inertial>"),
               "link 'slider': the moments of inertia are impossible");
  const auto with_mimic = [](const std::string& attributes) {
    return arm("<inertial><mass value=\"0.1\"/>" + inertia + "</inertial>", {}, "<mimic " + attributes + "/>");
  };
  refused_file(with_mimic("joint=\"elbo\""), "joint 'rail' mimics joint 'elbo', which does not exist");
  refused_file(with_mimic("joint=\"flange\""), "both must be revolute, continuous or prismatic");
  refused_file(with_mimic("joint=\"rail\""), "joint 'rail' mimics itself");
  refused_file(with_mimic("joint=\"elbow\" multiplier=\"0\""), "it must not be zero");
  refused_file(with_mimic("joint=\"elbow\""), "so its initial value must be 0.300000, not 0.050000; remove it");
  refused_file("<robot/>", "arm.urdf");
  refused_file("no XML", "arm.urdf");
  write("arm.urdf", arm());
  std::string text = scene();
  text.replace(text.find("joint: arm/elbow"), 16, "joint: arm/elbo ");
  refused(text, "did you mean 'arm/elbow'?");
  text = scene();
  text.replace(text.find("joint: arm/elbow"), 16, "joint: arm/rail ");
  refused(text, "is already driven");
}

}  // namespace
}  // namespace diffsim::app::robot_test
