// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cell_model_fixture.hpp"

namespace diffsim::app {

/// Fixture for scenes of a flag of four triangles that hangs from a pole. The mesh is in sheet.obj.
class FlagTest : public CellModelTest {
 protected:
  static constexpr std::size_t num_triangles = 4;

  explicit FlagTest(std::string kind) : kind_(std::move(kind)) {}
  void SetUp() override {
    CellModelTest::SetUp();
    write("sheet.obj", sheet);
  }
  /// Returns a scene with a flag of the given material (a YAML mapping) and additional sections.
  std::string scene(const std::string& material, const std::string& more,
                    const std::string& integrator = "symplectic_euler") const {
    return "bodies:\n  flag:\n    kind: " + kind_ + "\n    mesh: {file: sheet.obj}\n    material: " + material +
           "\nregions:\n  pole: {body: flag, vertices: [0, 3]}\n  tip: {body: flag, vertices: [2, 5]}\n"
           "boundary: [{region: pole, fix: [x, y, z]}]\n"
           "solver: {integrator: " +
           integrator + ", dt: 0.004, steps: 12" +
           (integrator == "symplectic_euler" ? ", substeps: 2, damping: 1" : "") +
           "}\nobjective: [{type: target_position, region: tip, target: [0.3, 0.1, 0.1]}]\n" + more;
  }
  /// Checks that the command `check` passes for the section `parameters`, with explicit and implicit steps.
  void expect_checked(const std::string& material, const std::string& parameters) {
    for (const std::string integrator : {"symplectic_euler", "implicit_euler"}) {
      write("scene.yaml", scene(material, parameters, integrator));
      good({"check", "scene.yaml"}, "check");
    }
  }
  /// Checks that the gradients of the triangles add up to the gradient of a common value.
  void expect_sums_of_triangles(const std::string& material, const std::vector<std::string>& names) {
    expect_sums("flag", "triangle", num_triangles, names,
                [&](const std::string& parameters) { return scene(material, parameters); });
  }

  /// Mesh with two rows of three points.
  const std::string sheet =
      "v 0 0 0\nv 0.1 0 0\nv 0.2 0 0.01\nv 0 0.1 0\nv 0.1 0.1 0.02\nv 0.2 0.1 0\n"
      "f 1 2 5\nf 1 5 4\nf 2 3 6\nf 2 6 5\n";

 private:
  std::string kind_;
};

}  // namespace diffsim::app
