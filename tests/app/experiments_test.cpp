// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes with several experiments: sums of losses and of derivatives, and the files of each experiment.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cell_model_fixture.hpp"

namespace diffsim::app::experiments_test {
namespace {

const std::string body =
    "mesh: {box: {size: [0.4, 0.1, 0.1], cells: [4, 1, 1]}}\n"
    "material: {model: neo_hookean, density: 1000, youngs_modulus: MODULUS, poisson_ratio: RATIO}\n"
    "parameters: [{name: youngs_modulus}, {name: poisson_ratio}, {name: density}]\n"
    "output: {fields: [positions, velocities, reactions]}\n";
const std::string implicit = "solver: {integrator: implicit_euler, dt: 0.02, steps: 5, gravity: [0, -9.8, 0]}\n";
const std::string pull =
    "boundary: [{region: x_min, fix: [x, y, z]}, {region: x_max, traction: [3000, 0, 500]}]\n"
    "objective: [{type: target_position, region: x_max, target: [0.45, 0.06, 0.05]}]\n";
const std::string press =
    "solver: {integrator: quasi_static, dt: 1, steps: 2, gravity: [0, 0, 0]}\n"
    "boundary: [{region: x_min, fix: [x, y, z]}, {region: x_max, move: {velocity: [-0.01, 0, 0]}}]\n"
    "objective: [{type: reaction, region: x_max, target: [-3, 0, 0], weight: 1.0e-4}]\n";
const std::string drop =
    "solver: {dt: 0.0005, steps: 30, substeps: 2, damping: 1, gravity: [0, -9.8, 0]}\n"
    "initial: {velocity: [0, -0.3, 0]}\nobjective: [{type: target_position, region: all, target: [0.2, 0.04, 0.05]}]\n"
    "boundary: []\ncontact: {barrier_distance: 2.0e-3, barrier_stiffness: 1.0e+5, friction: 0.3, friction_velocity: "
    "0.05, obstacles: [{plane: {point: [0, -0.001, 0], normal: [0, 1, 0]}}]}\n";

/// Returns the body with given moduli.
std::string with_moduli(const std::string& modulus, const std::string& ratio) {
  std::string text = body;
  text.replace(text.find("MODULUS"), 7, modulus);
  text.replace(text.find("RATIO"), 5, ratio);
  return text;
}
const std::string given = with_moduli("2.0e+5", "0.3");

/// Returns sections as an entry of `experiments`.
std::string entry(const std::string& name, const std::string& sections) {
  std::string text = "  - name: " + name + "\n    ";
  for (const char c : sections) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text.substr(0, text.find_last_not_of(' ') + 1);
}
const std::string three =
    given + implicit + "experiments:\n" + entry("pull", pull) + entry("press", press) + entry("drop", drop);

class Experiments : public CellModelTest {};

TEST_F(Experiments, add_up_to_the_sum_of_separate_runs) {
  write("scene.yaml", three);
  good({"gradient", "scene.yaml"}, "all");
  double loss = 0.0;
  const std::vector<std::string> names{"youngs_modulus", "poisson_ratio", "density"};
  std::vector<double> sums(names.size(), 0.0);
  for (const auto& [name, sections] :
       {std::pair<std::string, std::string>{"pull", implicit + pull}, {"press", press}, {"drop", drop}}) {
    write(name + ".yaml", given + sections);
    const Ran ran = run({"gradient", name + ".yaml"}, name);
    EXPECT_EQ(ran.code, 0) << ran.err;
    loss += dataset(name + "/gradient.h5", "/loss").at(0);
    for (std::size_t k = 0; k < names.size(); ++k)
      sums[k] += dataset(name + "/gradient.h5", "/gradient/" + names[k]).at(0);
    if (rank_ == 0) {
      EXPECT_EQ(report("all")["experiments"][name]["loss"], report(name)["loss"]) << name;
    }
  }
  EXPECT_EQ(dataset("all/gradient.h5", "/loss").at(0), loss);
  for (std::size_t k = 0; k < names.size(); ++k) {
    // Derivatives with respect to the logarithm are added, so sums of the derivatives differ by rounding errors.
    const double sum = dataset("all/gradient.h5", "/gradient/" + names[k]).at(0);
    EXPECT_NEAR(sum, sums[k], 1e-14 * std::abs(sums[k])) << names[k];
    EXPECT_NE(sum, 0.0);
  }
}

TEST_F(Experiments, pass_the_check_of_derivatives) {
  write("scene.yaml", three);
  good({"check", "scene.yaml", "--hessian"}, "check");
}

TEST_F(Experiments, determine_together_what_none_determines_alone) {
  // The first experiment observes a force, the second the contraction of the middle, without any force.
  const auto scene = [&](const std::string& moduli, bool observed) {
    const std::string stretched =
        "boundary: [{region: x_min, fix: [x, y, z]}, {region: x_max, move: {velocity: [0.02, 0, 0]}}]\n";
    const std::string force = observed ? "objective: [{type: reaction, region: x_max, observations: "
                                         "measured/force/trajectory.h5, weight: 1.0e-3}]\n"
                                       : "";
    const std::string shape =
        observed ? "objective: [{type: track, region: middle, observations: measured/shape/trajectory.h5}]\n" : "";
    return moduli + "regions: {middle: {box: {min: [0.15, -1, -1], max: [0.25, 1, 1]}}}\n" +
           "solver: {integrator: quasi_static, dt: 1, steps: 2, gravity: [0, 0, 0]}\n" + "experiments:\n" +
           entry("force", stretched + force) + entry("shape", stretched + shape);
  };
  write("measure.yaml", scene(with_moduli("3.1e+5", "0.35"), false));
  good({"simulate", "measure.yaml"}, "measured");
  std::string text = scene(given, true);
  const std::string parameters = "parameters: [{name: youngs_modulus}, {name: poisson_ratio}, {name: density}]\n";
  text.replace(text.find(parameters), parameters.size(),
               "parameters: [{name: youngs_modulus}, {name: poisson_ratio, bounds: [0.1, 0.45]}]\n"
               "optimiser: {method: newton_cg, max_iterations: 40, gradient_tolerance: 1.0e-8}\n");
  write("scene.yaml", text);
  good({"invert", "scene.yaml"}, "run");
  EXPECT_NEAR(dataset("run/parameters.h5", "/parameters/youngs_modulus").at(0), 3.1e5, 1e-4 * 3.1e5);
  EXPECT_NEAR(dataset("run/parameters.h5", "/parameters/poisson_ratio").at(0), 0.35, 1e-4);
  const std::vector<double> measured = dataset("measured/force/trajectory.h5", "/reaction/x_max"),
                            found = dataset("run/force/trajectory.h5", "/reaction/x_max");
  ASSERT_EQ(found.size(), 9u);
  EXPECT_NEAR(found[6], measured[6], 1e-4 * std::abs(measured[6]));
  if (rank_ == 0) {
    EXPECT_TRUE(std::filesystem::exists(path("run/shape/trajectory.xdmf")));
    EXPECT_GE(report("run")["experiments"]["shape"]["loss"], 0.0);
  }
}

/// Experiments on groups of one process each, against the experiments one after the other on one process.
class Groups : public Experiments {
 protected:
  void expect_same_bits(const std::string& text, const std::string& label, const std::vector<std::string>& parameters) {
    write(label + ".yaml", text);
    const std::string groups = std::to_string(std::min(ranks_, 3));
    for (const std::string command : {"gradient", "invert"}) {
      const std::string single = label + "_" + command, grouped = single + "_groups";
      const Ran ran = run({command, label + ".yaml", "--groups", groups}, grouped);
      if (rank_ == 0) {
        const Ran alone = run({command, label + ".yaml"}, single, MPI_COMM_SELF);
        EXPECT_EQ(ran.code, alone.code) << ran.err << alone.err;
        EXPECT_EQ(ran.err, alone.err);
        const auto found = report(grouped), expected = report(single);
        for (const char* key : {"loss", "gradient_norm"}) EXPECT_EQ(found[key], expected[key]) << command << " " << key;
        for (const char* name : {"pull", "press", "drop"})
          EXPECT_EQ(found["experiments"][name]["loss"], expected["experiments"][name]["loss"])
              << command << " " << name;
        EXPECT_EQ(found.value("groups", 1), std::min(ranks_, 3));
      }
      MPI_Barrier(MPI_COMM_WORLD);
      const std::string file = command == "invert" ? "/parameters.h5" : "/gradient.h5",
                        group = command == "invert" ? "/parameters/" : "/gradient/";
      for (const std::string& name : parameters)
        EXPECT_EQ(dataset(grouped + file, group + name), dataset(single + file, group + name)) << name;
    }
    for (const char* name : {"/pull", "/press", "/drop"})
      EXPECT_EQ(dataset(label + "_invert_groups" + name + "/trajectory.h5", "/positions"),
                dataset(label + "_invert" + name + "/trajectory.h5", "/positions"));
  }
  static std::string with(std::string text, const std::string& more) {
    text.insert(text.find("experiments:"), "optimiser: {max_iterations: 4, gradient_tolerance: 0}\n" + more);
    return text;
  }
};

TEST_F(Groups, have_the_bits_of_one_process) {
  expect_same_bits(with(three, ""), "plain", {"youngs_modulus", "poisson_ratio", "density"});
}

// The default mean of the prior is the gravity of the first experiment, and the groups use different files.
TEST_F(Groups, have_the_bits_of_one_process_with_priors_and_files) {
  std::string text = three;
  text.replace(text.find("{name: density}"), 15, "{name: gravity}");
  text = with(text,
              "priors: [{parameter: gravity, type: normal, deviation: 0.5}]\ncheckpoint: {schedule: revolve, "
              "snapshots: 2, store: hdf5, directory: " +
                  path("checkpoints") + "}\n");
  expect_same_bits(text, "priors", {"youngs_modulus", "poisson_ratio", "gravity"});
}

// On three processes, the groups have two processes and one.
TEST_F(Groups, of_several_processes_have_the_loss_of_one_group) {
  write("scene.yaml", three);
  good({"gradient", "scene.yaml"}, "one");
  good({"gradient", "scene.yaml", "--groups", std::to_string(std::min(ranks_, 2))}, "two");
  for (const char* name : {"/loss", "/gradient/youngs_modulus", "/gradient/density"}) {
    const double one = dataset("one/gradient.h5", name).at(0);
    EXPECT_NEAR(dataset("two/gradient.h5", name).at(0), one, 1e-7 * std::abs(one)) << name;
  }
}

// The error is that of the last experiment, which another group reads.
TEST_F(Groups, report_bad_input_of_one_group) {
  std::string text = three;
  text.replace(text.find("target: [0.2, 0.04, 0.05]"), 25, "target: [0.2, 0.04, 0.05], step: 31");
  write("scene.yaml", text);
  text = three;
  text.replace(text.find("region: all, target"), 19, "region: al, target");
  write("region.yaml", text);
  for (const char* scene : {"scene.yaml", "region.yaml"}) {
    const Ran ran = run({"gradient", scene, "--groups", std::to_string(std::min(ranks_, 3))}, "bad");
    EXPECT_EQ(ran.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(scene), std::string::npos) << ran.err;
      EXPECT_FALSE(std::filesystem::exists(path("bad")));
    }
  }
}

TEST_F(Experiments, are_refused_in_one_line) {
  const auto refused = [&](const std::string& text, const std::string& words,
                           const std::vector<std::string>& more = {}) {
    write("scene.yaml", text);
    std::vector<std::string> line{"gradient", "scene.yaml"};
    line.insert(line.end(), more.begin(), more.end());
    const Ran ran = run(line, "refused");
    EXPECT_EQ(ran.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
      EXPECT_FALSE(std::filesystem::exists(path("refused")));
    }
  };
  const std::string start = given + implicit + "experiments:\n";
  refused(start + entry("a", pull) + entry("a", press), "another experiment is called 'a'");
  refused(start + entry("a/b", pull), "'a/b' is not the name of a folder");
  refused(start + entry("a", pull + "mesh: {file: b.msh}\n"), "experiments[0].mesh: unknown key");
  refused(start + "  - {boundary: []}\n", "experiments[0].name: is missing");
  refused(given + implicit + "experiments: []\n", "is an empty list");
  refused(start + entry("a", pull) + entry("b", "boundary: []\n"),
          "objective: is missing in experiment 'b'; gradient needs one");
  refused(three, "--resume: is not available for scenes with `experiments`", {"--resume"});
  refused(three, "--groups: 4 groups are more than the 3 experiments", {"--groups", "4"});
  if (ranks_ < 3)
    refused(three, "--groups: 3 groups are more than the " + std::to_string(ranks_) + " processes", {"--groups", "3"});
  refused(given + implicit + pull, "--groups: needs a scene with `experiments`", {"--groups", "2"});
  if (ranks_ > 1) {
    std::string field = three;
    field.replace(field.find("{name: youngs_modulus}"), 22, "{name: youngs_modulus, per: cell}");
    refused(field, "which groups of processes cannot share", {"--groups", "2"});
  }
}

}  // namespace
}  // namespace diffsim::app::experiments_test
