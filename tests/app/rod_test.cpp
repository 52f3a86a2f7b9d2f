// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of rods and beams.
#include <array>
#include <cmath>

#include "cell_model_fixture.hpp"

namespace diffsim::app::rod_test {
namespace {

/// Six points on a slightly curved line.
const std::string line =
    "v 0 0 0\nv 0.1 0 0\nv 0.2 0.01 0\nv 0.3 0.02 0\nv 0.4 0.04 0.01\nv 0.5 0.06 0.03\nl 1 2\nl 2 3\nl 3 4\nl 4 5\nl 5 "
    "6\n";
constexpr std::size_t num_segments = 5;
const std::string rubber = "{density: 900, youngs_modulus: 5.0e6, poisson_ratio: 0.4}";
const std::string section =
    "{density: 0.2, rotary_inertia: 1.0e-5, axial_stiffness: 500, bending_stiffness1: 0.01, bending_stiffness2: 0.03, "
    "torsional_stiffness: 0.01}";

std::string scene(const std::string& body, const std::string& more, const std::string& integrator = "symplectic_euler",
                  const std::string& loads = {}) {
  return "bodies:\n  cane:\n    mesh: {file: line.obj}\n    " + body +
         "\nregions:\n  root: {body: cane, vertices: [0]}\n  tip: {body: cane, vertices: [4, 5]}\n"
         "boundary:\n  - {region: root, fix: [x, y, z], clamp: true}\n" +
         loads + "solver: {integrator: " + integrator + ", dt: 0.002, steps: 12" +
         (integrator == "symplectic_euler" ? ", substeps: 4, damping: 1" : "") +
         ", gravity: [0, 0, -9.8]}\nobjective: [{type: target_position, region: tip, target: [0.5, -0.1, 0.1]}]\n" +
         more;
}
std::string rod(const std::string& more = {}) { return "kind: rod\n    radius: 0.01\n    material: " + rubber + more; }
std::string beam(const std::string& more = {}) { return "kind: beam\n    material: " + section + more; }

class Rod : public CellModelTest {
 protected:
  void SetUp() override {
    CellModelTest::SetUp();
    write("line.obj", line);
  }
};

TEST_F(Rod, passes_the_check_of_its_gradient_by_every_parameter) {
  const std::string parameters =
      "parameters:\n  - {name: youngs_modulus, per: segment}\n  - {name: poisson_ratio, per: global}\n"
      "  - {name: rod_radius, per: segment}\n  - {name: density, per: region}\n  - {name: rest_curvature, per: "
      "segment}\n"
      "  - {name: rest_twist, per: segment}\n  - {name: moment, per: step}\n  - {name: rest_positions, per: vertex}\n";
  for (const std::string integrator : {"symplectic_euler", "implicit_euler"}) {
    write("scene.yaml", scene(rod(), parameters, integrator, "  - {region: tip, moment: [0.01, 0.02, -0.01]}\n"));
    good({"check", "scene.yaml"}, "check");
  }
}

TEST_F(Rod, passes_the_check_by_every_stiffness_of_a_beam) {
  const std::string parameters =
      "parameters:\n  - {name: axial_stiffness, per: segment}\n  - {name: bending_stiffness1, per: segment}\n"
      "  - {name: bending_stiffness2, per: segment}\n  - {name: torsional_stiffness, per: segment}\n"
      "  - {name: density, per: region}\n  - {name: rotary_inertia, per: region}\n";
  for (const std::string integrator : {"symplectic_euler", "implicit_euler"}) {
    write("scene.yaml", scene(beam("\n    director: [0, 0, 1]"), parameters, integrator,
                              "  - {region: tip, moment: [0.01, 0.02, -0.01]}\n"));
    good({"check", "scene.yaml"}, "check");
  }
}

TEST_F(Rod, has_gradients_in_files_whose_parts_add_up) {
  expect_sums("cane", "segment", num_segments,
              {"youngs_modulus", "poisson_ratio", "rod_radius", "rest_curvature", "rest_twist", "density"},
              [](const std::string& parameters) { return scene(rod(), parameters); });
}

TEST_F(Rod, has_its_places_and_its_directors_in_trajectories) {
  write("scene.yaml", scene(rod(), ""));
  good({"simulate", "scene.yaml"}, "run");
  EXPECT_EQ(dataset("run/trajectory.h5", "/bodies/cane/mesh/vertices").size(), 3u * 6u);
  EXPECT_EQ(dataset("run/trajectory.h5", "/bodies/cane/positions").size(), 13u * 3u * 6u);
  EXPECT_EQ(dataset("run/trajectory.h5", "/bodies/cane/directors/positions").size(), 13u * 3u * num_segments);
  // Directors rotate as the rod sags.
  const std::vector<double> whole = dataset("run/trajectory.h5", "/bodies/cane/directors/positions");
  double moved = 0.0;
  for (std::size_t i = 0; i < 3 * num_segments; ++i)
    moved += std::abs(whole[whole.size() - 3 * num_segments + i] - whole[i]);
  EXPECT_GT(moved, 1e-4);
}

TEST_F(Rod, is_resumed_from_its_trajectory) {
  std::string text = scene(rod(), "output: {fields: [positions, velocities]}\n");
  write("scene.yaml", text);
  good({"simulate", "scene.yaml"}, "whole");
  write("scene.yaml", text.replace(text.find("steps: 12"), 9, "steps: 5"));
  good({"simulate", "scene.yaml"}, "parts");
  write("scene.yaml", text.replace(text.find("steps: 5"), 8, "steps: 12"));
  good({"simulate", "scene.yaml", "--resume"}, "parts");
  for (const std::string name : {"/bodies/cane/positions", "/bodies/cane/directors/velocities"}) {
    const std::vector<double> whole = dataset("whole/trajectory.h5", name),
                              parts = dataset("parts/trajectory.h5", name);
    ASSERT_GE(whole.size(), 15u);
    ASSERT_GE(parts.size(), 15u);
    for (std::size_t i = 1; i <= 15; ++i) EXPECT_NEAR(parts[parts.size() - i], whole[whole.size() - i], 1e-12) << name;
  }
}

TEST_F(Rod, hangs_beside_a_rope_as_alone) {
  write("cord.obj", "v 0 1 0\nv 0.1 1 0\nv 0.1 1.1 0\nl 1 2\nl 2 3\n");
  const std::string others =
      "  cord:\n    kind: rope\n    mesh: {file: cord.obj}\n    material: {rope_stiffness: 20, rope_density: 0.1}\n";
  const auto gradient = [&](const std::string& more, const std::string& output) {
    std::string text = scene(rod(), "parameters: [{name: rod_radius, per: region}]\n");
    text.insert(text.find("regions:"), more);
    write("scene.yaml", text);
    good({"gradient", "scene.yaml"}, output);
    return dataset(output + "/gradient.h5", "/gradient/rod_radius").at(0);
  };
  const double alone = gradient("", "alone"), beside = gradient(others, "beside");
  EXPECT_NEAR(beside, alone, 1e-12 * std::abs(alone));
}

TEST_F(Rod, moves_as_a_whole_with_a_velocity_for_all) {
  // The velocity does not apply to directors, so the rod neither rotates nor deforms.
  std::string text = scene(rod(), "initial: {velocity: [0.3, -0.2, 0.1]}\n");
  const std::size_t boundary = text.find("boundary:");
  text.erase(boundary, text.find("solver:") - boundary);
  text.replace(text.find("-9.8"), 4, "0");
  write("scene.yaml", text);
  good({"simulate", "scene.yaml"}, "run");
  const auto moved = [&](const std::string& name, std::size_t count) {
    const std::vector<double> x = dataset("run/trajectory.h5", "/bodies/cane/" + name);
    std::vector<double> by;
    for (std::size_t i = 0; i < 3 * count; ++i) by.push_back(x[x.size() - 3 * count + i] - x[i]);
    return by;
  };
  constexpr std::array speed{0.3, -0.2, 0.1};
  const std::vector<double> places = moved("positions", num_segments + 1);
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_NEAR(places[i], 0.024 * speed[i % 3], 1e-12);
  for (const double d : moved("directors/positions", num_segments)) EXPECT_NEAR(d, 0.0, 1e-12);
  // The velocity may also be an unknown that all vertices share.
  std::string asked = text + "parameters: [{name: initial_velocities, per: global}]\n";
  write("scene.yaml", asked);
  good({"check", "scene.yaml"}, "check");
  // The velocity from a file that has values at positions only, not at directors.
  {
    std::vector<double> rows;
    for (std::size_t i = 0; rank_ == 0 && i < 3 * (num_segments + 1); ++i) rows.push_back(speed[i % 3]);
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path("start.h5"), "diffsim test", 1);
    file.write_rows("/bodies/cane/speed", rows, {3}, "m/s");
    file.publish();
  }
  const std::string given = "{velocity: [0.3, -0.2, 0.1]}";
  text.replace(text.find(given), given.size(), "{velocity: {file: start.h5, dataset: /speed}}");
  write("scene.yaml", text);
  good({"simulate", "scene.yaml"}, "run");
  for (const double d : moved("directors/positions", num_segments)) EXPECT_NEAR(d, 0.0, 1e-12);
  EXPECT_NEAR(moved("positions", num_segments + 1)[0], 0.024 * 0.3, 1e-12);
}

/// Returns the scene with a rope whose first vertex is attached to the rod.
std::string with_cord(const std::string& attach, const std::string& more) {
  std::string text = scene(rod(), more);
  text.insert(text.find("regions:"),
              "  cord:\n    kind: rope\n    mesh: {file: cord.obj}\n    material: {rope_stiffness: 20, rope_density: "
              "0.1}\n");
  text.insert(text.find("boundary:"), "  knot: {body: cord, vertices: [0]}\n");
  text.insert(text.find("solver:"), attach);
  return text;
}

TEST_F(Rod, carries_a_rope_that_is_attached_to_it) {
  write("cord.obj", "v 0.3 0.03 0\nv 0.3 0.1 0.05\nv 0.3 0.2 0.05\nl 1 2\nl 2 3\n");
  const std::string attach = "attach: [{region: cord/knot, to: cane/all, stiffness: 40}]\n";
  write("scene.yaml", with_cord(attach, "parameters:\n  - {name: attachment_stiffness}\n  - {name: rod_radius}\n"));
  good({"check", "scene.yaml"}, "check");
  const std::string sought = "parameters: [{name: rod_radius}]\n";
  refused(with_cord("attach: [{region: cord/knot, to: cane/all}]\n", sought), "stiffness: is missing");
  refused(with_cord("attach: [{region: cord/knot, to: cane/al, stiffness: 40}]\n", sought), "unknown region 'cane/al'");
  refused(with_cord("attach: [{region: cord/knot, to: cord/all, stiffness: 40}]\n", sought), "vertices in common");
  write("cord.obj", "v 0.3 0.3 0\nv 0.3 0.4 0.05\nv 0.3 0.5 0.05\nl 1 2\nl 2 3\n");
  refused(with_cord(attach, sought), "vertex 0 of cord of region 'cord/knot' is 0.2");
}

TEST_F(Rod, carries_a_rope_that_begins_in_it_where_the_two_do_not_touch) {
  write("cord.obj", "v 0.3 0.004 0\nv 0.3 0.1 0.05\nv 0.3 0.2 0.05\nl 1 2\nl 2 3\n");
  const std::string attach = "attach: [{region: cord/knot, to: cane/all, stiffness: 40}]\n";
  const std::string contact = "contact: {barrier_distance: 1.0e-3, barrier_stiffness: 1.0e4, pairs: [{between: ";
  const std::string sought = "parameters: [{name: attachment_stiffness}]\n";
  refused(with_cord(attach + contact + "[cane, cord], friction: 0.2}]}\n", sought),
          "touches or intersects at the start");
  refused(with_cord(attach + contact + "[cane, cord], friction: 0.2, touch: false}]}\n", sought),
          "'cane' and 'cord' do not touch each other; remove the values, or touch: false");
  write("scene.yaml", with_cord(attach + contact + "[cane, cord], touch: false}]}\n", sought));
  good({"check", "scene.yaml"}, "check");
}

TEST_F(Rod, refuses_what_it_cannot_be_made_of) {
  const std::string sought = "parameters: [{name: rod_density, per: global}]\n";
  refused(scene("kind: rod\n    material: " + rubber, sought), "bodies.cane.radius: is missing");
  refused(scene("kind: rod\n    radius: 0\n    material: " + rubber, sought), "radius: 0 is not positive");
  refused(scene("kind: rod\n    radius: 0.01\n    material: {density: 900, youngs_modulus: 1}", sought),
          "poisson_ratio: is missing");
  refused(scene(beam("\n    radius: 0.1"), sought), "radius: is the radius of a rod's section");
  refused(scene(rod("\n    director: [0, 0, 0]"), sought), "director: is zero");
  refused(scene(rod("\n    director: [1, 0, 0]"), sought), "the director is along segment 0");
  refused(scene(rod(), sought, "symplectic_euler", "  - {region: root, moment: [0, 0, 1]}\n"),
          "region 'root' has no rod segment");
  write("line.obj", line + "v 0.2 0.1 0\nl 3 7\n");
  refused(scene(rod(), sought), "vertex 2 is an end of segments 1, 2 and 5; a rod has no branches");
}

}  // namespace
}  // namespace diffsim::app::rod_test
