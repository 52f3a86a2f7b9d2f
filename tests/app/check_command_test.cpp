// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Tests of the command `check` on small bodies.

#include "commands_testing.hpp"

#include <cmath>

namespace diffsim::app::check_command_test {
namespace {

TEST_F(Commands, CheckPasses) {
  write("s.yaml", bar("2.0e4", target + "parameters: [{name: youngs_modulus}, {name: gravity}]\n"));
  const Ran ran = run({"check", "s.yaml"}, "out");
  expect_done(ran);
  if (rank_ != 0) return;
  const nlohmann::json report = this->report("out");
  EXPECT_EQ(report["passed"], true) << report;
  EXPECT_LE(report["dot_product_error"].get<double>(), 1e-12);
  EXPECT_NE(report["blas"].get<std::string>(), "") << report;  // path of the BLAS library
  EXPECT_EQ(report["checks"].size(), 2u);
  EXPECT_TRUE(report["checks"]["gravity"].contains("taylor_orders"));
  EXPECT_GE(report["taylor_orders"].size(), 4u);
}

TEST_F(Commands, CheckNamesAParameterOnWhichTheLossDoesNotDepend) {
  // Without gravity, the displacement of a bar in equilibrium does not depend on the density.
  const std::string asked = target + "parameters: [{name: youngs_modulus}, {name: density}]\n";
  write("s.yaml", implicit_bar("integrator: quasi_static, dt: 0.05, steps: 2, gravity: [0, 0, 0]", asked));
  const Ran ran = run({"check", "s.yaml"}, "out");
  expect_done(ran);
  if (rank_ != 0) return;
  EXPECT_NE(ran.out.find("density"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("independent"), std::string::npos) << ran.out;
  const nlohmann::json report = this->report("out");
  EXPECT_EQ(report["checks"]["density"]["verdict"], "independent") << report;
  EXPECT_EQ(report["checks"]["youngs_modulus"]["verdict"], "passed") << report;
}

TEST_F(Commands, ImplicitCheckPasses) {
  const std::string asked = target + "parameters: [{name: youngs_modulus}, {name: traction}]\n";
  for (const char* integrator : {"quasi_static", "newmark"}) {
    write("s.yaml", implicit_bar(std::string("integrator: ") + integrator + ", dt: 0.05, steps: 3", asked));
    expect_done(run({"check", "s.yaml"}, "out"));
    if (rank_ != 0) continue;
    const nlohmann::json report = this->report("out");
    EXPECT_EQ(report["passed"], true) << report;
    EXPECT_LE(report["dot_product_error"].get<double>(), 1e-10);
    EXPECT_EQ(report["implicit"]["steps"], 3);
    EXPECT_EQ(report["implicit"]["indefinite"], 0);
  }
}

TEST_F(Commands, CheckOfProductsAloneTakesNoDifferences) {
  const std::string asked = target + "parameters: [{name: youngs_modulus}, {name: traction}]\n";
  write("s.yaml", implicit_bar("integrator: implicit_euler, dt: 0.05, steps: 3", asked));
  const Ran ran = run({"check", "s.yaml", "--products"}, "out");
  expect_done(ran);
  if (rank_ != 0) return;
  EXPECT_EQ(ran.out.find("by differences"), std::string::npos) << ran.out;
  const nlohmann::json report = this->report("out");
  EXPECT_EQ(report["passed"], true) << report;
  for (const char* name : {"youngs_modulus", "traction"}) {
    EXPECT_LE(report["checks"][name]["dot_product_error"].get<double>(), 1e-10);
    EXPECT_GT(report["checks"][name]["amplification"].get<double>(), 0.0);
    EXPECT_FALSE(report["checks"][name].contains("slope"));
  }
}

TEST_F(Commands, CheckTestsTheHessianWhereAsked) {
  const std::string asked = target + "parameters: [{name: youngs_modulus, per: cell}, {name: density}]\n";
  write("s.yaml", implicit_bar("integrator: newmark, dt: 0.05, steps: 3", asked));
  expect_done(run({"check", "s.yaml", "--hessian"}, "out"));
  if (rank_ == 0) {
    const nlohmann::json report = this->report("out");
    EXPECT_EQ(report["passed"], true) << report;
    EXPECT_LE(report["hessian_symmetry"].get<double>(), 1e-10);
    ASSERT_GE(report["hessian_taylor_orders"].size(), 3u);
    for (const double order : report["hessian_taylor_orders"]) EXPECT_NEAR(order, 3.0, 0.1);
  }
  // The message names a parameter without second derivatives.
  write("shape.yaml", bar("2.0e4", target + "parameters: {name: rest_positions}\n"));
  const Ran ran = run({"check", "shape.yaml", "--hessian"}, "shape");
  EXPECT_EQ(ran.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("no second derivative with respect to 'rest_positions'"), std::string::npos) << ran.err;
  }
}

TEST_F(Commands, NewtonsIterationsMayBeDifferentiatedAsTheyRan) {
  const std::string asked = target + "parameters: {name: youngs_modulus}\n";
  const std::string solver = "integrator: implicit_euler, dt: 0.05, steps: 2";
  const auto gradient = [&](const std::string& more) {
    write("s.yaml", implicit_bar(solver + more, asked));
    expect_done(run({"gradient", "s.yaml"}, "out"));
    return dataset("out/gradient.h5", "/gradient/youngs_modulus").at(0);
  };
  const double implicit = gradient(""), unrolled = gradient(", implicit_differentiation: false"),
               early = gradient(", implicit_differentiation: false, newton: {max_iterations: 1}");
  EXPECT_NEAR(unrolled, implicit, 1e-7 * std::abs(implicit));
  EXPECT_GT(std::abs(early - implicit), 1e-6 * std::abs(implicit));
}

TEST_F(Commands, SecondOrderRunsAndPassesItsChecks) {
  std::string scene = bar("2.0e4", target + "parameters: {name: youngs_modulus}\n");
  replace(scene, "mesh: {", "mesh: {order: 2, ");
  replace(scene, "steps: 20, substeps: 2", "steps: 5, substeps: 4");
  write("s.yaml", scene);
  expect_done(run({"simulate", "s.yaml"}, "out"));
  Shape shape;
  dataset("out/trajectory.h5", "/positions", &shape);
  EXPECT_EQ(shape, (Shape{6, 17 * 5 * 5, 3}));
  dataset("out/trajectory.h5", "/mesh/cells", &shape);
  EXPECT_EQ(shape, (Shape{192, 10}));
  expect_done(run({"check", "s.yaml"}, "checked"));
}

}  // namespace
}  // namespace diffsim::app::check_command_test
