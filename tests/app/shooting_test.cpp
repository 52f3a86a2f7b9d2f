// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Multiple shooting of scenes: a chaotic motion, of whose gradient the runner warns, and whose parameter one long
// rollout does not find.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "cell_model_fixture.hpp"

namespace diffsim::app::shooting_test {
namespace {

/// Mass between two springs that are longer than half the distance of their other ends: a double well. A crank moves
/// one of these ends along a circle. The motion is chaotic.
std::string double_well(double stiffness, int steps, const std::string& more) {
  return "bodies: {well: {kind: springs, mesh: {file: well.obj}, material: {spring_stiffness: " +
         std::to_string(stiffness) +
         ", spring_damping: 0.02, point_mass: 0.05}}}\n"
         "regions:\n"
         "  crank: {body: well, vertices: [0]}\n"
         "  mass: {body: well, vertices: [1]}\n"
         "  post: {body: well, vertices: [2]}\n"
         "boundary:\n"
         "  - {region: post, fix: [x, y, z]}\n"
         "  - {region: mass, fix: [z]}\n"
         "  - {region: crank, move: {axis: [0, 0, 1], origin: [-0.12, 0, 0], angular_velocity: 12}}\n"
         "solver: {integrator: velocity_verlet, dt: 0.01, steps: " +
         std::to_string(steps) + ", substeps: 2, gravity: [0, 0, 0]}\n" + more;
}

std::string search(const std::string& optimiser) {
  return "objective: [{type: track, observations: truth/trajectory.h5, steps: all}]\n"
         "parameters: [{name: spring_stiffness, bounds: [10, 40]}]\n"
         "optimiser: {" +
         optimiser + ", gradient_tolerance: 1.0e-6}\n";
}

class Shooting : public CellModelTest {
 protected:
  void SetUp() override {
    CellModelTest::SetUp();
    write("well.obj", "v -0.1 0 0\nv 0 0.0663324958 0\nv 0.1 0 0\nl 1 2\nl 2 3\n");
  }
};

TEST_F(Shooting, finds_the_parameter_of_a_chaotic_motion) {
  const std::string newton = "method: newton_cg, hessian: gauss_newton, max_iterations: 40";
  write("truth.yaml", double_well(20.0, 400, ""));
  good({"simulate", "truth.yaml"}, "truth");
  write("one.yaml", double_well(22.0, 400, search(newton)));
  run({"invert", "one.yaml"}, "one");
  EXPECT_GT(std::abs(report("one")["parameters"]["spring_stiffness"].get<double>() - 20.0), 1.0);
  write("windows.yaml", double_well(22.0, 400, search(newton + ", shooting: {windows: 20}")));
  good({"invert", "windows.yaml"}, "windows");
  EXPECT_NEAR(report("windows")["parameters"]["spring_stiffness"].get<double>(), 20.0, 1e-4);
  EXPECT_LE(report("windows")["violation"].get<double>(), 1e-4);
  EXPECT_LE(report("windows")["relative_gradient"].get<double>(), 1e-6);
  EXPECT_EQ(report("windows")["initial_loss"].get<double>(), report("one")["initial_loss"].get<double>());
  EXPECT_NE(read("windows/history.csv").find("relative_gradient,violation"), std::string::npos);
}

TEST_F(Shooting, is_advised_by_a_warning) {
  write("truth.yaml", double_well(20.0, 600, ""));
  good({"simulate", "truth.yaml"}, "truth");
  write("one.yaml", double_well(22.0, 600, search("max_iterations: 1")));
  const Ran ran = run({"gradient", "one.yaml"}, "one");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.err.find("the motion is chaotic"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("optimiser.shooting"), std::string::npos) << ran.err;
}

TEST_F(Shooting, is_refused_in_one_line) {
  const auto refused = [&](const std::string& optimiser, const std::string& words) {
    write("bad.yaml", double_well(22.0, 8,
                                  "objective: {type: target_position, region: mass, target: [0, 0, 0]}\n"
                                  "parameters: [{name: spring_stiffness}]\noptimiser: {" +
                                      optimiser + "}\n"));
    const Ran ran = run({"invert", "bad.yaml"}, "bad");
    EXPECT_EQ(ran.code, 2) << words;
    EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(path("bad")));
  };
  refused("shooting: {windows: 4}", "needs `method: newton_cg`");
  refused("method: newton_cg, shooting: {windows: 9}", "9 is above the number of steps; give a number from 2 to 8");
  refused("method: newton_cg, shooting: {windows: 1}", "1 is too small");
  refused("method: newton_cg, shooting: {}", "a number from 2 to solver.steps");
  refused("method: newton_cg, shooting: {windows: 4, tolerance: 0}", "give a number above 0");
}

}  // namespace
}  // namespace diffsim::app::shooting_test
