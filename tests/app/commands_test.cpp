// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The commands from scene to files, on small bodies.

#include <petscsys.h>

#include <cmath>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/io/hdf5_file.hpp"
#include "runner_fixture.hpp"

namespace diffsim::app {
namespace {

/// A bar of soft rubber that hangs from x_min and swings; `more` is added to the scene.
std::string bar(const std::string& stiffness, const std::string& more) {
  return "mesh: {box: {size: [1, 0.25, 0.25], cells: [8, 2, 2]}}\n"
         "regions:\n"
         "  left: {box: {min: [0, 0, 0], max: [0.5, 1, 1]}}\n"
         "  tip: {vertices: [8, 17, 26]}\n"
         "material: {model: neo_hookean, density: 1000, youngs_modulus: " +
         stiffness +
         ", poisson_ratio: 0.3}\n"
         "solver: {dt: 0.005, steps: 20, substeps: 2, damping: 0.999}\n"
         "boundary:\n"
         "  - {region: x_min, fix: [x, y, z]}\n"
         "  - {region: x_max, traction: [0, 0, -5]}\n" +
         more;
}

const std::string target = "objective: {type: target_position, region: tip, target: [1, 0.3, 0]}\n";

class Commands : public RunnerTest {
 protected:
  void expect_done(const Ran& ran) {
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
  }
  /// A dataset that all ranks read.
  std::vector<double> dataset(const std::string& file, const std::string& name, Shape* shape = nullptr) const {
    const Hdf5File opened = Hdf5File::open(MPI_COMM_WORLD, path(file));
    if (shape) *shape = opened.info(name).shape;
    return opened.read_array<double>(name);
  }
  void write_fields(const std::string& name, const std::vector<double>& values, const Shape& shape) {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path(name), "test", 1);
    file.write_array("/values", values, shape);
    file.publish();
  }
  static void replace(std::string& text, const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
  }
  bool has(const std::string& file) const { return std::filesystem::exists(path(file)); }
  /// history.csv counts iterations from 0, each once, and compares gradients with the first one. Not collective.
  void expect_history(const std::string& output, double tolerance) const {
    std::istringstream lines(read(output + "/history.csv"));
    std::string line, word;
    std::getline(lines, line);
    EXPECT_EQ(line.find("iteration,loss,gradient_norm,evaluations,seconds,relative_gradient,"), 0u) << line;
    int rows = 0;
    double first_norm = 0.0, relative = 0.0;
    for (; std::getline(lines, line); ++rows) {
      std::vector<double> row;
      for (std::istringstream words(line); std::getline(words, word, ',');) row.push_back(std::stod(word));
      EXPECT_EQ(row.at(0), rows) << line;
      if (rows == 0) first_norm = row.at(2);
      relative = row.at(5);
      EXPECT_NEAR(relative, row.at(2) / first_norm, 1e-5 * relative) << line;
    }
    EXPECT_GT(rows, 2);
    EXPECT_LE(relative, tolerance);
    EXPECT_EQ(report(output)["iterations"], rows - 1);
    EXPECT_NEAR(report(output)["relative_gradient"].get<double>(), relative, 1e-5 * relative);
  }
};

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
  EXPECT_EQ(x[0], 0.0);                     // held
  EXPECT_EQ(x[3 * 8], 1.0);                 // vertex 8 is the tip's, at rest in the first frame
  EXPECT_LT(x[2 * 81 * 3 + 3 * 8 + 1], 0);  // and falls
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

  // What the report says of it.
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
  // The program alone is larger.
  const Ran refused = gradient("checkpoint: {memory: 1MB}\n");
  EXPECT_EQ(refused.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(refused.err.find("checkpoint: checkpoints within 976.56 KiB: the processes hold "), std::string::npos)
        << refused.err;
    EXPECT_NE(refused.err.find(" at least; give that or more, fewer ranks or a smaller problem"), std::string::npos)
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
    EXPECT_NE(planned.out.find("the disk writes a snapshot in the time of "), std::string::npos) << planned.out;
  }
}

TEST_F(Commands, LoadsMayBeConstantOrSignalsOrFiles) {
  // Position of the tip (vertex 8) in the last frame, with loads given in several ways.
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

TEST_F(Commands, CheckPasses) {
  write("s.yaml", bar("2.0e4", target + "parameters: [{name: youngs_modulus}, {name: gravity}]\n"));
  const Ran ran = run({"check", "s.yaml"}, "out");
  expect_done(ran);
  if (rank_ != 0) return;
  const nlohmann::json report = this->report("out");
  EXPECT_EQ(report["passed"], true) << report;
  EXPECT_LE(report["dot_product_error"].get<double>(), 1e-12);
  EXPECT_EQ(report["checks"].size(), 2u);
  EXPECT_TRUE(report["checks"]["gravity"].contains("taylor_orders"));
  EXPECT_GE(report["taylor_orders"].size(), 4u);
}

std::string implicit_bar(const std::string& solver, const std::string& more) {
  std::string scene = bar("2.0e4", more);
  const std::size_t begin = scene.find("solver:"), end = scene.find("boundary:");
  return scene.replace(begin, end - begin, "solver: {" + solver + "}\n");
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
  // What has no second derivatives is told, by name.
  write("shape.yaml", bar("2.0e4", target + "parameters: {name: rest_positions}\n"));
  const Ran ran = run({"check", "shape.yaml", "--hessian"}, "shape");
  EXPECT_EQ(ran.code, 2);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("no second derivative by 'rest_positions'"), std::string::npos) << ran.err;
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
  // What was found can be used as input: by region, as the values to begin with and as the material's.
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
  // The converted mesh is the same mesh.
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
    EXPECT_NE(first.err.find("is not there, so the loss is not computed"), std::string::npos) << first.err;
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
}  // namespace diffsim::app
