// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Newton's method or a linear system fails at step 37. The exit code is 1, no later step and no gradient is written,
// and the message states the step, PETSc's name of the reason, the history of residuals, and possible remedies.

#include <numeric>

#include "io/hdf5_file.hpp"
#include "runner_fixture.hpp"

namespace diffsim::app::solver_failure_test {
namespace {

constexpr int steps = 40, bad_step = 37;

struct Failure {
  const char *name, *law;
  const char* before;  ///< load of the previous steps
  const char* at;      ///< load of step 37
  const char* solver;
  const char* petsc;
  std::vector<const char*> says;
};

class SolverFailure : public RunnerTest {
 protected:
  std::string scene(const Failure& failure) const {
    std::string loads;
    for (int n = 0; n < steps; ++n)
      loads += std::string(n > 0 ? ", " : "") + (n == bad_step ? failure.at : failure.before);
    return "mesh: {box: {size: [1, 0.25, 0.25], cells: [4, 1, 1]}}\n"
           "material: {model: " +
           std::string(failure.law) +
           ", density: 1000, youngs_modulus: 2.0e4, poisson_ratio: 0.3}\n"
           "solver: {integrator: implicit_euler, dt: 0.05, gravity: [0, 0, 0], steps: " +
           std::to_string(steps) + ", " + failure.solver +
           "}\nboundary:\n  - {region: x_min, fix: [x, y, z]}\n  - {region: x_max, traction: [" + loads + "]}\n" +
           "objective: {type: target_position, region: x_max, target: [1, 0, 0]}\n"
           "parameters: {name: youngs_modulus}\n" +
           failure.petsc;
  }

  void expect_told(const Failure& failure) {
    write("s.yaml", scene(failure));
    for (const char* command : {"simulate", "gradient"}) {
      const std::string at = std::string(failure.name) + ", " + command + ": ";
      const std::string folder = std::string(failure.name) + "_" + command;
      const Ran ran = run({command, "s.yaml"}, folder);
      EXPECT_EQ(ran.code, 1) << at;
      EXPECT_FALSE(std::filesystem::exists(path(folder + "/gradient.h5"))) << at;
      if (std::string(command) == "simulate") {
        std::vector<std::int64_t> expected(bad_step + 1);
        std::iota(expected.begin(), expected.end(), 0);
        const Hdf5File file = Hdf5File::open(MPI_COMM_WORLD, path(folder + "/trajectory.h5"));
        EXPECT_EQ(file.read_array<std::int64_t>("/step"), expected) << at;
      }
      if (rank_ != 0) continue;
      EXPECT_NE(ran.err.find("step 37: Newton's method failed in iteration"), std::string::npos) << at << ran.err;
      for (const char* part : failure.says) EXPECT_NE(ran.err.find(part), std::string::npos) << at << ran.err;
      const nlohmann::json report = this->report(folder);
      EXPECT_EQ(report["converged"], false) << at;
      EXPECT_TRUE(report["gradient_norm"].is_null()) << at;
    }
  }
};

TEST_F(SolverFailure, of_newton) {
  expect_told({"newton",
               "neo_hookean",
               "[0, 0, -5]",
               "[0, 0, -1.0e6]",
               "newton: {max_iterations: 6, max_cuts: 0}",
               "",
               {"SNES_DIVERGED_MAX_IT", "relative residuals 1, ", "use a smaller dt, more steps for the load"}});
}

// Until step 37 the residual consists of rounding errors only, which the solver recognises.
TEST_F(SolverFailure, of_conjugate_gradients) {
  expect_told({"krylov",
               "neo_hookean",
               "[0, 0, 0]",
               "[0, 0, -5]",
               "newton: {max_cuts: 0}, linear: {direct_below: 0}",
               "petsc: {pc_type: jacobi, ksp_max_it: 2}\n",
               {"SNES_DIVERGED_LINEAR_SOLVE", "KSP_DIVERGED_ITS after 2 iterations", "relative residuals 1; ",
                "choose another solver under petsc: (ksp_type, pc_type), raise its ksp_max_it"}});
}

}  // namespace
}  // namespace diffsim::app::solver_failure_test
