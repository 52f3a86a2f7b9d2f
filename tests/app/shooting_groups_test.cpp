// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Multiple shooting on groups of processes.
#include <filesystem>
#include <string>

#include "double_well.hpp"

namespace diffsim::app::shooting_groups_test {
namespace {

class ShootingGroups : public DoubleWellTest {};

// The crank, which prescribes the motion of a vertex, turns and moves: groups share the windows with the crank's
// origin.
TEST_F(ShootingGroups, shares_the_windows_among_groups) {
  const std::string newton = "method: newton_cg, hessian: gauss_newton, max_iterations: 40, shooting: {windows: 12}";
  const auto drifting = [](std::string scene) {
    const std::string turns = "angular_velocity: 12";
    return scene.replace(scene.find(turns), turns.size(), turns + ", velocity: [0.004, 0, 0]");
  };
  write("truth.yaml", drifting(double_well(20.0, 200, "")));
  good({"simulate", "truth.yaml"}, "truth");
  write("windows.yaml", drifting(double_well(20.5, 200, search(newton))));
  const std::string groups = std::to_string(ranks_);
  good({"invert", "windows.yaml", "--groups", groups}, "groups");
  const Ran late = run({"invert", "windows.yaml", "--groups", groups, "--time-limit", "60"}, "late");
  const Ran few = run({"gradient", "windows.yaml", "--groups", groups}, "few");
  EXPECT_EQ(late.code, 2);
  EXPECT_EQ(few.code, 2);
  if (rank_ != 0) return;
  EXPECT_NE(late.err.find("--time-limit: is not available with --groups"), std::string::npos) << late.err;
  EXPECT_NE(few.err.find("needs a scene with `experiments`, or `invert` with `optimiser.shooting`"), std::string::npos)
      << few.err;
  const auto found = report("groups");
  EXPECT_NEAR(found["parameters"]["spring_stiffness"].get<double>(), 20.0, 1e-4);
  EXPECT_LE(found["violation"].get<double>(), 1e-4);
  EXPECT_LE(found["relative_gradient"].get<double>(), 1e-6);
  EXPECT_EQ(found["groups"].get<int>(), ranks_);
  EXPECT_TRUE(std::filesystem::exists(path("groups/trajectory.h5")));
}

}  // namespace
}  // namespace diffsim::app::shooting_groups_test
