// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Command `tangent`: derivatives of the motion and of reactions against differences of simulations, and the derivative
// of the loss against the gradient.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cell_model_fixture.hpp"

namespace diffsim::app::tangent_command_test {
namespace {

/// Returns a scene with a block on a plane with friction. `modulus`, `velocity` and `steps` of gravity are values.
std::string scene(const std::string& integrator, double change, const std::string& more) {
  const auto number = [](double value) {
    std::ostringstream text;
    text.precision(17);
    text << std::scientific << value;
    return text.str();
  };
  return "mesh: {box: {size: [0.3, 0.1, 0.1], cells: [3, 1, 1]}}\n"
         "material: {model: neo_hookean, density: 1000, youngs_modulus: " +
         number(5e4 + 2e4 * change) +
         ", poisson_ratio: 0.3}\n"
         "solver: {integrator: " +
         integrator + ", dt: 0.002, steps: 7, gravity: [" + number(0.3 * change) + ", " + number(-9.8 + change) +
         ", 0], newton: {tolerance: 1.0e-12}}\n"
         "boundary: [{region: x_min, fix: [x, y, z]}]\n"
         "contact: {barrier_distance: 4.0e-3, barrier_stiffness: 1.0e+5, friction: 0.3, friction_velocity: 0.05, "
         "obstacles: [{plane: {point: [0, -0.002, 0], normal: [0, 1, 0]}}]}\n"
         "objective: [{type: target_position, region: x_max, target: [0.31, 0.06, 0.05]}]\n"
         "output: {every: 3, fields: [positions, velocities, reactions]}\n" +
         more;
}
const std::string directions =
    "parameters: [{name: youngs_modulus, direction: 2.0e+4}, {name: gravity, direction: [0.3, 1, 0]}]\n";

class TangentCommand : public CellModelTest {};

TEST_F(TangentCommand, is_the_derivative_of_simulations) {
  for (const std::string integrator : {"symplectic_euler", "implicit_euler"}) {
    const auto text = [&](double change, const std::string& more) {
      std::string all = scene(integrator, change, more);
      if (integrator == "symplectic_euler")
        all.replace(all.find("newton: {tolerance: 1.0e-12}"), 28, "substeps: 3, damping: 1");
      return all;
    };
    write("scene.yaml", text(0.0, directions));
    good({"tangent", "scene.yaml"}, "tangent");
    const double h = 1e-3;
    const std::vector<std::string> names{"/positions", "/velocities", "/reaction/x_min"};
    std::vector<std::vector<double>> difference(names.size());
    for (const double times : {1.0, -1.0, 2.0, -2.0}) {
      write("moved.yaml", text(times * h, ""));
      good({"simulate", "moved.yaml"}, "moved");
      const double weight = (std::abs(times) == 1.0 ? 8.0 : -1.0) * (times > 0.0 ? 1.0 : -1.0) / (12.0 * h);
      for (std::size_t k = 0; k < names.size(); ++k) {
        const std::vector<double> values = dataset("moved/trajectory.h5", names[k]);
        difference[k].resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) difference[k][i] += weight * values[i];
      }
    }
    for (std::size_t k = 0; k < names.size(); ++k) {
      const std::vector<double> found = dataset("tangent/tangent.h5", names[k] + "_tangent");
      ASSERT_EQ(found.size(), difference[k].size()) << names[k];
      double largest = 0.0;
      for (const double value : difference[k]) largest = std::max(largest, std::abs(value));
      ASSERT_GT(largest, 0.0) << names[k];
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], difference[k][i], 1e-7 * largest) << names[k];
    }
    // The file also has the motion itself. E is exp(ln E), which differs from E by rounding.
    write("simulate.yaml", text(0.0, ""));
    good({"simulate", "simulate.yaml"}, "simulated");
    const std::vector<double> motion = dataset("tangent/tangent.h5", "/positions"),
                              simulated = dataset("simulated/trajectory.h5", "/positions");
    ASSERT_EQ(motion.size(), simulated.size());
    for (std::size_t i = 0; i < motion.size(); ++i) EXPECT_NEAR(motion[i], simulated[i], 1e-13);
    const std::vector<double> foot = dataset("tangent/tangent.h5", "/reaction/x_min"),
                              simulated_foot = dataset("simulated/trajectory.h5", "/reaction/x_min");
    ASSERT_EQ(foot.size(), simulated_foot.size());
    for (std::size_t i = 0; i < foot.size(); ++i) EXPECT_NEAR(foot[i], simulated_foot[i], 1e-8);
    EXPECT_EQ(dataset("tangent/tangent.h5", "/step"), dataset("simulated/trajectory.h5", "/step"));
    // Derivative of the loss.
    good({"gradient", "scene.yaml"}, "gradient");
    const std::vector<double> by_gravity = dataset("gradient/gradient.h5", "/gradient/gravity");
    const double slope = 2e4 * dataset("gradient/gradient.h5", "/gradient/youngs_modulus").at(0) +
                         0.3 * by_gravity.at(0) + by_gravity.at(1);
    if (rank_ == 0) {
      EXPECT_NEAR(report("tangent")["loss_derivative"].get<double>(), slope, 1e-9 * std::abs(slope));
      EXPECT_TRUE(std::filesystem::exists(path("tangent/tangent.xdmf")));
    }
  }
}

TEST_F(TangentCommand, takes_a_direction_for_each_cell_and_vertex) {
  const std::string body =
      "mesh: {box: {size: [0.3, 0.1, 0.1], cells: [3, 1, 1]}}\n"
      "material: {model: neo_hookean, density: 1000, youngs_modulus: 5.0e+4, poisson_ratio: 0.3}\n"
      "solver: {dt: 0.002, steps: 5}\nboundary: [{region: x_min, fix: [x, y, z]}]\n";
  write("all.yaml", body + "parameters: [{name: density}, {name: initial_velocities, direction: [0, 0, 2]}]\n");
  write("each.yaml", body +
                         "parameters: [{name: density, per: cell, direction: 1}, {name: initial_velocities, per: "
                         "vertex, direction: [0, 0, 2]}]\n");
  good({"tangent", "all.yaml"}, "all");
  good({"tangent", "each.yaml"}, "each");
  const std::vector<double> all = dataset("all/tangent.h5", "/positions_tangent"),
                            each = dataset("each/tangent.h5", "/positions_tangent");
  ASSERT_EQ(all.size(), each.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR(all[i], each[i], 1e-14);
    largest = std::max(largest, std::abs(all[i]));
  }
  EXPECT_GT(largest, 1e-3);
}

TEST_F(TangentCommand, is_refused_in_one_line) {
  const auto refuses = [&](const std::string& text, const std::string& says) {
    write("bad.yaml", text);
    const Ran ran = run({"tangent", "bad.yaml"}, "bad");
    EXPECT_EQ(ran.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
    }
  };
  refuses(scene("implicit_euler", 0.0, ""), "parameters: is missing");
  refuses(scene("implicit_euler", 0.0, "parameters: [{name: gravity, direction: [1, 2]}]\n"),
          "parameters[0].direction: has the shape [2]");
}

TEST_F(TangentCommand, of_experiments_is_that_of_separate_scenes) {
  const std::string body =
      "mesh: {box: {size: [0.3, 0.1, 0.1], cells: [3, 1, 1]}}\n"
      "material: {model: neo_hookean, density: 1000, youngs_modulus: 5.0e+4, poisson_ratio: 0.3}\n"
      "solver: {dt: 0.002, steps: 4}\nboundary: [{region: x_min, fix: [x, y, z]}]\n"
      "objective: [{type: target_position, region: x_max, target: [0.31, 0.06, 0.05]}]\n"
      "parameters: [{name: youngs_modulus, direction: 2.0e+4}]\n";
  const std::string fast = "initial: {velocity: [0, 3, 0]}\n", slow = "initial: {velocity: [0, 0.5, 0]}\n";
  write("both.yaml", body + "experiments:\n  - {name: fast, " + fast.substr(0, fast.size() - 1) +
                         "}\n  - {name: slow, " + slow.substr(0, slow.size() - 1) + "}\n");
  write("fast.yaml", body + fast);
  write("slow.yaml", body + slow);
  good({"tangent", "both.yaml"}, "both");
  for (const std::string name : {"fast", "slow"}) {
    good({"tangent", name + ".yaml"}, name);
    EXPECT_EQ(dataset("both/" + name + "/tangent.h5", "/positions_tangent"),
              dataset(name + "/tangent.h5", "/positions_tangent"));
    if (rank_ == 0) {
      EXPECT_EQ(report("both/" + name)["loss_derivative"], report(name)["loss_derivative"]);
    }
  }
  EXPECT_NE(dataset("fast/tangent.h5", "/positions_tangent"), dataset("slow/tangent.h5", "/positions_tangent"));
}

}  // namespace
}  // namespace diffsim::app::tangent_command_test
