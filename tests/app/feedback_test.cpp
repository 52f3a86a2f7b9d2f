// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The section `feedback` of scenes.
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "cell_model_fixture.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app::feedback_test {
namespace {

/// Returns a scene with a bar whose right end is pulled by a traction that a feedback computes.
std::string scene(const std::string& feedback, const std::string& more = "", const std::string& boundary = "") {
  return "mesh: {box: {size: [0.2, 0.1, 0.1], cells: [2, 1, 1]}}\n"
         "material: {model: neo_hookean, density: 1000, youngs_modulus: 5.0e+4, poisson_ratio: 0.3}\n"
         "solver: {integrator: velocity_verlet, dt: 0.004, steps: 6, substeps: 4}\n"
         "boundary: [{region: x_min, fix: [x, y, z]}, {region: x_max, traction: [0, 0, 0]}" +
         boundary +
         "]\n"
         "sensors: {end: {type: displacement, region: x_max}, speed: {type: velocity, region: x_max}}\n"
         "feedback: " +
         feedback + "\n" + more;
}

const std::string hand =
    "{hand: {sensors: [end, speed], scales: [0.01, 0.01, 0.01, 0.1, 0.1, 0.1], controls: [\"traction:x_max\"], "
    "hidden: [3], limits: [500, 500, 500], seed: 3";
const std::string objective =
    "objective: [{type: target_position, region: x_max, target: [0.21, 0.06, 0.05]}]\n"
    "parameters: [{name: \"policy:hand\"}, {name: youngs_modulus}]\n";

class FeedbackOfScene : public CellModelTest {};

TEST_F(FeedbackOfScene, moves_the_bar) {
  write("scene.yaml", scene(hand + "}}"));
  good({"simulate", "scene.yaml"}, "run");
  // The initial weights of the last layer are not zero, so the traction is not zero in the first steps, either.
  const std::vector<double> end = dataset("run/trajectory.h5", "/sensors/end");
  write("free.yaml", scene("{}"));
  good({"simulate", "free.yaml"}, "free");
  const std::vector<double> free = dataset("free/trajectory.h5", "/sensors/end");
  ASSERT_EQ(end.size(), 7u * 3u);
  EXPECT_GT(std::abs(end[18] - free[18]) + std::abs(end[19] - free[19]) + std::abs(end[20] - free[20]), 1e-6);
}

TEST_F(FeedbackOfScene, passes_the_check_of_derivatives) {
  write("scene.yaml", scene(hand + "}}", objective));
  good({"check", "scene.yaml"}, "run");
}

TEST_F(FeedbackOfScene, is_optimised) {
  write("scene.yaml",
        scene(hand + "}}", objective + "optimiser: {method: lbfgs, max_iterations: 60, gradient_tolerance: 0.05}\n"));
  good({"invert", "scene.yaml"}, "run");
  if (rank_ == 0) {
    const auto result = report("run");
    EXPECT_LT(result["loss"].get<double>(), 0.7 * result["initial_loss"].get<double>()) << result.dump(1);
  }
  const std::vector<double> weights = dataset("run/parameters.h5", "/parameters/policy:hand");
  ASSERT_EQ(weights.size(), 3u * 7u + 3u * 4u);
  // The weights that were found change the motion when a scene reads the weights from the file.
  write("again.yaml", scene(hand + ", weights: {file: run/parameters.h5, dataset: \"/parameters/policy:hand\"}}}"));
  good({"simulate", "again.yaml"}, "again");
  write("initial.yaml", scene(hand + "}}"));
  good({"simulate", "initial.yaml"}, "initial");
  const std::vector<double> again = dataset("again/trajectory.h5", "/sensors/end"),
                            initial = dataset("initial/trajectory.h5", "/sensors/end");
  EXPECT_GT(std::abs(again[19] - initial[19]), 1e-6);
}

TEST_F(FeedbackOfScene, is_optimised_in_windows) {
  write("scene.yaml",
        scene(hand + "}}", objective + "optimiser: {method: newton_cg, max_iterations: 8, gradient_tolerance: "
                                       "0.05, shooting: {windows: 2, tolerance: 1.0e-3}}\n"));
  const Ran ran = run({"invert", "scene.yaml"}, "run");
  EXPECT_NE(ran.code, 2) << ran.err;
  if (rank_ == 0) {
    const auto result = report("run");
    EXPECT_LT(result["loss"].get<double>(), 0.9 * result["initial_loss"].get<double>()) << result.dump(1);
  }
}

TEST_F(FeedbackOfScene, with_three_weights_starts_from_one_value) {
  // The inputs are a sine and a cosine, so the policy has three weights, which are not the components of a vector.
  write("scene.yaml", scene("{wave: {frequencies: [20], controls: [\"pressure:y_max\"]}}",
                            "objective: [{type: target_position, region: x_max, target: [0.21, 0.06, 0.05]}]\n"
                            "parameters: [{name: \"policy:wave\", initial: 0.5}]\n",
                            ", {region: y_max, pressure: 0}"));
  good({"gradient", "scene.yaml"}, "run");
  EXPECT_EQ(dataset("run/gradient.h5", "/gradient/policy:wave").size(), 3u);
}

TEST_F(FeedbackOfScene, that_moves_an_axis_starts_at_step_0) {
  const auto moved = [](const std::string& rate, const std::string& more) {
    return "mesh: {box: {size: [0.2, 0.1, 0.1], cells: [2, 1, 1]}}\n"
           "material: {model: neo_hookean, density: 1000, youngs_modulus: 5.0e+4, poisson_ratio: 0.3}\n"
           "solver: {integrator: velocity_verlet, dt: 0.004, steps: 6, substeps: 4}\n"
           "boundary: [{region: x_min, move: {axis: [0, 0, 1], angular_velocity: " +
           rate +
           "}}]\n"
           "sensors: {end: {type: displacement, region: x_max}}\n"
           "feedback: {hand: {sensors: [end], controls: [\"velocity:x_min\"]}}\n" +
           more;
  };
  const std::string later = "initial: {from: run/trajectory.h5, step: 4}\n";
  write("scene.yaml", moved("1", ""));
  good({"simulate", "scene.yaml"}, "run");
  write("later.yaml", moved("1", later));
  const Ran ran = run({"simulate", "later.yaml"}, "later");
  EXPECT_EQ(ran.code, 2) << ran.err;
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("which also turns"), std::string::npos) << ran.err;
  }
  write("straight.yaml", moved("0", later));
  good({"simulate", "straight.yaml"}, "straight");
}

TEST_F(FeedbackOfScene, gives_one_line_for_bad_input) {
  const auto bad = [&](const std::string& feedback, const std::string& words) {
    refused(scene(feedback, objective), words);
  };
  bad("{hand: {sensors: [tip], controls: [gravity]}}", "end");
  bad("{hand: {sensors: [end]}}", "controls");
  bad("{hand: {controls: [gravity]}}", "neither sensors nor frequencies");
  bad("{hand: {sensors: [end], controls: [gravity], scales: [1, 1]}}", "3 components");
  bad("{hand: {sensors: [end], controls: [gravity], scales: [1, 0, 1]}}", "contains 0");
  bad("{hand: {sensors: [end], controls: [gravity], limits: [1]}}", "limits");
  bad("{hand: {sensors: [end], controls: [gravity], hidden: [0]}}", "0");
  bad("{hand: {sensors: [end], controls: [youngs_modulus]}}", "youngs_modulus");
  bad("{hand: {sensors: [end], controls: [gravitation]}}", "gravitation");
  bad("{hand: {sensors: [end], controls: [gravity], weights: [1, 2]}}", "12");
  bad("{hand: {sensors: [end], controls: [gravity]}, arm: {sensors: [end], controls: [gravity]}}", "two links");
  bad("{hand: {sensors: [end], controls: [gravity, gravity]}}", "occurs twice");
  refused(scene(hand + "}}",
                "objective: [{type: effort, parameter: \"traction:x_max\"}]\n"
                "parameters: [{name: \"policy:hand\"}]\n"),
          "effort");
  refused(scene(hand + "}}",
                "objective: [{type: target_position, region: x_max, target: [0.2, 0, 0]}]\n"
                "parameters: [{name: traction, per: step}]\n"),
          "'traction:x_max' is computed by the feedback 'hand'; use policy:hand");
}

}  // namespace
}  // namespace diffsim::app::feedback_test
