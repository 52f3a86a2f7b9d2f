// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Multiple shooting of scenes: a chaotic motion, of whose gradient the runner warns, and whose parameter one long
// rollout does not find.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "double_well.hpp"

namespace diffsim::app::shooting_test {
namespace {

class Shooting : public DoubleWellTest {};

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
