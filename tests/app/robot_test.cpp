// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of robots in URDF files.
#include <cmath>

#include "cell_model_fixture.hpp"
#include "diffsim/core/error.hpp"

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
    EXPECT_NEAR(q[0], -0.2, 1e-15);
    EXPECT_NEAR(q[1], 0.3, 1e-15);
    EXPECT_NEAR(q[2], 0.05, 1e-15);
  }
  for (std::size_t j = 0; j < 3; ++j)
    EXPECT_NEAR((4.0 * found[3 + j] - found[j]) / 3.0, expected[j], 1e-6 * std::abs(expected[j]));
}

TEST_F(RobotTest, passes_the_check_of_its_gradient) {
  write(
      "scene.yaml",
      scene(1e-3, 20,
            "parameters:\n  - {name: density}\n  - {name: gravity}\n  - {name: \"joint_torque:arm/elbow\", per: step}\n"
            "  - {name: \"joint_torque:arm/rail\"}\n  - {name: \"joint_damping:arm/shoulder\"}\n"));
  good({"check", "scene.yaml"}, "check");
}

TEST_F(RobotTest, refuses_what_it_cannot_do) {
  refused(scene(1e-3, 1, "parameters: [{name: gravity}]\n", ", elbo: 1"),
          "there is no joint 'elbo'; did you mean 'elbow'?");
  refused_file(arm(""), "link 'slider' moves but has no mass");
  refused_file(arm("<inertial><mass value=\"-1\"/>" + inertia + "</inertial>"), "link 'slider' has the mass");
  refused_file(arm("<inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"2\" iyz=\"0\" "
                   "izz=\"4\"/></inertial>"),
               "link 'slider': the moments of inertia are impossible");
  refused_file(arm("<inertial><mass value=\"0.1\"/>" + inertia + "</inertial>", {}, "<mimic joint=\"elbow\"/>"),
               "joint 'rail' mimics joint 'elbow'");
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
