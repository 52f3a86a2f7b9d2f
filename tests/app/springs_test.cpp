// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of mass–spring systems.
#include <cmath>

#include "cell_model_fixture.hpp"

namespace diffsim::app::springs_test {
namespace {

/// A ladder of two rows of three points.
const std::string ladder =
    "v 0 0 0\nv 0.1 0 0\nv 0.2 0 0.01\nv 0 0.1 0\nv 0.1 0.1 0.02\nv 0.2 0.1 0\n"
    "l 1 2\nl 2 3\nl 4 5\nl 5 6\nl 1 4\nl 2 5\nl 3 6\nl 1 5\nl 2 6\n";
constexpr std::size_t num_points = 6, num_segments = 9, num_steps = 12;

std::string scene(const std::string& material, const std::string& more,
                  const std::string& integrator = "symplectic_euler") {
  return "bodies:\n  ladder:\n    kind: springs\n    mesh: {file: ladder.obj}\n    material: " + material +
         "\nregions:\n  foot: {body: ladder, vertices: [0, 3]}\n  tip: {body: ladder, vertices: [2, 5]}\n"
         "boundary: [{region: foot, fix: [x, y, z]}]\n"
         "solver: {integrator: " +
         integrator + ", dt: 0.004, steps: 12" + (integrator == "symplectic_euler" ? ", substeps: 2, damping: 1" : "") +
         "}\nobjective: [{type: target_position, region: tip, target: [0.3, 0.1, 0.1]}]\n" + more;
}
const std::string springs = "{spring_stiffness: 60, spring_stiffness_3: 4.0e3, spring_damping: 0.05, point_mass: 0.01}";

class Springs : public CellModelTest {
 protected:
  void SetUp() override {
    CellModelTest::SetUp();
    write("ladder.obj", ladder);
  }
  void write_dataset(const std::string& name, const std::string& dataset, const std::vector<double>& values,
                     const Shape& shape) {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path(name), "test", 1);
    file.write_array(dataset, values, shape);
    file.publish();
  }
};

TEST_F(Springs, pass_the_check_of_their_gradient_by_every_parameter) {
  const std::string parameters =
      "parameters:\n  - {name: spring_stiffness, per: segment}\n  - {name: spring_stiffness_2, per: global}\n"
      "  - {name: spring_stiffness_3, per: region}\n  - {name: spring_damping, per: global}\n"
      "  - {name: rest_length, per: segment_step}\n  - {name: spring_softening, per: global, initial: 0.01}\n"
      "  - {name: point_mass, per: vertex}\n";
  for (const std::string integrator : {"symplectic_euler", "implicit_euler"}) {
    write("scene.yaml", scene(springs, parameters, integrator));
    good({"check", "scene.yaml"}, "check");
  }
}

TEST_F(Springs, have_gradients_in_files_whose_parts_add_up) {
  const auto text_of = [](const std::string& parameters) { return scene(springs, parameters); };
  expect_sums("ladder", "segment", num_segments, {"spring_stiffness", "spring_damping"}, text_of);
  expect_sums("ladder", "vertex", num_points, {"point_mass"}, text_of);
  const auto by_length = [&](const std::string& per) {
    write("scene.yaml", text_of("parameters: [{name: rest_length, per: " + per + "}]\n"));
    good({"gradient", "scene.yaml"}, per);
    return dataset(per + "/gradient.h5", "/bodies/ladder/gradient/rest_length");
  };
  const std::vector<double> by_step = by_length("segment_step"), once = by_length("segment");
  ASSERT_EQ(once.size(), num_segments);
  ASSERT_EQ(by_step.size(), num_steps * num_segments);
  for (std::size_t s = 0; s < num_segments; ++s) {
    double total = 0.0;
    for (std::size_t n = 0; n < num_steps; ++n) total += by_step[n * num_segments + s];
    EXPECT_NEAR(total, once[s], 1e-12 * std::abs(once[s])) << s;
  }
}

TEST_F(Springs, take_their_parameters_from_files) {
  std::vector<double> lengths, stiffness, masses;
  for (std::size_t i = 0; i < num_steps * num_segments; ++i)
    lengths.push_back(0.1 + 1e-3 * static_cast<double>(i % 17));
  for (std::size_t i = 0; i < num_segments; ++i) stiffness.push_back(50.0 + 5.0 * static_cast<double>(i));
  for (std::size_t i = 0; i < num_points; ++i) masses.push_back(0.01 + 1e-3 * static_cast<double>(i));
  write_dataset("lengths.h5", "/length", lengths, {num_steps, num_segments});
  write_dataset("stiffness.h5", "/k", stiffness, {num_segments});
  write_dataset("masses.h5", "/m", masses, {num_points});
  const std::string material =
      "{spring_stiffness: {file: stiffness.h5, dataset: /k}, rest_length: {file: lengths.h5, dataset: /length}, "
      "point_mass: {file: masses.h5, dataset: /m}}";
  const std::string parameters =
      "parameters: [{name: rest_length, per: segment_step}, {name: spring_stiffness, per: segment}, "
      "{name: point_mass, per: vertex}]\n";
  write("scene.yaml", scene(material, parameters));
  good({"check", "scene.yaml"}, "check");
  // The same values, given by `initial`, give the same loss.
  const auto loss_of = [&](const std::string& output) { return dataset(output + "/gradient.h5", "/loss").at(0); };
  good({"gradient", "scene.yaml"}, "by_material");
  const std::string started =
      "parameters: [{name: rest_length, per: segment_step, initial: {file: start.h5, dataset: /length}}, "
      "{name: spring_stiffness, per: segment, initial: {file: start.h5, dataset: /k}}, "
      "{name: point_mass, per: vertex, initial: {file: start.h5, dataset: /m}}]\n";
  {
    Hdf5File start = Hdf5File::create(MPI_COMM_WORLD, path("start.h5"), "test", 1);
    start.write_array("/bodies/ladder/length", lengths, {num_steps, num_segments}, "m");
    start.write_array("/bodies/ladder/k", stiffness, {num_segments}, "N/m");
    start.write_array("/bodies/ladder/m", masses, {num_points}, "kg");
    start.publish();
  }
  write("scene.yaml", scene(springs, started));
  good({"gradient", "scene.yaml"}, "by_initial");
  write("scene.yaml", scene("{spring_stiffness: 1, point_mass: 1}", started));
  good({"gradient", "scene.yaml"}, "by_initial_alone");
  EXPECT_NEAR(loss_of("by_initial_alone"), loss_of("by_material"), 1e-14);
  EXPECT_GT(std::abs(loss_of("by_initial") - loss_of("by_material")), 1e-8);
}

TEST_F(Springs, learn_lengths_that_reach_a_target) {
  write("scene.yaml", scene(springs,
                            "parameters: [{name: rest_length, per: segment_step, bounds: [0.05, 0.2]}]\n"
                            "optimiser: {method: lbfgs, max_iterations: 30}\n"));
  good({"gradient", "scene.yaml"}, "before");
  good({"invert", "scene.yaml"}, "after");
  const double before = dataset("before/gradient.h5", "/loss").at(0);
  const std::vector<double> lengths = dataset("after/parameters.h5", "/bodies/ladder/parameters/rest_length");
  EXPECT_EQ(lengths.size(), num_steps * num_segments);
  for (const double length : lengths) {
    EXPECT_GE(length, 0.05);
    EXPECT_LE(length, 0.2);
  }
  if (rank_ == 0) {
    EXPECT_LT(report("after")["loss"].get<double>(), 0.1 * before);
  }
}

TEST_F(Springs, go_on_where_they_were_stopped) {
  const std::string parameters =
      "parameters: [{name: rest_length, per: segment_step}, {name: point_mass, per: vertex},\n"
      "             {name: initial_velocities, per: vertex}]\n";
  for (const std::string integrator : {"symplectic_euler", "implicit_euler"}) {
    write("scene.yaml",
          scene(springs, parameters, integrator) +
              "checkpoint: {schedule: two_level, every: 4, snapshots: 2, store: tiered, interval: 0, directory: " +
              path("checkpoints") + "}\n");
    good({"gradient", "scene.yaml"}, "whole");
    // With this limit each run stops after one step.
    for (std::size_t n = 1; n < num_steps; ++n) {
      const Ran stopped = run({"gradient", "scene.yaml", "--resume", "--time-limit", "1e-9"}, "out");
      EXPECT_EQ(stopped.code, 3) << stopped.err;
      if (rank_ == 0) {
        EXPECT_NE(stopped.out.find("stopped at step " + std::to_string(n) + ";"), std::string::npos) << stopped.out;
      }
    }
    good({"gradient", "scene.yaml", "--resume"}, "out");
    if (rank_ == 0) {
      EXPECT_EQ(read("out/gradient.h5"), read("whole/gradient.h5")) << integrator;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(Springs, whose_ends_meet_stop_the_run_unless_they_are_softened) {
  // In one step the free end falls along the spring onto the fixed end.
  write("ladder.obj", "v 0 0 0\nv 0.1 0 0\nl 1 2\n");
  const auto scene = [&](const std::string& softening, const std::string& integrator) {
    return "bodies: {net: {kind: springs, mesh: {file: ladder.obj}, material: {spring_stiffness: 0, point_mass: 1, "
           "spring_softening: " +
           softening + "}}}\nregions: {end: {vertices: [0]}}\nboundary: [{region: end, fix: [x, y, z]}]\n" +
           "solver: {integrator: " + integrator + ", dt: 1, steps: 2, gravity: [-0.1, 0, 0]" +
           (integrator == "symplectic_euler" ? ", substeps: 1, damping: 1" : "") + "}\n";
  };
  write("meet.yaml", scene("0", "symplectic_euler"));
  const Ran ran = run({"simulate", "meet.yaml"}, "meet");
  EXPECT_EQ(ran.code, 1);
  if (rank_ == 0) {
    EXPECT_NE(ran.err.find("vertex 0 (rank "), std::string::npos) << ran.err;
  }
  write("meet.yaml", scene("0.01", "symplectic_euler"));
  good({"simulate", "meet.yaml"}, "softened");
}

TEST_F(Springs, refuse_what_they_cannot_be_made_of) {
  const std::string sought = "parameters: [{name: spring_stiffness, per: global}]\n";
  refused(scene("{point_mass: 0.01}", sought), "bodies.ladder.material.spring_stiffness: is missing");
  refused(scene("{spring_stiffness: -1, point_mass: 0.01}", sought), "spring_stiffness: -1 is negative");
  refused(scene("{spring_stiffness: 1, point_mass: 0}", sought), "point_mass: 0 is not positive");
  refused(scene("{spring_stiffness: 1, point_mass: 0.01, density: 3}", sought), "density");
  refused(scene(springs, "parameters: [{name: youngs_modulus}]\n"), "youngs_modulus");
  refused(scene(springs, "parameters: [{name: spring_stiffness, per: cell}]\n"), "segment");
  std::string box = scene(springs, sought);
  box.replace(box.find("{file: ladder.obj}"), 18, "{box: {size: [1, 1, 1], cells: [1, 1, 1]}}");
  refused(box, "gives no segments");
  std::vector<double> lengths(num_segments, 0.1);
  lengths[4] = -0.1;
  write_dataset("lengths.h5", "/length", lengths, {num_segments});
  refused(scene("{spring_stiffness: 1, point_mass: 1, rest_length: {file: lengths.h5, dataset: /length}}", sought),
          "rest_length of segment 4");
}

}  // namespace
}  // namespace diffsim::app::springs_test
