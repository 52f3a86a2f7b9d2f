// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Growth of the adjoint: a table for each step, and a warning if the gradient describes only tiny changes.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "cell_model_fixture.hpp"

namespace diffsim::app::adjoint_log_test {
namespace {

/// Mass of 10 g on a stiff spring of 2 cm that stands on its end. A small push makes the mass fall over. Until then the
/// deviation from the upright position grows by exp(√(g/L) t).
std::string pendulum(const std::string& gravity) {
  return "bodies: {rod: {kind: springs, mesh: {file: rod.obj}, material: {spring_stiffness: 2.0e+3, point_mass: "
         "0.01}}}\n"
         "regions: {foot: {body: rod, vertices: [0]}, head: {body: rod, vertices: [1]}}\n"
         "boundary: [{region: foot, fix: [x, y, z]}]\n"
         "solver: {integrator: velocity_verlet, dt: 0.001, steps: 700, substeps: 1, gravity: [0, " +
         gravity +
         ", 0]}\n"
         "objective: [{type: target_position, region: head, target: [0.01, 0, 0]}]\n"
         "parameters: [{name: initial_velocities, per: vertex}]\noutput: {adjoint_log: adjoint.csv}\n";
}

class AdjointLog : public CellModelTest {
 protected:
  /// Columns of the table: step, time, positions, velocities.
  std::vector<std::vector<double>> table(const std::string& file) const {
    std::vector<std::vector<double>> rows;
    std::istringstream lines(read(file));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "step,time,positions,velocities");
    while (std::getline(lines, line)) {
      std::replace(line.begin(), line.end(), ',', ' ');
      std::istringstream words(line);
      rows.emplace_back();
      for (double value; words >> value;) rows.back().push_back(value);
    }
    return rows;
  }
};

TEST_F(AdjointLog, warns_of_a_pendulum_that_stands_on_its_end) {
  write("rod.obj", "v 0 0 0\nv 0.000000001 0.02 0\nl 1 2\n");
  write("scene.yaml", pendulum("-9.8"));
  const Ran ran = run({"gradient", "scene.yaml"}, "run");
  EXPECT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("warning: the norm of the adjoint grows by a factor of"), std::string::npos) << ran.err;
    const auto adjoint = report("run")["adjoint"];
    EXPECT_GT(adjoint["growth"].get<double>(), 1e6);
    // Weight compresses the spring by 0.25 %.
    EXPECT_NEAR(adjoint["exponent"].get<double>(), std::sqrt(9.8 / 0.02), 0.1 * std::sqrt(9.8 / 0.02));
    const auto rows = table("run/adjoint.csv");
    ASSERT_EQ(rows.size(), 701u);
    EXPECT_EQ(rows.front()[0], 700.0);
    EXPECT_EQ(rows.back()[0], 0.0);
    EXPECT_NEAR(rows[100][1], 0.6, 1e-12);
  }
}

TEST_F(AdjointLog, warns_once_in_the_first_iteration_of_invert_that_shows_chaos) {
  write("rod.obj", "v 0 0 0\nv 0.000000001 0.02 0\nl 1 2\n");
  write("scene.yaml", pendulum("-9.8") + "optimiser: {method: adam, max_iterations: 2}\n");
  const Ran ran = run({"invert", "scene.yaml"}, "run");
  if (rank_ != 0) return;
  const std::string words = "the norm of the adjoint grows";
  const std::size_t first = ran.err.find("warning: iteration 0: " + words);
  ASSERT_NE(first, std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find(words), ran.err.rfind(words)) << ran.err;
  EXPECT_GT(report("run")["adjoint"]["largest_growth"].get<double>(), 1e6);
  EXPECT_TRUE(report("run")["adjoint"]["largest_iteration"].is_number_integer());
}

// Steps of half a second damp the vibrations of the block within a few steps.
TEST_F(AdjointLog, warns_of_an_adjoint_that_vanishes) {
  const std::string text =
      "mesh: {box: {size: [0.1, 0.1, 0.1], cells: [1, 1, 1]}}\n"
      "material: {model: linear_elastic, density: 1000, youngs_modulus: 1.0e+5, poisson_ratio: 0.3}\n"
      "boundary: [{region: x_min, fix: [x, y, z]}]\nsolver: {integrator: implicit_euler, dt: 0.5, steps: 70}\n"
      "parameters: [{name: gravity}]\n";
  const auto with_step = [&](const std::string& step) {
    return text + "objective: [{type: target_position, region: x_max, target: [0.11, 0.04, 0.05]" + step + "}]\n";
  };
  write("late.yaml", with_step(""));
  write("early.yaml", with_step(", step: 6"));
  const std::string words = "the norm of the adjoint is below the rounding error of its largest value";
  const Ran late = good({"gradient", "late.yaml"}, "late"), early = good({"gradient", "early.yaml"}, "early");
  if (rank_ != 0) return;
  EXPECT_NE(late.err.find("warning: from step 32 to step 0, " + words), std::string::npos) << late.err;
  EXPECT_NE(late.err.find("(checkpoint.last: 38)"), std::string::npos) << late.err;
  EXPECT_EQ(early.err.find(words), std::string::npos) << early.err;
}

TEST_F(AdjointLog, of_parameters_without_influence_is_told) {
  const std::string text =
      "mesh: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}\n"
      "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e+5, poisson_ratio: 0.3}\n"
      "solver: {dt: 0.001, steps: 4, substeps: 2, damping: 1}\n"
      "contact: {barrier_distance: 0.01, barrier_stiffness: 1.0e+4, friction: 0.3, friction_velocity: 0.1, obstacles: "
      "[{plane: {point: [0, -1, 0], normal: [0, 1, 0]}}]}\n"
      "objective: [{type: target_position, region: x_max, target: [0.41, 0.04, 0.05]}]\n"
      "parameters: [{name: gravity}, {name: friction}]\noptimiser: {max_iterations: 2}\n";
  write("scene.yaml", text);
  const std::string words = "all derivatives of the loss with respect to '";
  for (const std::string command : {"gradient", "invert"}) {
    const Ran ran = run({command, "scene.yaml"}, command);
    if (rank_ != 0) continue;
    EXPECT_NE(ran.err.find("warning: " + words + "friction' in this run are exactly zero"), std::string::npos)
        << ran.err;
    EXPECT_EQ(ran.err.find(words), ran.err.rfind(words)) << ran.err;
  }
}

TEST_F(AdjointLog, is_silent_about_a_pendulum_that_hangs) {
  write("rod.obj", "v 0 0 0\nv 0.000000001 0.02 0\nl 1 2\n");
  write("scene.yaml", pendulum("9.8"));
  const Ran ran = run({"gradient", "scene.yaml"}, "run");
  EXPECT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    EXPECT_EQ(ran.err.find("norm of the adjoint"), std::string::npos) << ran.err;
    EXPECT_LT(report("run")["adjoint"]["growth"].get<double>(), 1e3);
  }
}

TEST_F(AdjointLog, of_invert_is_that_of_the_last_gradient_and_of_each_experiment) {
  const std::string body =
      "mesh: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}\n"
      "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e+5, poisson_ratio: 0.3}\n"
      "solver: {dt: 0.001, steps: 40, substeps: 2, damping: 1}\n"
      "parameters: [{name: gravity}]\noptimiser: {max_iterations: 3}\n"
      "output: {adjoint_log: adjoint.csv}\n";
  const std::string late = "[{type: target_position, region: x_max, target: [0.41, 0.04, 0.05]}]";
  // The last observation is nearly met, the earlier one is not: no growth.
  const std::string uneven =
      "[{type: target_position, region: x_max, target: [0.41, 0.04, 0.05], step: 10}, {type: target_position, region: "
      "x_max, target: [0.4, 0.0426, 0.05], weight: 1.0e-9}]";
  write("scene.yaml", body + "experiments:\n  - {name: late, objective: " + late +
                          "}\n  - {name: uneven, objective: " + uneven + "}\n");
  const Ran ran = run({"invert", "scene.yaml"}, "run");
  EXPECT_EQ(ran.code, 0) << ran.err;
  if (rank_ == 0) {
    EXPECT_EQ(ran.err.find("the norm of the adjoint grows"), std::string::npos) << ran.err;
    EXPECT_EQ(table("run/adjoint.csv").size(), 41u);
    EXPECT_LT(report("run")["experiments"]["uneven"]["adjoint"]["growth"].get<double>(), 1e3);
    EXPECT_EQ(report("run")["experiments"]["late"]["adjoint"]["from_step"], 40);
  }
  std::string wrong = body;
  wrong.replace(wrong.find("adjoint.csv"), 11, "history.csv");
  refused(wrong + "objective: " + late + "\n", "is the table that `invert` writes");
}

TEST_F(AdjointLog, has_the_gradient_with_respect_to_the_initial_state) {
  write("scene.yaml",
        "mesh: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}\n"
        "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e+5, poisson_ratio: 0.3}\n"
        "solver: {dt: 0.001, steps: 40, substeps: 2, damping: 1}\n"
        "objective: [{type: target_position, region: x_max, target: [0.41, 0.04, 0.05]}]\n"
        "parameters: [{name: initial_positions}, {name: initial_velocities}]\noutput: {adjoint_log: adjoint.csv}\n");
  good({"gradient", "scene.yaml"}, "run");
  const auto norm = [&](const std::string& name) {
    double sum = 0.0;
    for (const double value : dataset("run/gradient.h5", "/gradient/" + name)) sum += value * value;
    return std::sqrt(sum);
  };
  const double positions = norm("initial_positions"), velocities = norm("initial_velocities");
  if (rank_ == 0) {
    const auto rows = table("run/adjoint.csv");
    ASSERT_EQ(rows.size(), 41u);
    EXPECT_NEAR(rows.back()[2], positions, 1e-12 * positions);
    EXPECT_NEAR(rows.back()[3], velocities, 1e-12 * velocities);
  }
}

}  // namespace
}  // namespace diffsim::app::adjoint_log_test
