// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The section `constraints` of scenes, distributions of material, and objectives that minimise or maximise a sensor.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "cell_model_fixture.hpp"

namespace diffsim::app::constraints_test {
namespace {

/// Returns a scene with a beam, fixed at its left end, with a load at its right end, in static equilibrium.
std::string scene(const std::string& more, const std::string& youngs_modulus = "1.0e+5") {
  return "mesh: {box: {size: [0.4, 0.2, 0.05], cells: [8, 4, 1]}}\n"
         "regions: {edge: {box: {min: [0.399, -1, -1], max: [1, 0.001, 1]}}}\n"
         "material: {model: neo_hookean, density: 1000, youngs_modulus: " +
         youngs_modulus +
         ", poisson_ratio: 0.3}\n"
         "solver: {integrator: quasi_static, dt: 1, steps: 1, gravity: [0, 0, 0], newton: {tolerance: 1.0e-11}}\n"
         "boundary:\n"
         "  - {region: x_min, fix: [x, y, z]}\n"
         "  - {region: edge, nodal_load: [0, -0.02, 0]}\n"
         "sensors:\n"
         "  compliance: {type: work, region: all}\n"
         "  tip: {type: displacement, region: edge}\n" +
         more;
}

const std::string stiffest = "objective: {type: minimise, sensor: compliance}\n";
const std::string design =
    "parameters: [{name: youngs_modulus, initial: 0.4, distribution: {penalty: [1, 3], filter: 0.06, minimum: "
    "0.01}}]\n";

class ConstraintsOfScene : public CellModelTest {
 protected:
  double compliance(const std::string& folder) const {
    return dataset(folder + "/trajectory.h5", "/sensors/compliance").back();
  }
};

TEST_F(ConstraintsOfScene, give_the_stiffest_distribution_of_a_volume) {
  write("scene.yaml",
        scene(stiffest + design +
              "constraints: [{parameter: youngs_modulus, at_most: 0.4}]\n"
              "optimiser: {method: mma, max_iterations: 25, gradient_tolerance: 1.0e-2, move_limit: 0.3}\n"));
  EXPECT_EQ(run({"invert", "scene.yaml"}, "design").code, 1);  // the iterations do not suffice for convergence
  const std::vector<double> density = dataset("design/parameters.h5", "/parameters/youngs_modulus.density");
  const std::vector<double> modulus = dataset("design/parameters.h5", "/parameters/youngs_modulus");
  ASSERT_EQ(density.size(), modulus.size());
  double mean = 0.0;  // all tetrahedra of the box have the same volume
  for (const double rho : density) {
    EXPECT_GE(rho, 0.0);
    EXPECT_LE(rho, 1.0);
    mean += rho / static_cast<double>(density.size());
  }
  EXPECT_LE(mean, 0.4 + 4e-7);
  EXPECT_GE(mean, 0.4 - 1e-4);
  EXPECT_LT(*std::min_element(modulus.begin(), modulus.end()), 3e3);
  EXPECT_GT(*std::max_element(modulus.begin(), modulus.end()), 6e4);

  // A uniform distribution of the same volume is less stiff.
  write("uniform.yaml", scene("", std::to_string(1e5 * (0.01 + 0.99 * std::pow(0.4, 3)))));
  good({"simulate", "uniform.yaml"}, "uniform");
  EXPECT_LT(compliance("design"), 0.5 * compliance("uniform"));

  // The Young's moduli are those of the trajectory of the design.
  write("made.yaml", scene("", "{file: design/parameters.h5, dataset: /parameters/youngs_modulus}"));
  good({"simulate", "made.yaml"}, "made");
  EXPECT_NEAR(compliance("made"), compliance("design"), 1e-9 * compliance("design"));

  if (rank_ != 0) return;
  const std::string report = read("design/report.json"), history = read("design/history.csv");
  for (const char* part : {"\"violation\"", "\"converged\": false", "\"iterations\": 50",
                           "\"name\": \"mean of youngs_modulus.density\"", "\"at_most\": 0.4"})
    EXPECT_NE(report.find(part), std::string::npos) << part;
  EXPECT_NE(history.find("relative_gradient,violation"), std::string::npos);
}

// The bounds exclude the densities 0 and 1, which only the tetrahedra of the regions `solid` and `void` have.
TEST_F(ConstraintsOfScene, are_satisfied_with_prescribed_densities) {
  std::string text =
      scene(stiffest +
            "parameters: [{name: youngs_modulus, initial: 0.4, bounds: [0.1, 0.9], distribution: {filter: 0.06, "
            "minimum: 0.01, solid: [rim], void: [hole]}}]\n"
            "constraints: [{parameter: youngs_modulus, at_most: 0.5}]\n"
            "optimiser: {method: mma, max_iterations: 3, move_limit: 0.3}\n");
  text.replace(text.find("regions: {"), 10,
               "regions: {rim: {box: {min: [-1, -1, -1], max: [0.051, 1, 1]}}, "
               "hole: {box: {min: [0.149, 0.049, -1], max: [0.251, 0.151, 1]}}, ");
  write("scene.yaml", text);
  EXPECT_EQ(run({"invert", "scene.yaml"}, "passive").code, 1);  // the iterations do not suffice for convergence
  const std::vector<double> density = dataset("passive/parameters.h5", "/parameters/youngs_modulus.density");
  const std::vector<double> modulus = dataset("passive/parameters.h5", "/parameters/youngs_modulus");
  ASSERT_EQ(density.size(), modulus.size());
  std::size_t solid = 0, voids = 0;
  double mean = 0.0;  // all tetrahedra of the box have the same volume
  for (std::size_t i = 0; i < density.size(); ++i) {
    mean += density[i] / static_cast<double>(density.size());
    if (density[i] == 1.0) {
      ++solid;
      EXPECT_NEAR(modulus[i], 1e5, 1e-9);
    } else if (density[i] == 0.0) {
      ++voids;
      EXPECT_NEAR(modulus[i], 1e3, 1e-9);
    } else {
      EXPECT_GE(density[i], 0.1);
      EXPECT_LE(density[i], 0.9);
    }
  }
  // The rim is a column of 4 of the 32 boxes, and the hole has 2 × 2 boxes.
  EXPECT_EQ(8 * solid, density.size());
  EXPECT_EQ(8 * voids, density.size());
  EXPECT_LE(mean, 0.5 + 1e-4);
}

// One design for two parameters, with separate exponents.
TEST_F(ConstraintsOfScene, are_satisfied_by_one_design_of_two_parameters) {
  write("scene.yaml",
        scene(stiffest +
              "parameters: [{name: youngs_modulus, initial: 0.4, distribution: {minimum: 0.01, also: [{name: density, "
              "penalty: 2, minimum: 0.02}]}}]\n"
              "constraints: [{parameter: youngs_modulus, at_most: 0.4}]\n"
              "optimiser: {method: mma, max_iterations: 2, move_limit: 0.3}\n"));
  EXPECT_EQ(run({"invert", "scene.yaml"}, "two").code, 1);  // the iterations do not suffice for convergence
  const std::vector<double> rho = dataset("two/parameters.h5", "/parameters/youngs_modulus.density"),
                            modulus = dataset("two/parameters.h5", "/parameters/youngs_modulus"),
                            density = dataset("two/parameters.h5", "/parameters/density");
  ASSERT_EQ(modulus.size(), rho.size());
  ASSERT_EQ(density.size(), rho.size());
  for (std::size_t i = 0; i < rho.size(); ++i) {
    EXPECT_NEAR(modulus[i], 1e5 * (0.01 + 0.99 * std::pow(rho[i], 3)), 1e-8);
    EXPECT_NEAR(density[i], 1000.0 * (0.02 + 0.98 * std::pow(rho[i], 2)), 1e-10);
  }
}

const std::string two_loads =
    "experiments:\n"
    "  - {name: light, boundary: [{region: x_min, fix: [x, y, z]}, {region: edge, nodal_load: [0, -0.02, 0]}]}\n"
    "  - {name: heavy, boundary: [{region: x_min, fix: [x, y, z]}, {region: edge, nodal_load: [0, -0.04, 0]}]}\n";

// The displacements are proportional to the load, up to a few per cent. If the constraint holds in each experiment, the
// greater load is decisive.
TEST_F(ConstraintsOfScene, of_sensors_hold_in_experiments) {
  const std::string softest =
      "parameters: [{name: youngs_modulus, initial: 2.0e+5, bounds: [1.0e+4, 1.0e+6], search: linear}]\n"
      "objective: {type: maximise, sensor: compliance, weight: 10}\n"
      "optimiser: {method: mma, gradient_tolerance: 1.0e-6}\n";
  const auto tip = [&](const std::string& folder) { return dataset(folder + "/trajectory.h5", "/sensors/tip").at(4); };
  write("each.yaml", scene(softest + "constraints: [{sensor: tip, component: y, at_least: -0.001}]\n" + two_loads));
  good({"invert", "each.yaml"}, "each");
  EXPECT_NEAR(tip("each/heavy"), -1e-3, 2e-9);
  EXPECT_NEAR(tip("each/light"), -0.5e-3, 0.05e-3);
  write(
      "one.yaml",
      scene(softest + "constraints: [{sensor: tip, component: y, at_least: -0.001, experiment: light}]\n" + two_loads));
  good({"invert", "one.yaml"}, "one");
  EXPECT_NEAR(tip("one/light"), -1e-3, 2e-9);
  EXPECT_NEAR(tip("one/heavy"), -2e-3, 0.2e-3);
  const Ran ran = good({"check", "each.yaml"}, "check");
  if (ranks_ > 1) {
    const Ran grouped = run({"invert", "each.yaml", "--groups", "2"}, "groups");
    EXPECT_EQ(grouped.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(grouped.err.find("run without --groups"), std::string::npos) << grouped.err;
    }
  }
  if (rank_ != 0) return;
  EXPECT_NE(ran.out.find("constraint tip y in light (constraint 1), youngs_modulus"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("constraint tip y in heavy (constraint 2), youngs_modulus"), std::string::npos) << ran.out;
  EXPECT_EQ(report("each")["constraints"].size(), 2U);
  const auto of_one = report("one")["constraints"];
  ASSERT_EQ(of_one.size(), 1U);
  EXPECT_EQ(of_one[0]["name"], "tip y in light (constraint 1)");
}

// The lightest material whose tip sinks by no more than 1 mm, by both methods; the moduli of the two ends are
// unknown.
TEST_F(ConstraintsOfScene, of_sensors_hold) {
  const std::string halves =
      "parameters: [{name: youngs_modulus, initial: 2.0e+5, bounds: [1.0e+4, 1.0e+6], search: linear}]\n"
      "objective: {type: maximise, sensor: compliance, weight: 10}\n"
      "constraints: [{sensor: tip, component: y, at_least: -0.001}]\n";
  for (const char* method : {"mma", "almm"}) {
    write("scene.yaml", scene(halves + "optimiser: {method: " + method + ", gradient_tolerance: 1.0e-6}\n"));
    good({"invert", "scene.yaml"}, method);
    EXPECT_NEAR(dataset(std::string(method) + "/trajectory.h5", "/sensors/tip").at(4), -1e-3, 2e-9);
  }
  EXPECT_NEAR(dataset("mma/parameters.h5", "/parameters/youngs_modulus").at(0),
              dataset("almm/parameters.h5", "/parameters/youngs_modulus").at(0), 1.0);
}

// With a power, the bound is that of |y|.
TEST_F(ConstraintsOfScene, with_a_power_bound_the_size) {
  write("scene.yaml", scene("parameters: [{name: youngs_modulus, initial: 2.0e+5, bounds: [1.0e+4, 1.0e+6]}]\n"
                            "objective: {type: maximise, sensor: compliance}\n"
                            "constraints: [{sensor: tip, component: y, steps: all, power: 4, at_most: 0.001}]\n"
                            "optimiser: {method: almm, gradient_tolerance: 1.0e-6}\n"));
  good({"invert", "scene.yaml"}, "power");
  EXPECT_NEAR(dataset("power/trajectory.h5", "/sensors/tip").at(4), -1e-3, 1e-9);
}

// The shape of the least stress: the stress decreases, the volume stays the same, and the shape can be read again.
TEST_F(ConstraintsOfScene, give_the_shape_of_the_least_stress) {
  const std::string shape =
      "objective: {type: minimise, sensor: stress}\n"
      "parameters: [{name: rest_positions, filter: 0.1, fixed: [x_min, edge], axes: [x, y], bounds: [-0.04, 0.04]}]\n"
      "constraints:\n"
      "  - {parameter: rest_positions, quantity: relative_volume, at_most: 1}\n"
      "  - {parameter: rest_positions, quantity: distortion, power: 8, at_most: 1.3}\n";
  const auto with_stress = [&](const std::string& more) {
    std::string text = scene(more);
    return text.replace(text.find("sensors:\n"), 9, "sensors:\n  stress: {type: von_mises, region: all, power: 6}\n");
  };
  write("scene.yaml", with_stress(shape + "optimiser: {method: mma, max_iterations: 8, move_limit: 0.3}\n"));
  EXPECT_EQ(run({"invert", "scene.yaml"}, "shape").code, 1);  // the iterations do not suffice for convergence
  good({"simulate", "scene.yaml"}, "start");
  const double first = dataset("start/trajectory.h5", "/sensors/stress").back(),
               last = dataset("shape/trajectory.h5", "/sensors/stress").back();
  EXPECT_LT(last, 0.8 * first);
  const std::vector<double> made = dataset("shape/parameters.h5", "/parameters/rest_positions"),
                            mesh = dataset("start/trajectory.h5", "/mesh/vertices");
  ASSERT_EQ(made.size(), mesh.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const bool is_held = mesh[i - i % 3] < 1e-9 || i % 3 == 2;
    if (is_held) {
      EXPECT_NEAR(made[i], mesh[i], 1e-12);
    }
    largest = std::max(largest, std::abs(made[i] - mesh[i]));
  }
  EXPECT_GT(largest, 0.005);
  EXPECT_LT(largest, 0.041);
  for (const double change : dataset("shape/parameters.h5", "/parameters/rest_positions.change"))
    EXPECT_LE(std::abs(change), 0.04);
  // The shape can be read again.
  write("again.yaml", with_stress("objective: {type: minimise, sensor: stress}\n"
                                  "parameters: [{name: rest_positions, initial: {file: shape/parameters.h5, dataset: "
                                  "/parameters/rest_positions}}]\n"));
  good({"gradient", "again.yaml"}, "again");
  EXPECT_NEAR(dataset("again/gradient.h5", "/loss").at(0), last, 1e-7 * last);
  if (rank_ != 0) return;
  const auto made_report = this->report("shape");
  EXPECT_LE(made_report["violation"].get<double>(), 1e-3);
  for (const auto& constraint : made_report["constraints"])
    EXPECT_LE(constraint["value"].get<double>(), 1.001 * constraint["at_most"].get<double>());
  const std::string report = read("shape/report.json");
  for (const char* part :
       {"\"name\": \"relative volume of the rest shape\"", "\"name\": \"distortion of the rest shape\""})
    EXPECT_NE(report.find(part), std::string::npos) << part;
}

TEST_F(ConstraintsOfScene, have_gradients_that_pass_the_check) {
  write("scene.yaml", scene(stiffest + design +
                            "constraints: [{sensor: tip, component: y, power: 4, at_most: 0.1}]\n"
                            "optimiser: {method: mma}\n"));
  const Ran ran = good({"check", "scene.yaml", "--hessian"}, "check");
  if (rank_ == 0) {
    EXPECT_NE(ran.out.find("constraint tip y (constraint 1), youngs_modulus.density"), std::string::npos) << ran.out;
  }
}

TEST_F(ConstraintsOfScene, of_parameters_and_shapes_have_gradients_that_pass_the_check) {
  write("scene.yaml",
        scene(stiffest +
              "parameters:\n"
              "  - {name: rest_positions, filter: 0.1, fixed: [x_min, edge], axes: [x, y], bounds: [-0.04, 0.04]}\n"
              "  - {name: youngs_modulus, per: cell, bounds: [1.0e+4, 1.0e+6]}\n"
              "constraints:\n"
              "  - {parameter: rest_positions, quantity: relative_volume, at_most: 1}\n"
              "  - {parameter: rest_positions, quantity: distortion, power: 8, at_most: 1.3}\n"
              "  - {parameter: youngs_modulus, at_most: 2.0e+5}\n"
              "optimiser: {method: mma}\n"));
  const Ran ran = run({"check", "scene.yaml"}, "check");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  if (rank_ != 0) return;
  const auto checks = report("check")["checks"];
  for (const char* name : {"constraint relative volume of the rest shape", "constraint mean of youngs_modulus"})
    EXPECT_EQ(checks[name]["verdict"], "passed") << ran.out;
  EXPECT_TRUE(checks["constraint distortion of the rest shape"]["passed"].get<bool>()) << ran.out;
}

// A store removes the files that a killed run left in the store's directory.
TEST_F(ConstraintsOfScene, of_sensors_have_subdirectories_for_snapshots) {
  const std::string left = path("slow/constraint_1/step_000007.h5");
  if (rank_ == 0) {
    std::filesystem::create_directories(path("slow/constraint_1"));
    std::ofstream(left) << "x";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  write("scene.yaml", scene(stiffest + design +
                            "constraints: [{sensor: tip, component: y, power: 4, at_most: 0.1}]\n"
                            "optimiser: {method: mma}\n"
                            "checkpoint: {levels: [{snapshots: 2}, {snapshots: 2, write: 1, read: 1, directory: " +
                            path("slow") + "}], directory: " + path("checkpoints") + "}\n"));
  good({"check", "scene.yaml"}, "check");
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(ConstraintsOfScene, are_refused_in_one_line) {
  const std::string parameters = "parameters: [{name: youngs_modulus, per: cell, bounds: [1.0e+4, 1.0e+6]}]\n";
  const auto refused = [&](const std::string& more, const std::string& words) {
    write("bad.yaml", scene(more));
    const Ran ran = run({"invert", "bad.yaml"}, "bad");
    EXPECT_EQ(ran.code, 2) << words;
    if (rank_ != 0) return;
    EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_FALSE(std::filesystem::exists(path("bad")));
  };
  const std::string mma = "optimiser: {method: mma}\n", start = stiffest + parameters;
  const auto constrained = [&](const std::string& one) { return start + mma + "constraints: [" + one + "]\n"; };
  refused(start + "constraints: [{parameter: youngs_modulus, at_most: 2.0e+5}]\n", "need the optimiser `method: mma`");
  refused(start + "optimiser: {method: almm}\n", "the scene has no `constraints`");
  refused(constrained("{parameter: youngs_modulus}"), "has no bound");
  refused(constrained("{parameter: youngs_modulus, at_least: 2, at_most: 1}"), "cannot be satisfied");
  refused(constrained("{parameter: youngs_modulus, at_least: 2, at_most: 2}"), "use `equals`");
  refused(constrained("{parameter: youngs_modulus, equals: 2, at_most: 1}"), "cannot be combined with `at_least`");
  refused(constrained("{parameter: youngs_modulus, equals: 2.0e+5}"), "is an equation, which mma does not support");
  refused(constrained("{parameter: youngs_modulus, at_most: 9.0e+3}"),
          "constraints[0]: cannot be satisfied: the parameter's `bounds` are [10000, 1000000]; change the upper bound");
  refused(constrained("{parameter: youngs_modulus, at_least: 2.0e+6}"), "change the lower bound");
  refused(
      constrained("{sensor: tip, component: y, at_least: 2}, {parameter: youngs_modulus, at_most: 2.0e+5}, {sensor: "
                  "tip, component: y, at_most: 1}"),
      "constraints[2]: contradicts constraints[0]: the function of both must be at least 2 and at most 1");
  refused(constrained("{parameter: youngs_modulus, at_least: 3.0e+5}, {parameter: youngs_modulus, equals: 2.0e+5}"),
          "constraints[1]: contradicts constraints[0]");
  refused(constrained("{sensor: tip, component: y, at_least: 2}, {sensor: tip, component: y, at_most: 1, experiment: "
                      "heavy}") +
              two_loads,
          "constraints[1]: contradicts constraints[0]");
  refused(constrained("{parameter: density, at_most: 2}"), "there is no 'density'");
  refused(constrained("{sensor: tap, component: y, at_most: 2}"), "did you mean 'tip'");
  refused(constrained("{sensor: tip, at_most: 2}"), "component");
  refused(constrained("{sensor: tip, component: y, power: 1, at_most: 2}"), "less than 2");
  refused(constrained("{sensor: tip, component: y, power: 2, at_least: -2}"), "negative bound");
  refused(constrained("{sensor: tip, component: y, region: all, at_most: 2}"), "belongs to `parameter`");
  refused(constrained("{sensor: tip, component: y, at_most: 2, experiment: a}"), "the scene has no `experiments`");
  refused(constrained("{parameter: youngs_modulus, at_most: 2, experiment: a}"), "belongs to `sensor`");
  refused(constrained("{sensor: tip, component: y, at_most: 2, experiment: lite}") + two_loads,
          "there is no experiment 'lite'; give one of: light, heavy");
  refused(start + mma + "constraints: []\n", "is an empty list");
  const auto distributed = [&](const std::string& keys) {
    return stiffest + "parameters: [{name: youngs_modulus, " + keys + "}]\n";
  };
  refused(distributed("distribution: {penalty: 0.5}"), "less than 1");
  refused(distributed("distribution: {minimum: 1}"), "not below 1");
  refused(distributed("distribution: {filter: -1}"), "give a number above 0");
  refused(distributed("distribution: {solid: [edgy]}"), "did you mean 'edge'");
  refused(distributed("distribution: {void: [edge]}"), "has no tetrahedra");
  refused(distributed("distribution: {also: [{name: poisson_ratio}]}"), "poisson_ratio");
  refused(distributed("distribution: {also: [{name: youngs_modulus}]}"), "is given twice");
  refused(distributed("distribution: {also: [{name: density, penalty: 0.5}]}"), "less than 1");
  refused(distributed("distribution: {solid: [all], void: [all]}"), "name disjoint regions");
  refused(distributed("distribution: {}, per: global"), "must be `cell`");
  refused(distributed("distribution: {}, bounds: [0, 2]"), "densities from 0 to 1");
  refused(distributed("distribution: {}, initial: 1.5"), "outside the bounds");
  refused(distributed("distribution: {}, search: linear"), "cannot be combined with `distribution`");
  refused(stiffest + "parameters: [{name: poisson_ratio, distribution: {}}]\n", "must be positive");
  refused("objective: {type: minimise, sensor: tip}\n" + parameters, "component");
  refused(constrained("{parameter: youngs_modulus, quantity: distortion, at_most: 2}"), "only allowed for");
  refused(constrained("{parameter: youngs_modulus, power: 3, at_most: 2}"), "belongs to `quantity: distortion`");
  refused(constrained("{sensor: tip, component: y, quantity: mean, at_most: 2}"), "belongs to `parameter`");
  refused(distributed("filter: 0.1"), "only allowed for rest_positions");
  refused(distributed("axes: [x]"), "belongs to `filter`");
  refused(distributed("distribution: {}, filter: 0.1"), "belongs into `distribution`");
  refused(distributed("distribution: {}, axes: [x]"), "cannot be combined with `distribution`");
  const auto shaped = [&](const std::string& keys) {
    return stiffest + "parameters: [{name: rest_positions, " + keys + "}]\n";
  };
  refused(shaped("filter: 0"), "give a number above 0");
  refused(shaped("filter: 0.1, fixed: [edgy]"), "did you mean 'edge'");
  refused(shaped("filter: 0.1, bounds: [0.1, 0.2]"), "must include 0");
  refused(shaped("filter: 0.1, search: linear"), "cannot be combined with `filter`");
}

}  // namespace
}  // namespace diffsim::app::constraints_test
