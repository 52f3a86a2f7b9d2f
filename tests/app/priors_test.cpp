// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Priors, errors of observations and standard deviations in scenes.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cell_model_fixture.hpp"
#include "diffsim/inverse/posterior.hpp"

namespace diffsim::app::priors_test {
namespace {

const std::string bar =
    "mesh: {box: {size: [0.4, 0.1, 0.1], cells: [8, 2, 2]}}\n"
    "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e+5, poisson_ratio: 0.3}\n"
    "boundary: [{region: x_min, fix: [x, y, z]}, {region: x_max, traction: [500, -200, 0]}]\n";
const std::string still = "solver: {integrator: quasi_static, dt: 1, steps: 1, gravity: [0, 0, 0]}\n";

class PriorsOfScene : public CellModelTest {
 protected:
  /// Checks the standard deviations of a stiffness field with 192 values, from noisy.h5. `text`: the scene without
  /// objective and parameters.
  void expect_deviations_of_field(const std::string& text) {
    if (!LowRankPosterior::is_available()) return;  // `are_refused_in_one_line` tests the message
    write("field.yaml",
          text +
              "objective: [{type: track, observations: noisy.h5, steps: [1], noise: 1.0e-4}]\n"
              "parameters: [{name: youngs_modulus, per: cell}]\n"
              "priors: [{parameter: youngs_modulus, type: matern, mean: 1.4e+5, deviation: 0.5, length: 0.2}]\n"
              "optimiser: {method: newton_cg, hessian: gauss_newton, uncertainty: {rank: 12, samples: 100}}\n");
    const Ran ran = run({"invert", "field.yaml"}, "field");
    const std::vector<double> found = dataset("field/parameters.h5", "/parameters/youngs_modulus"),
                              deviation = dataset("field/parameters.h5", "/posterior/deviations/youngs_modulus"),
                              eigenvalues = dataset("field/parameters.h5", "/posterior/eigenvalues");
    ASSERT_EQ(deviation.size(), 192u);
    ASSERT_EQ(eigenvalues.size(), 12u);
    // The relative deviations are below the prior's, 0.5, which is higher near the surface.
    double least = HUGE_VAL, largest = 0.0;
    for (std::size_t cell = 0; cell < found.size(); ++cell) {
      EXPECT_GT(deviation[cell], 0.0) << cell;
      least = std::min(least, deviation[cell] / found[cell]);
      largest = std::max(largest, deviation[cell] / found[cell]);
    }
    EXPECT_LT(least, 0.3);
    EXPECT_LT(largest, 1.0);
    EXPECT_GT(eigenvalues[0], 10.0);
    if (rank_ != 0) return;
    EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
    const nlohmann::json posterior = report("field")["posterior"];
    EXPECT_EQ(posterior["eigenvalues"].size(), 12u);
    EXPECT_EQ(posterior["samples"], 100);
    EXPECT_LT(posterior["deviation_ranges"]["youngs_modulus"][0].get<double>(),
              posterior["deviation_ranges"]["youngs_modulus"][1].get<double>());
    EXPECT_EQ(ran.err.find("give a larger optimiser.uncertainty.rank") != std::string::npos, eigenvalues[11] > 0.1)
        << ran.err;
  }

  /// Simulates the bar with a stiff half, and writes the positions with errors of about 1 % of the motion to noisy.h5.
  /// `text`: the scene without objective and parameters.
  void write_noisy_observations(const std::string& text) {
    const std::string uniform =
        "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e+5, poisson_ratio: 0.3}\n";
    std::string halves = text;
    halves.replace(
        halves.find(uniform), uniform.size(),
        "regions: {stiff: {box: {min: [0.2, -1, -1], max: [1, 1, 1]}}, soft: {box: {min: [-1, -1, -1], max: "
        "[0.2, 1, 1]}}}\n"
        "material:\n"
        "  - {region: soft, model: neo_hookean, density: 1000, youngs_modulus: 1.0e+5, poisson_ratio: 0.3}\n"
        "  - {region: stiff, model: neo_hookean, density: 1000, youngs_modulus: 2.0e+5, poisson_ratio: 0.3}\n");
    write("measure.yaml", halves);
    good({"simulate", "measure.yaml"}, "measured");
    if (rank_ == 0) {
      // Serial file access, with the same errors on any number of ranks.
      const std::string file = path("measured/trajectory.h5");
      std::vector<double> x = Hdf5File::open(MPI_COMM_SELF, file).read_array<double>("/positions");
      std::mt19937_64 random(5);
      std::normal_distribution<double> normal;
      for (double& value : x) value += 1e-4 * normal(random);
      Hdf5File noisy = Hdf5File::create(MPI_COMM_SELF, path("noisy.h5"), "diffsim trajectory", 1);
      const auto count = static_cast<std::int64_t>(x.size() / 6);
      noisy.write_array("/positions", x, {2, count, 3}, "m");
      noisy.write_array<std::int64_t>("/step", {0, 1}, {2}, "1");
      noisy.publish();
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /// Estimates the stiffness of each cell from noisy.h5. Returns the relative error. `text`: the scene without
  /// objective and parameters.
  double error_of_field(const std::string& text, const std::string& priors, const std::string& name) {
    write(name + ".yaml", text +
                              "objective: [{type: track, observations: noisy.h5, steps: [1], noise: 1.0e-4}]\n"
                              "parameters: [{name: youngs_modulus, per: cell, bounds: [1.0e+4, 1.0e+6]}]\n"
                              "optimiser: {max_iterations: 60, gradient_tolerance: 1.0e-4}\n" +
                              priors);
    const Ran ran = run({"invert", name + ".yaml"}, name);
    // An optimisation that stops at its limit of iterations is enough here; the exit code is that of the report.
    if (rank_ == 0) {
      EXPECT_EQ(ran.code, report(name)["converged"].get<bool>() ? 0 : 1) << ran.err;
    }
    const std::vector<double> found = dataset(name + "/parameters.h5", "/parameters/youngs_modulus");
    double sum = 0.0, whole = 0.0;
    for (std::size_t cell = 0; cell < found.size(); ++cell) {
      // Cells are numbered brick by brick, with x as the fastest index.
      const double truth = cell / 6 % 8 < 4 ? 1e5 : 2e5;
      sum += std::pow(found[cell] - truth, 2);
      whole += truth * truth;
    }
    return std::sqrt(sum / whole);
  }

  /// Checks that the history has five stages, and no two rows with the same stage and iteration.
  void expect_stages_in_history() {
    // The first row of a stage is the stage's start, with the number of the last iteration of the stage before.
    std::istringstream rows(read("corner/history.csv"));
    std::string row;
    std::getline(rows, row);
    EXPECT_NE(row.find("relative_gradient,stage"), std::string::npos) << row;
    std::vector<std::pair<std::string, std::string>> keys;  // of each row: stage and iteration
    while (std::getline(rows, row)) {
      std::vector<std::string> words;
      std::istringstream line(row);
      for (std::string word; std::getline(line, word, ',');) words.push_back(word);
      ASSERT_GT(words.size(), 6u);
      keys.emplace_back(words[6], words[0]);
    }
    EXPECT_EQ(keys.back().first, "5");
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
  }

  /// Checks the results of a sequence of five factors of the prior.
  void expect_l_curve() {
    const auto factors = report("corner")["prior_factors"];
    ASSERT_EQ(factors.size(), 5u);
    for (std::size_t i = 0; i + 1 < 5; ++i) {
      EXPECT_GT(factors[i]["factor"].get<double>(), factors[i + 1]["factor"].get<double>());
      EXPECT_GE(factors[i]["misfit"].get<double>(), 0.999 * factors[i + 1]["misfit"].get<double>());
      // Large factors leave a prior of the size that the optimiser's tolerance allows.
      EXPECT_LE(factors[i]["prior"].get<double>(), 1.001 * factors[i + 1]["prior"].get<double>() + 1e-6);
    }
    EXPECT_NEAR(
        report("corner")["loss"].get<double>(),
        [&] {
          for (const auto& one : factors)
            if (one["factor"] == report("corner")["prior_factor"])
              return one["misfit"].get<double>() + one["factor"].get<double>() * one["prior"].get<double>();
          return 0.0;
        }(),
        1e-12 * report("corner")["loss"].get<double>());
    EXPECT_NE(read("corner/l_curve.csv").find("factor,misfit,prior,iterations,converged"), std::string::npos);
  }
};

TEST_F(PriorsOfScene, pass_the_check_of_their_derivatives) {
  const std::string scene =
      bar +
      "solver: {dt: 0.002, steps: 6, substeps: 2, damping: 1, gravity: [0, -9.8, 0]}\n"
      "objective: [{type: target_position, region: x_max, target: [0.41, 0.04, 0.05], noise: 1.0e-3},\n"
      "            {type: target_velocity, region: x_max, target: [0, -0.1, 0], noise: 0.1, weight: 0.5}]\n"
      "parameters:\n"
      "  - {name: youngs_modulus, per: cell}\n  - {name: density}\n  - {name: gravity, per: step}\n"
      "  - {name: initial_velocities, per: vertex}\nOTHER"
      "priors:\n"
      "  - {parameter: youngs_modulus, type: matern, mean: 2.0e+5, deviation: 0.5, length: 0.1}\n"
      "  - {parameter: youngs_modulus, type: total_variation, weight: 10, epsilon: 0.1}\n"
      "  - {parameter: density, type: normal, mean: 1200, deviation: 0.3}\n"
      "  - {parameter: gravity, type: smooth, weight: 0.1}\n"
      "  - {parameter: gravity, type: normal, deviation: 2, mean: [0, -9.0, 0.5]}\n"
      "  - {parameter: initial_velocities, type: smooth, weight: 100}\n";
  const auto with = [&](const std::string& other, const std::string& prior) {
    std::string text = scene + prior;
    return text.replace(text.find("OTHER"), 5, other);
  };
  write("scene.yaml", with("", ""));
  const Ran ran = run({"check", "scene.yaml", "--hessian"}, "check");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  // No second derivatives with respect to the shape.
  write("shape.yaml", with("  - {name: rest_positions}\n",
                           "  - {parameter: rest_positions, type: normal, deviation: 1.0e-3}\n"
                           "  - {parameter: rest_positions, type: smooth, weight: 1}\n"));
  const Ran shape = run({"check", "shape.yaml"}, "shape");
  EXPECT_EQ(shape.code, 0) << shape.out << shape.err;
}

TEST_F(PriorsOfScene, are_part_of_the_loss_and_of_the_gradient) {
  const std::string text = bar + still +
                           "objective: [{type: target_position, region: x_max, target: [0.41, 0.04, 0.05]}]\n"
                           "parameters: [{name: youngs_modulus, initial: 1.2e+5}]\n";
  write("without.yaml", text);
  write("with.yaml", text + "priors: [{parameter: youngs_modulus, type: normal, mean: 1.0e+5, deviation: 0.5}]\n");
  good({"gradient", "without.yaml"}, "without");
  good({"gradient", "with.yaml"}, "with");
  const double z = std::log(1.2) / 0.5;
  EXPECT_NEAR(dataset("with/gradient.h5", "/loss").at(0) - dataset("without/gradient.h5", "/loss").at(0), 0.5 * z * z,
              1e-14);
  EXPECT_NEAR(dataset("with/gradient.h5", "/gradient/youngs_modulus").at(0) -
                  dataset("without/gradient.h5", "/gradient/youngs_modulus").at(0),
              z / 0.5 / 1.2e5, 1e-17);
}

TEST_F(PriorsOfScene, improve_a_field_from_noisy_observations) {
  const std::string text = bar + still;
  write_noisy_observations(text);
  const auto error = [&](const std::string& priors, const std::string& name) {
    return error_of_field(text, priors, name);
  };
  const double without = error("", "without");
  const double matern = error(
      "priors: [{parameter: youngs_modulus, type: matern, mean: 1.4e+5, deviation: 0.5, length: 0.2}]\n", "matern");
  expect_deviations_of_field(text);
  const double variation = error(
      "priors: [{parameter: youngs_modulus, type: total_variation, weight: 3.0e+3, epsilon: 0.5}]\n", "variation");
  // A sequence of factors of a prior that is too weak, of which the L-curve or the misfit chooses one.
  const std::string smooth = "priors: [{parameter: youngs_modulus, type: smooth, weight: 1}]\n";
  const double weak = error(smooth, "weak");
  const double corner = error(smooth + "prior_factors: {values: [1, 1.0e+2, 1.0e+4, 1.0e+6, 10]}\n", "corner");
  EXPECT_LT(corner, 0.7 * weak) << "with a weak prior " << weak << ", at the corner " << corner;
  if (rank_ == 0) {
    expect_stages_in_history();
    expect_l_curve();
  }
  // Three components of 9 · 3 · 3 vertices, of which 9 are fixed.
  const double discrepancy =
      error(smooth + "prior_factors: {values: [1, 1.0e+2, 1.0e+4], choose: discrepancy, misfit: 121.5}\n", "misfit");
  EXPECT_LT(discrepancy, 0.9 * weak) << "with a weak prior " << weak << ", by the misfit " << discrepancy;
  EXPECT_LT(matern, 0.6 * without) << "without " << without << ", with the Matérn prior " << matern;
  EXPECT_LT(variation, 0.6 * without) << "without " << without << ", with total variation " << variation;
}

TEST_F(PriorsOfScene, of_two_parameters_with_one_name_are_told_by_region) {
  const std::string text =
      "mesh: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}\n"
      "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e+5, poisson_ratio: 0.3}\n"
      "boundary: [{region: x_min, traction: [-100, 0, 0]}, {region: x_max, traction: [100, 50, 0]}]\n"
      "solver: {dt: 0.001, steps: 2, substeps: 1}\n"
      "objective: [{type: target_position, region: x_max, target: [0.41, 0.04, 0.05]}]\n"
      "parameters: [{name: traction, region: x_min}, {name: traction, region: x_max}]\n";
  refused(text + "priors: [{parameter: traction, type: normal, deviation: 10}]\n",
          "priors[0].region: is missing, and `parameters` has several entries of traction; give one of: x_min, x_max");
  write("scene.yaml", text +
                          "priors: [{parameter: traction, region: x_max, type: normal, mean: [90, 50, 0], "
                          "covariance: [[100, 20, 0], [20, 50, 0], [0, 0, 30]]}]\n");
  write("without.yaml", text);
  good({"gradient", "scene.yaml"}, "with");
  good({"gradient", "without.yaml"}, "without");
  // C⁻¹ (10, 0, 0) = 10 (50, -20, 0)/4600.
  const double expected[3] = {500.0 / 4600.0, -200.0 / 4600.0, 0.0};
  for (std::size_t c = 0; c < 3; ++c)
    EXPECT_NEAR(dataset("with/gradient.h5", "/gradient/traction_x_max").at(c) -
                    dataset("without/gradient.h5", "/gradient/traction_x_max").at(c),
                expected[c], 1e-14);
}

const std::string unknown_modulus =
    "mesh: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}\n"
    "material: {model: neo_hookean, density: 1000, youngs_modulus: 1.0e+5, poisson_ratio: 0.3}\n"
    "boundary: [{region: x_min, fix: [x, y, z]}, {region: x_max, move: {velocity: [0.02, 0, 0]}}]\n" +
    still;
const std::string of_both =
    "parameters: [{name: youngs_modulus, initial: 1.2e+5}, {name: poisson_ratio, initial: 0.25, bounds: [0.1, 0.45]}]\n"
    "optimiser: {method: newton_cg, uncertainty: true, gradient_tolerance: 1.0e-8}\n"
    "regions: {middle: {box: {min: [0.15, -1, -1], max: [0.25, 1, 1]}}}\n";
const std::string shape =
    "objective:\n  - {type: track, region: middle, observations: measured/trajectory.h5, noise: 1.0e-5}\n";

TEST_F(PriorsOfScene, standard_deviations_of_a_force_and_a_shape) {
  write("measure.yaml", unknown_modulus + "output: {fields: [positions, reactions]}\n");
  good({"simulate", "measure.yaml"}, "measured");
  const std::string force =
      "  - {type: reaction, region: x_max, observations: measured/trajectory.h5, steps: [1], "
      "noise: 0.5}\n";
  write("scene.yaml", unknown_modulus + of_both + shape + force);
  const Ran ran = run({"invert", "scene.yaml"}, "run");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  // The shape does not depend on E, and the force R is proportional to E: the deviation of ln E given ν is 0.5 N/|R|.
  const std::vector<double> R = dataset("measured/trajectory.h5", "/reaction/x_max");
  const double reaction = std::hypot(R.at(3), R.at(4), R.at(5));
  const std::vector<double> C = dataset("run/parameters.h5", "/posterior/covariance");
  ASSERT_EQ(C.size(), 4u);
  const double precision = C[3] / (C[0] * C[3] - C[1] * C[2]);  // of ln E, given ν
  EXPECT_NEAR(1.0 / std::sqrt(precision), 0.5 / reaction, 1e-4 * 0.5 / reaction);
  EXPECT_GT(C[3], 0.0);
  if (rank_ == 0) {
    const auto posterior = report("run")["posterior"];
    EXPECT_NEAR(posterior["deviations"]["youngs_modulus"].get<double>(), std::sqrt(C[0]) * 1e5, 0.1);
    EXPECT_NEAR(posterior["deviations"]["poisson_ratio"].get<double>(), std::sqrt(C[3]), 1e-9);
    EXPECT_NEAR(posterior["correlations"][0][1].get<double>(), C[1] / std::sqrt(C[0] * C[3]), 1e-9);
    EXPECT_TRUE(posterior["not_identified"].empty());
    EXPECT_EQ(posterior["names"][0], "ln youngs_modulus");
  }
}

TEST_F(PriorsOfScene, a_stiffness_from_displacements_alone_is_refused) {
  write("measure.yaml", unknown_modulus);
  good({"simulate", "measure.yaml"}, "measured");
  const std::string scene = unknown_modulus + of_both + shape;
  write("scene.yaml", scene);
  const Ran ran = run({"invert", "scene.yaml"}, "run");
  EXPECT_EQ(ran.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("optimiser.uncertainty: the observations and priors do not determine 1.00 ln "
                           "youngs_modulus: at the start values"),
              std::string::npos)
        << ran.err;
    EXPECT_FALSE(std::filesystem::exists(path("run/parameters.h5")));
  }
  // With a prior of the modulus, its deviation is that of the prior.
  write("prior.yaml", scene + "priors: [{parameter: youngs_modulus, type: normal, mean: 1.1e+5, deviation: 0.2}]\n");
  const Ran with = run({"invert", "prior.yaml"}, "prior");
  EXPECT_EQ(with.code, 0) << with.out << with.err;
  EXPECT_NEAR(std::sqrt(dataset("prior/parameters.h5", "/posterior/covariance").at(0)), 0.2, 1e-6);
  EXPECT_NEAR(dataset("prior/parameters.h5", "/parameters/youngs_modulus").at(0), 1.1e5, 1.0);
}

TEST_F(PriorsOfScene, are_refused_in_one_line) {
  const std::string text = bar + still +
                           "objective: [{type: target_position, region: x_max, target: [0.41, 0.04, 0.05]}]\n"
                           "parameters: [{name: youngs_modulus}, {name: poisson_ratio, per: cell}]\n";
  const auto prior = [&](const std::string& words) { return text + "priors: [{" + words + "}]\n"; };
  refused(prior("parameter: youngs_moduls, type: normal, deviation: 1"), "did you mean 'youngs_modulus'");
  refused(prior("parameter: youngs_modulus, type: normal"), "give either `deviation`");
  refused(prior("parameter: youngs_modulus, type: normal, deviation: 0"), "give positive numbers");
  refused(prior("parameter: youngs_modulus, type: normal, deviation: 1, mean: -3"), "has no logarithm");
  refused(prior("parameter: youngs_modulus, type: smooth, weight: 1"), "needs a parameter with `per: cell`");
  refused(prior("parameter: poisson_ratio, type: smooth, weight: 1, length: 2"),
          "priors[0].length: has no meaning for a prior of type smooth, which has: weight");
  refused(prior("parameter: poisson_ratio, type: matern, deviation: 0.1"), "priors[0].length: is missing");
  refused(prior("parameter: youngs_modulus, type: normal, covariance: [[-1]]"),
          "priors[0].covariance: the covariance matrix is not positive definite");
  refused(prior("parameter: poisson_ratio, type: normal, covariance: [[1]]"), "give `deviation`");
  refused(prior("parameter: poisson_ratio, type: normal, deviation: [0.1, 0.2]"),
          "priors[0].deviation: has the shape [2]; give a number");
  refused(prior("parameter: poisson_ratio, region: x_min, type: normal, deviation: 0.1"),
          "selects an entry of `parameters` by its `region`");
  refused(text + "priors: []\n", "is an empty list");
  const auto factors = [&](const std::string& words) {
    return prior("parameter: youngs_modulus, type: normal, deviation: 1") + "prior_factors: {" + words + "}\n";
  };
  refused(text + "prior_factors: {values: [1, 2, 3]}\n", "needs `priors`");
  refused(factors("values: [1, 2]"), "fewer than three factors");
  refused(factors("values: [1, 2, 0]"), "values[2]");
  refused(factors("values: [1, 2, 2]"), "the same factor twice");
  refused(factors("values: [1, 2], choose: discrepancy"), "misfit: is missing");
  refused(factors("values: [1, 2, 3], misfit: 4"), "belongs to `choose: discrepancy`");
  refused(factors("values: [1, 2, 3], choose: corner"), "choose");
  refused(text + "optimiser: {uncertainty: true}\n", "objective[0]: needs `noise`");
  refused(text + "optimiser: {uncertainty: {samples: 10}}\n", "optimiser.uncertainty.rank: is missing");
  refused(text + "optimiser: {uncertainty: {rank: 0}}\n", "optimiser.uncertainty.rank");
  std::string likelihood = text;
  likelihood.replace(likelihood.find("[0.41, 0.04, 0.05]"), 18, "[0.41, 0.04, 0.05], noise: 0.1");
  write("rank.yaml", likelihood + "optimiser: {uncertainty: {rank: 2}}\n");
  const Ran ran = run({"invert", "rank.yaml"}, "rank");
  EXPECT_EQ(ran.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find(LowRankPosterior::is_available() ? "needs exactly one prior for each parameter"
                                                            : "needs the library SLEPc"),
              std::string::npos)
        << ran.err;
    EXPECT_FALSE(std::filesystem::exists(path("rank/parameters.h5")));
  }
}

}  // namespace
}  // namespace diffsim::app::priors_test
