// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Tests of the command `invert` on small bodies.

#include "app/unknown_files.hpp"
#include "commands_testing.hpp"

namespace diffsim::app::invert_command_test {
namespace {

TEST_F(Commands, InvertByNewtonCg) {
  const std::string solver = "integrator: quasi_static, dt: 0.1, steps: 2";
  write("truth.yaml", implicit_bar(solver, ""));
  expect_done(run({"simulate", "truth.yaml"}, "truth"));
  write("s.yaml", implicit_bar(solver,
                               "objective: {type: track, observations: truth/trajectory.h5, steps: [1, 2]}\n"
                               "parameters: {name: youngs_modulus, initial: 1.0e4, bounds: [1.0e3, 1.0e6]}\n"
                               "optimiser: {method: newton_cg, max_iterations: 30, gradient_tolerance: 1.0e-8}\n"));
  expect_done(run({"invert", "s.yaml"}, "out"));
  EXPECT_NEAR(dataset("out/parameters.h5", "/parameters/youngs_modulus").at(0), 2.0e4, 0.2);
  if (rank_ != 0) return;
  const nlohmann::json report = this->report("out");
  EXPECT_EQ(report["converged"], true);
  EXPECT_GT(report["hessian_products"].get<long>(), 0);
  expect_history("out", 1e-8);
}

TEST_F(Commands, InvertRecoversTwoStiffnesses) {
  const std::string materials =
      "material:\n"
      "  - {region: left, model: neo_hookean, density: 1000, youngs_modulus: 1.0e4, poisson_ratio: 0.3}\n"
      "  - {region: right, model: neo_hookean, density: 1000, youngs_modulus: 3.0e4, poisson_ratio: 0.3}\n";
  std::string scene = bar("1", "");
  scene.replace(scene.find("material:"), scene.find("solver:") - scene.find("material:"), materials);
  scene.replace(scene.find("  tip:"), 0, "  right: {box: {min: [0.5, 0, 0], max: [1, 1, 1]}}\n");
  write("truth.yaml", scene);
  expect_done(run({"simulate", "truth.yaml"}, "truth"));
  write("s.yaml", scene +
                      "objective: {type: track, observations: truth/trajectory.h5, steps: [5, 10, 15, 20]}\n"
                      "parameters: {name: youngs_modulus, per: region, initial: 2.0e4, bounds: [1.0e3, 1.0e6]}\n"
                      "optimiser: {max_iterations: 60, gradient_tolerance: 1.0e-9}\n");
  const Ran ran = run({"invert", "s.yaml"}, "out");
  expect_done(ran);
  const std::vector<double> found = dataset("out/parameters.h5", "/parameters/youngs_modulus");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0], 1.0e4, 10);
  EXPECT_NEAR(found[1], 3.0e4, 30);
  EXPECT_EQ(
      Hdf5File::open(MPI_COMM_WORLD, path("out/parameters.h5")).read_strings("/parameters/youngs_modulus.regions"),
      (std::vector<std::string>{"left", "right"}));
  if (rank_ == 0) {
    const nlohmann::json report = this->report("out");
    EXPECT_EQ(report["converged"], true);
    EXPECT_LT(report["loss"].get<double>(), 1e-6 * report["initial_loss"].get<double>());
    const std::string history = read("out/history.csv");
    EXPECT_TRUE(
        history.starts_with("iteration,loss,gradient_norm,evaluations,seconds,relative_gradient,"
                            "youngs_modulus[left],youngs_modulus[right]\n0,"))
        << history;
    expect_history("out", 1e-9);
    EXPECT_TRUE(has("out/trajectory.h5"));
  }
  // The parameters found can be used as input: by region, as initial values, and as values of the material.
  scene.replace(scene.find("youngs_modulus: 1.0e4"), 21,
                "youngs_modulus: {file: out/parameters.h5, dataset: /parameters/youngs_modulus}");
  write("again.yaml", scene +
                          "objective: {type: track, observations: truth/trajectory.h5}\n"
                          "parameters: {name: youngs_modulus, per: region, initial: {file: out/parameters.h5, "
                          "dataset: /parameters/youngs_modulus}}\n");
  expect_done(run({"gradient", "again.yaml"}, "again"));
  if (rank_ == 0) {
    EXPECT_LT(report("again")["loss"].get<double>(), 1e-10);
  }
}

TEST(UnknownFiles, ContainUnitsInAscii) {
  EXPECT_EQ(in_ascii("m²/s²"), "m^2/s^2");
  EXPECT_EQ(in_ascii("kg²/m³ m⁴/m³"), "kg^2/m^3 m^4/m^3");
  EXPECT_EQ(in_ascii("1"), "1");
}

TEST_F(Commands, ParametersOfOneLawLeaveCellsOfOthersAlone) {
  const std::string materials =
      "material:\n"
      "  - {region: left, model: neo_hookean, density: 1000, youngs_modulus: 1.0e4, poisson_ratio: 0.3}\n"
      "  - {region: right, model: mooney_rivlin, density: 1000, c10: 2.0e3, c01: 1.0e3, bulk_modulus: 1.0e4}\n";
  std::string scene = bar("1", target +
                                   "parameters:\n"
                                   "  - {name: youngs_modulus}\n"
                                   "  - {name: c10, per: region}\n"
                                   "  - {name: density, per: region}\n");
  scene.replace(scene.find("material:"), scene.find("solver:") - scene.find("material:"), materials);
  scene.replace(scene.find("  tip:"), 0, "  right: {box: {min: [0.5, 0, 0], max: [1, 1, 1]}}\n");
  write("s.yaml", scene);
  expect_done(run({"check", "s.yaml"}, "check"));
  expect_done(run({"gradient", "s.yaml"}, "out"));
  Shape shape;
  EXPECT_NE(dataset("out/gradient.h5", "/gradient/youngs_modulus").at(0), 0.0);
  EXPECT_NE(dataset("out/gradient.h5", "/gradient/c10", &shape).at(0), 0.0);
  EXPECT_EQ(shape, Shape{1});
  dataset("out/gradient.h5", "/gradient/density", &shape);
  EXPECT_EQ(shape, Shape{2});
}

TEST_F(Commands, InvertSaysWhenItDidNotConverge) {
  write("s.yaml", bar("2.0e4", target + "parameters: {name: youngs_modulus}\noptimiser: {max_iterations: 1}\n"));
  const Ran ran = run({"invert", "s.yaml"}, "out");
  EXPECT_EQ(ran.code, 1);
  if (rank_ != 0) return;
  EXPECT_EQ(report("out")["converged"], false);
  EXPECT_NE(ran.out.find("NOT converged"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace diffsim::app::invert_command_test
