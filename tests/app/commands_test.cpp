// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Tests of the commands `simulate` and `gradient`, from scene to files, on small bodies.

#include <petscsys.h>

#include <cmath>

#include "commands_testing.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::app::commands_test {
namespace {

TEST_F(Commands, SimulateWritesTheTrajectory) {
  write("s.yaml", bar("2.0e4", "output: {every: 8, fields: [positions]}\n"));
  const Ran ran = run({"simulate", "s.yaml"}, "out");
  expect_done(ran);
  const Hdf5File file = Hdf5File::open(MPI_COMM_WORLD, path("out/trajectory.h5"));
  EXPECT_EQ(file.info("/positions").shape, (Shape{4, 81, 3}));
  EXPECT_FALSE(file.has("/velocities"));
  EXPECT_EQ(file.read_array<std::int64_t>("/step"), (std::vector<std::int64_t>{0, 8, 16, 20}));
  const std::vector<double> time = file.read_array<double>("/time");
  EXPECT_NEAR(time.at(2), 0.08, 1e-15);
  const std::vector<double> x = file.read_array<double>("/positions");
  EXPECT_EQ(x[0], 0.0);                     // fixed
  EXPECT_EQ(x[3 * 8], 1.0);                 // vertex 8 at the tip has its rest position in the first frame
  EXPECT_LT(x[2 * 81 * 3 + 3 * 8 + 1], 0);  // the tip falls
  if (rank_ != 0) return;
  EXPECT_TRUE(has("out/trajectory.xdmf"));
  EXPECT_NE(ran.out.find("simulate: 20 steps, 81 vertices, 192 cells"), std::string::npos) << ran.out;
  const nlohmann::json report = this->report("out");
  EXPECT_EQ(report["command"], "simulate");
  EXPECT_EQ(report["ranks"], ranks_);
  EXPECT_EQ(report["mesh"]["vertices"], 81);
  EXPECT_EQ(report["mesh"]["cells"], 192);
  EXPECT_TRUE(report["loss"].is_null());
  for (const char* key :
       {"version", "back_end", "threads", "gradient_norm", "converged", "iterations", "peak_memory_bytes"})
    EXPECT_TRUE(report.contains(key)) << key;
  for (const char* key : {"setup", "forward", "backward", "io"})
    EXPECT_GE(report["wall_seconds"][key].get<double>(), 0) << key;
  EXPECT_GT(report["peak_memory_bytes"].get<double>(), 1e6);
}

TEST_F(Commands, GradientDoesNotDependOnRanks) {
  if (ranks_ == 1) GTEST_SKIP() << "one rank is what others are compared with";
  std::vector<double> ratios(192);
  for (std::size_t c = 0; c < ratios.size(); ++c) ratios[c] = 0.2 + 0.001 * static_cast<double>(c);
  write_fields("ratios.h5", ratios, {192});
  std::string scene = bar("2.0e4", target +
                                       "parameters:\n"
                                       "  - {name: youngs_modulus, per: global}\n"
                                       "  - {name: poisson_ratio, per: cell}\n"
                                       "  - {name: density, per: global, region: left}\n"
                                       "  - {name: gravity}\n"
                                       "  - {name: damping, per: step}\n"
                                       "  - {name: traction, per: step}\n"
                                       "  - {name: nodal_load}\n"
                                       "  - {name: initial_positions}\n"
                                       "  - {name: initial_velocities, per: global}\n"
                                       "checkpoint: {schedule: uniform, every: 7}\n");
  replace(scene, "poisson_ratio: 0.3", "poisson_ratio: {file: ratios.h5, dataset: /values}");
  write("s.yaml", scene);
  expect_done(run({"gradient", "s.yaml"}, "all"));
  EXPECT_EQ(run({"gradient", "s.yaml"}, "one" + std::to_string(rank_), MPI_COMM_SELF).code, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<std::pair<std::string, Shape>> datasets{
      {"/loss", {}},
      {"/gradient/youngs_modulus", {}},
      {"/gradient/poisson_ratio", {192}},
      {"/gradient/density", {}},
      {"/gradient/gravity", {3}},
      {"/gradient/damping", {20}},
      {"/gradient/traction", {20, 3}},
      {"/gradient/nodal_load", {81, 3}},
      {"/gradient/initial_positions", {81, 3}},
      {"/gradient/initial_velocities", {3}},
  };
  for (const auto& [name, expected] : datasets) {
    Shape shape;
    const std::vector<double> all = dataset("all/gradient.h5", name, &shape);
    const std::vector<double> one = dataset("one0/gradient.h5", name);
    EXPECT_EQ(shape, expected) << name;
    double difference = 0.0, norm = 0.0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      difference += (all[i] - one[i]) * (all[i] - one[i]);
      norm += one[i] * one[i];
    }
    EXPECT_GT(norm, 0.0) << name;
    EXPECT_LE(std::sqrt(difference), 1e-11 * std::sqrt(norm)) << name;
  }
  const double loss = dataset("all/gradient.h5", "/loss").at(0);
  if (rank_ == 0) {
    EXPECT_EQ(report("all")["loss"].get<double>(), loss);
  }
}

TEST_F(Commands, GradientDoesNotDependOnCheckpoints) {
  const auto gradient = [&](const std::string& checkpoint) {
    write("s.yaml", bar("2.0e4", target + "parameters: {name: youngs_modulus, per: cell}\n" + checkpoint));
    expect_done(run({"gradient", "s.yaml"}, "out"));
    return dataset("out/gradient.h5", "/gradient/youngs_modulus");
  };
  const std::vector<double> all = gradient("");
  measures_ = PlanMeasures{};
  EXPECT_EQ(all, gradient("checkpoint: {every: 1}\n"));
  EXPECT_EQ(all, gradient("checkpoint: {schedule: uniform, every: 7}\n"));
  EXPECT_EQ(all, gradient("checkpoint: {schedule: revolve, snapshots: 3}\n"));
  EXPECT_EQ(all, gradient("checkpoint: {schedule: two_level, every: 6, snapshots: 2}\n"));
  EXPECT_EQ(all, gradient("checkpoint: {schedule: online, snapshots: 4}\n"));
  EXPECT_EQ(all, gradient("checkpoint: {memory: 1MB}\n"));
  EXPECT_EQ(all, gradient("checkpoint: {memory: 1MB, store: tiered, directory: " + path("planned") + "}\n"));
  EXPECT_FALSE(has("planned"));
  EXPECT_EQ(all, gradient("checkpoint: {levels: [{snapshots: 2}, {snapshots: 3, write: 2, read: 1}], directory: " +
                          path("levels") + "}\n"));
  EXPECT_EQ(all, gradient("checkpoint: {every: 6, store: hdf5, directory: " + path("snapshots") + "}\n"));
  EXPECT_FALSE(has("snapshots"));

  // Figures of the sweep in the report.
  const auto sweeps = [&] { return report("out")["checkpoint"]; };
  if (rank_ == 0) {
    EXPECT_EQ(sweeps()["store"], "hdf5");
    EXPECT_EQ(sweeps()["advances"].get<int>() + sweeps()["recordings"].get<int>(), 38);
    EXPECT_EQ(sweeps()["stores"], 3);
    EXPECT_EQ(sweeps()["restores"], 3);
    EXPECT_GE(sweeps()["bytes_written"].get<std::int64_t>(), 3 * 81 * 6 * 8);
    EXPECT_GT(sweeps()["seconds_waiting"].get<double>(), 0.0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  gradient("checkpoint: {memory: 1MB}\n");
  if (rank_ == 0) {
    EXPECT_EQ(sweeps()["schedule"], "planned");
    EXPECT_EQ(sweeps()["bytes_written"], 0);
    EXPECT_LE(sweeps()["plan"]["bytes"].get<std::int64_t>(), 1000000);
    EXPECT_GT(sweeps()["plan"]["expected_seconds"].get<double>(), 0.0);
  }
}

TEST_F(Commands, AMemoryBudgetIsForAllThatTheProcessesHold) {
  const auto gradient = [&](const std::string& checkpoint) {
    write("s.yaml", bar("2.0e4", target + "parameters: {name: youngs_modulus, per: cell}\n" + checkpoint));
    return run({"gradient", "s.yaml"}, "out");
  };
  // The program alone needs more memory than the budget.
  const Ran refused = gradient("checkpoint: {memory: 1MB}\n");
  EXPECT_EQ(refused.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(refused.err.find("checkpoint: checkpoints within 976.56 KiB: the processes hold "), std::string::npos)
        << refused.err;
    EXPECT_NE(refused.err.find(" at least; give at least that much memory, fewer ranks or a smaller problem"),
              std::string::npos)
        << refused.err;
  }
  const Ran planned = gradient("checkpoint: {memory: 1TB, store: tiered, directory: " + path("planned") + "}\n");
  EXPECT_EQ(planned.code, 0) << planned.err;
  EXPECT_FALSE(has("planned"));
  if (rank_ == 0) {
    const nlohmann::json plan = report("out")["checkpoint"]["plan"];
    EXPECT_GT(plan["held_bytes"].get<double>(), 1e7 * ranks_);
    EXPECT_LT(plan["held_bytes"].get<double>(), 1e9 * ranks_);
    EXPECT_GT(plan["beside_bytes"].get<std::int64_t>(), 0);
    EXPECT_GT(plan["step_seconds"].get<double>(), 0.0);
    EXPECT_GT(plan["write_steps"].get<double>(), 0.0);
    EXPECT_GT(plan["read_steps"].get<double>(), 0.0);
    EXPECT_EQ(plan["disk_snapshots"], 0);
    EXPECT_EQ(plan["ratio"], 1.0);
    EXPECT_NE(planned.out.find("the disk takes the time of "), std::string::npos) << planned.out;
  }
}

TEST_F(Commands, LoadsMayBeConstantOrSignalsOrFiles) {
  // Returns the position of the tip (vertex 8) in the last frame, for loads given in several ways.
  const auto tip = [&](const std::string& gravity, const std::string& boundary, const std::string& more = "") {
    std::string scene =
        "mesh: {box: {size: [1, 0.25, 0.25], cells: [8, 2, 2]}}\n"
        "regions: {tip: {vertices: [8, 17, 26]}}\n"
        "material: {model: neo_hookean, density: 1000, youngs_modulus: 2.0e4, poisson_ratio: 0.3}\n"
        "solver: {dt: 0.005, steps: 2, substeps: 2, gravity: " +
        gravity +
        "}\n"
        "boundary:\n  - {region: x_min, fix: [x, y, z]}\n" +
        boundary + more;
    write("s.yaml", scene);
    expect_done(run({"simulate", "s.yaml"}, "out"));
    const std::vector<double> x = dataset("out/trajectory.h5", "/positions");
    return std::vector<double>(x.end() - 81 * 3 + 24, x.end() - 81 * 3 + 27);
  };
  std::vector<double> everywhere(81 * 3, 0.0);
  for (std::size_t v = 0; v < 81; ++v) everywhere[3 * v + 2] = v % 9 == 8 ? 0.1 : 77.0;
  write_fields("loads.h5", everywhere, {81, 3});
  write_fields("signal.h5", {0, 0, -9, 0, 0, -9}, {2, 3});

  const std::vector<double> none = tip("0", "");
  EXPECT_EQ(none, (std::vector<double>{1, 0, 0}));
  const std::vector<double> down = tip("[0, 0, -9]", "");
  EXPECT_LT(down[2], -1e-4);
  EXPECT_EQ(down, tip("[[0, 0, -9], [0, 0, -9]]", ""));
  EXPECT_EQ(down, tip("{file: signal.h5, dataset: /values}", ""));
  EXPECT_NE(down, tip("[[0, 0, -9], [0, 0, 0]]", ""));

  const std::vector<double> pulled = tip("0", "  - {region: tip, nodal_load: [0, 0, 0.1]}\n");
  EXPECT_GT(pulled[2], 1e-6);
  EXPECT_EQ(pulled, tip("0", "  - {region: tip, nodal_load: [[0, 0, 0.1], [0, 0, 0.1]]}\n"));
  EXPECT_EQ(pulled, tip("0", "  - {region: tip, nodal_load: {file: loads.h5, dataset: /values}}\n"));
  const std::vector<double> twice = tip("0",
                                        "  - {region: tip, nodal_load: [0, 0, 0.05]}\n"
                                        "  - {region: tip, nodal_load: [[0, 0, 0.05], [0, 0, 0.05]]}\n");
  EXPECT_EQ(pulled, twice);

  const std::vector<double> surface = tip("0", "  - {region: x_max, traction: [0, 0, 5]}\n");
  EXPECT_GT(surface[2], 1e-6);
  EXPECT_EQ(surface, tip("0", "  - {region: x_max, traction: [[0, 0, 5], [0, 0, 5]]}\n"));

  const std::vector<double> thrown = tip("0", "", "initial: {velocity: [0, 0, 1], displacement: [0, 0.5, 0]}\n");
  EXPECT_GT(thrown[2], 1e-3);
  EXPECT_GT(thrown[1], 0.4);
}

TEST_F(Commands, GradientIsByThePhysicalParameter) {
  const auto loss = [&](const std::string& stiffness, const std::string& output) {
    write("s.yaml", bar(stiffness, target + "parameters: {name: youngs_modulus}\n"));
    expect_done(run({"gradient", "s.yaml"}, output));
    return dataset(output + "/gradient.h5", "/loss").at(0);
  };
  const double high = loss("20020", "high"), low = loss("19980", "low");
  loss("20000", "out");
  const double gradient = dataset("out/gradient.h5", "/gradient/youngs_modulus").at(0);
  EXPECT_NEAR(gradient, (high - low) / 40.0, 1e-4 * std::abs(gradient));
}

TEST_F(Commands, SecondOrderCellsRunAndHaveGradients) {
  std::string scene = bar("2.0e4", "parameters: [{name: youngs_modulus}, {name: rest_positions}, {name: drag}]\n");
  replace(scene, "mesh: {", "mesh: {order: 2, ");
  replace(scene, "dt: 0.005", "dt: 0.002");
  replace(scene, "model: neo_hookean,", "model: neo_hookean, drag: 50, viscosity: 2,");
  scene += "objective: {type: target_position, region: x_max, target: [1.0, -0.1, 0.1], step: last}\n";
  write("s.yaml", scene);
  EXPECT_EQ(run({"check", "s.yaml"}, "out").code, 0);
  EXPECT_TRUE(report("out")["passed"].get<bool>());
}

TEST_F(Commands, AnUnstableRunKeepsTheFramesSoFar) {
  std::string scene = bar("1.0e9", "");
  scene.replace(scene.find("dt: 0.005"), 9, "dt: 0.02");
  write("s.yaml", scene);
  const Ran ran = run({"simulate", "s.yaml"}, "out");
  EXPECT_EQ(ran.code, 1);
  const Hdf5File file = Hdf5File::open(MPI_COMM_WORLD, path("out/trajectory.h5"));
  EXPECT_EQ(std::get<std::int64_t>(file.attribute("/", "complete").value()), 0);
  EXPECT_GE(file.info("/step").shape.at(0), 1);
  if (rank_ != 0) return;
  EXPECT_NE(ran.err.find("diffsim: warning: the substep"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("diffsim: error: step "), std::string::npos) << ran.err;
  EXPECT_NE(report("out")["error"].get<std::string>().find("substep"), std::string::npos);
}

TEST_F(Commands, SimulateDoesWithoutObservationsThatAreYetToBeMade) {
  write("s.yaml", bar("2.0e4", "objective: {type: track, observations: out/trajectory.h5}\n"));
  const Ran first = run({"simulate", "s.yaml"}, "out");
  EXPECT_EQ(first.code, 0);
  if (rank_ == 0) {
    EXPECT_NE(first.err.find("does not exist, so the loss is not computed"), std::string::npos) << first.err;
  }
  expect_done(run({"simulate", "s.yaml"}, "again"));
  if (rank_ == 0) {
    EXPECT_LT(report("again")["loss"].get<double>(), 1e-25);
  }
}

TEST_F(Commands, PetscOptionsComeFromTheSceneAndTheCommandLine) {
  write("s.yaml", bar("2.0e4", target + "parameters: {name: youngs_modulus}\noptimiser: {max_iterations: 40}\n"
                                        "petsc: {tao: {max_it: 1}, no_such_option: 3}\n"));
  const Ran ran = run({"invert", "s.yaml"}, "out");
  EXPECT_EQ(ran.code, 1);  // one iteration is not enough
  if (rank_ == 0) {
    EXPECT_EQ(report("out")["iterations"], 1);
    EXPECT_EQ(ran.err, "diffsim: warning: PETSc option -no_such_option was not used; check its name\n");
  }
  PetscBool left = PETSC_TRUE;
  PetscOptionsHasName(nullptr, nullptr, "-tao_max_it", &left);
  EXPECT_EQ(left, PETSC_FALSE);
}

}  // namespace
}  // namespace diffsim::app::commands_test
