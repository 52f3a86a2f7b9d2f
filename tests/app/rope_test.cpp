// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of ropes.
#include <cmath>

#include "cell_model_fixture.hpp"

namespace diffsim::app::rope_test {
namespace {

/// Six points on a line.
const std::string line =
    "v 0 0 0\nv 0.1 0 0\nv 0.2 0 0\nv 0.3 0 0\nv 0.4 0 0\nv 0.5 0 0\nl 1 2\nl 2 3\nl 3 4\nl 4 5\nl 5 6\n";
constexpr std::size_t num_segments = 5;
const std::string hemp = "{rope_stiffness: 200, rope_bending: 0.02, rope_density: 0.1}";

std::string scene(const std::string& material, const std::string& more,
                  const std::string& integrator = "symplectic_euler") {
  return "bodies:\n  cable:\n    kind: rope\n    mesh: {file: line.obj}\n    material: " + material +
         "\nregions:\n  clamp: {body: cable, vertices: [0, 1]}\n  tip: {body: cable, vertices: [5]}\n"
         "boundary: [{region: clamp, fix: [x, y, z]}]\n"
         "solver: {integrator: " +
         integrator + ", dt: 0.004, steps: 12" + (integrator == "symplectic_euler" ? ", substeps: 4, damping: 1" : "") +
         "}\nobjective: [{type: target_position, region: tip, target: [0.5, -0.1, 0.1]}]\n" + more;
}

class Rope : public CellModelTest {
 protected:
  void SetUp() override {
    CellModelTest::SetUp();
    write("line.obj", line);
  }
};

TEST_F(Rope, passes_the_check_of_its_gradient_by_every_parameter) {
  const std::string parameters =
      "parameters:\n  - {name: rope_stiffness, per: segment}\n  - {name: rope_bending, per: segment}\n"
      "  - {name: rope_density, per: region}\n  - {name: rest_positions, per: vertex}\n";
  for (const std::string integrator : {"symplectic_euler", "implicit_euler", "quasi_static"}) {
    // In statics, masses determine the weight.
    write("scene.yaml", scene(hemp, parameters, integrator));
    good({"check", "scene.yaml"}, "check");
  }
}

TEST_F(Rope, has_gradients_in_files_whose_parts_add_up) {
  expect_sums("cable", "segment", num_segments, {"rope_stiffness", "rope_bending", "rope_density"},
              [](const std::string& parameters) { return scene(hemp, parameters); });
}

TEST_F(Rope, hangs_beside_springs_and_cloth) {
  write("net.obj", "v 0 1 0\nv 0.1 1 0\nv 0.1 1.1 0\nl 1 2\nl 2 3\n");
  write("sheet.obj", "v 0 2 0\nv 0.1 2 0\nv 0 2.1 0\nv 0.1 2.1 0\nf 1 2 4\nf 1 4 3\n");
  const std::string others =
      "  net:\n    kind: springs\n    mesh: {file: net.obj}\n    material: {spring_stiffness: 20, point_mass: 0.01}\n"
      "  sheet:\n    kind: cloth\n    mesh: {file: sheet.obj}\n"
      "    material: {cloth_stiffness: 20, cloth_density: 0.2}\n";
  const auto gradient = [&](const std::string& more, const std::string& output) {
    std::string text = scene(hemp, "parameters: [{name: rope_bending, per: region}]\n");
    text.insert(text.find("regions:"), more);
    write("scene.yaml", text);
    good({"gradient", "scene.yaml"}, output);
    return dataset(output + "/gradient.h5", "/gradient/rope_bending").at(0);
  };
  const double alone = gradient("", "alone"), beside = gradient(others, "beside");
  EXPECT_NEAR(beside, alone, 1e-12 * std::abs(alone));
}

TEST_F(Rope, refuses_what_it_cannot_be_made_of) {
  const std::string sought = "parameters: [{name: rope_stiffness, per: global}]\n";
  refused(scene("{rope_density: 0.2}", sought), "bodies.cable.material.rope_stiffness: is missing");
  refused(scene("{rope_stiffness: 20, rope_density: 0}", sought), "rope_density: 0 is not positive");
  refused(scene("{rope_stiffness: 20, rope_density: 1, rope_bending: -1}", sought), "rope_bending: -1 is negative");
  refused(scene(hemp, "parameters: [{name: rope_stiffness, per: triangle}]\n"), "segment");
  // A branch at the third point.
  write("line.obj", line + "v 0.2 0.1 0\nl 3 7\n");
  refused(scene(hemp, sought), "segment 1 has an end that two other segments also have");
  write("scene.yaml", scene("{rope_stiffness: 200, rope_density: 0.1}", sought));
  good({"check", "scene.yaml"}, "check");
}

}  // namespace
}  // namespace diffsim::app::rope_test
