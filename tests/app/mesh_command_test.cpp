// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Tests of the command `mesh` on boxes.

#include "commands_testing.hpp"

namespace diffsim::app::mesh_command_test {
namespace {

TEST_F(Commands, MeshReportsRegionsAndTheStableStep) {
  write("s.yaml", bar("2.0e4", ""));
  expect_done(run({"mesh", "s.yaml", "--convert", path("bar.h5")}, "out"));
  double stable = 0.0;
  if (rank_ == 0) {
    const nlohmann::json report = this->report("out");
    EXPECT_NEAR(report["quality"]["volume"].get<double>(), 0.0625, 1e-15);
    EXPECT_EQ(report["partition"]["cells_max"].get<int>() >= 192 / ranks_, true);
    stable = report["stable_time_step"].get<double>();
    EXPECT_NEAR(report["stable_dt"].get<double>(), 2 * stable, 1e-15);
    EXPECT_GT(stable, 1e-4);
    int seen = 0;
    for (const auto& region : report["regions"]) {
      if (region["name"] == "x_max") {
        ++seen;
        EXPECT_EQ(region["faces"], 8);
        EXPECT_EQ(region["vertices"], 9);
        EXPECT_EQ(region["dimension"], 2);
      } else if (region["name"] == "left") {
        ++seen;
        EXPECT_EQ(region["cells"], 96);
      }
    }
    EXPECT_EQ(seen, 2);
  }
  // The converted file contains the same mesh.
  std::string scene = bar("2.0e4", "");
  scene.replace(0, scene.find('\n'), "mesh: {file: bar.h5}");
  write("converted.yaml", scene);
  expect_done(run({"mesh", "converted.yaml"}, "converted"));
  if (rank_ == 0) {
    EXPECT_NEAR(report("converted")["stable_time_step"].get<double>(), stable, 1e-12 * stable);
  }
}

TEST_F(Commands, MeshOfSecondOrder) {
  std::string scene = bar("2.0e4", "");
  replace(scene, "mesh: {", "mesh: {order: 2, ");
  write("s.yaml", scene);
  expect_done(run({"mesh", "s.yaml", "--convert", path("bar.h5")}, "out"));
  replace(scene, scene.substr(0, scene.find('\n')), "mesh: {file: bar.h5, order: 2}");
  write("again.yaml", scene);
  expect_done(run({"mesh", "again.yaml"}, "again"));
  replace(scene, "order: 2", "order: 2, quadrature_degree: 5");
  write("fine.yaml", scene);
  expect_done(run({"mesh", "fine.yaml"}, "fine"));
  replace(scene, "order: 2, quadrature_degree: 5", "order: 1");
  write("corners.yaml", scene);
  expect_done(run({"mesh", "corners.yaml"}, "corners"));
  if (rank_ != 0) return;
  for (const char* folder : {"out", "again"}) {
    const nlohmann::json report = this->report(folder);
    EXPECT_EQ(report["mesh"]["order"], 2);
    EXPECT_EQ(report["mesh"]["quadrature_degree"], 2);
    EXPECT_EQ(report["mesh"]["nodes_per_cell"], 10);
    EXPECT_EQ(report["mesh"]["vertices"], 17 * 5 * 5);
    EXPECT_EQ(report["mesh"]["cells"], 192);
    EXPECT_EQ(report["mesh"]["unused_vertices"], 0);
    EXPECT_NEAR(report["quality"]["volume"].get<double>(), 0.0625, 1e-15);
    for (const auto& region : report["regions"])
      if (region["name"] == "x_max") {
        EXPECT_EQ(region["faces"], 8);
        EXPECT_EQ(region["vertices"], 25);
      }
  }
  EXPECT_EQ(this->report("fine")["mesh"]["quadrature_degree"], 5);
  const nlohmann::json report = this->report("corners");
  EXPECT_EQ(report["mesh"]["order"], 1);
  EXPECT_EQ(report["mesh"]["quadrature_degree"], 1);
  EXPECT_EQ(report["mesh"]["vertices"], 17 * 5 * 5);
  EXPECT_EQ(report["mesh"]["unused_vertices"], 17 * 5 * 5 - 81);
  EXPECT_GT(report["stable_time_step"].get<double>(), 1e-4);
}

}  // namespace
}  // namespace diffsim::app::mesh_command_test
