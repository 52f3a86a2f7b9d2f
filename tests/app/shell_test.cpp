// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Scenes of shells.
#include <cmath>

#include "cell_model_fixture.hpp"

namespace diffsim::app::shell_test {
namespace {

/// Returns a slightly curved plate, 0.3 m long: three rows of four points, twelve triangles.
std::string sheet() {
  std::string text;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i)
      text +=
          "v " + std::to_string(0.1 * i) + " " + std::to_string(0.1 * j) + " " + std::to_string(0.01 * i * j) + "\n";
  for (int j = 0; j < 2; ++j)
    for (int i = 1; i < 4; ++i) {
      const auto at = [&](int di, int dj) { return std::to_string(4 * (j + dj) + i + di) + " "; };
      text += "f " + at(0, 0) + at(1, 0) + at(1, 1) + "\nf " + at(0, 0) + at(1, 1) + at(0, 1) + "\n";
    }
  return text;
}
constexpr std::size_t num_triangles = 12;
const std::string rubber = "{model: st_venant_kirchhoff, density: 900, youngs_modulus: 1.0e6, poisson_ratio: 0.4}";

std::string scene(const std::string& material, const std::string& more, const std::string& thickness = "0.01",
                  const std::string& integrator = "symplectic_euler", const std::string& loads = {}) {
  return "bodies:\n  flap:\n    kind: shell\n    mesh: {file: sheet.obj}\n" +
         (thickness.empty() ? "" : "    thickness: " + thickness + "\n") + "    material: " + material +
         "\nregions:\n  wall: {body: flap, vertices: [0, 4, 8]}\n  rows: {body: flap, vertices: [0, 1, 4, 5, 8, 9]}\n  "
         "tip: {body: flap, vertices: [3, 7, 11]}\n"
         "boundary:\n  - {region: wall, fix: [x, y, z], clamp: true}\n" +
         loads + "solver: {integrator: " + integrator + ", dt: 0.0005, steps: 12" +
         (integrator == "symplectic_euler" ? ", substeps: 2, damping: 1" : "") +
         ", gravity: [0, 0, -9.8]}\nobjective: [{type: target_position, region: tip, target: [0.3, 0.1, 0.1]}]\n" +
         more;
}

class Shell : public CellModelTest {
 protected:
  void SetUp() override {
    CellModelTest::SetUp();
    write("sheet.obj", sheet());
  }
  /// Returns the height of the tip's first vertex after a run of a scene.
  double tip(const std::string& text) {
    write("scene.yaml", text);
    EXPECT_EQ(run({"simulate", "scene.yaml"}, "tip").code, 0);
    const std::vector<double> x = dataset("tip/trajectory.h5", "/bodies/flap/positions");
    return x.at(x.size() - 3 * 12 + 3 * 3 + 2);
  }
};

TEST_F(Shell, passes_the_check_of_its_gradient_by_every_parameter) {
  const std::string parameters =
      "parameters:\n  - {name: youngs_modulus, per: triangle}\n  - {name: poisson_ratio, per: global}\n"
      "  - {name: shell_thickness, per: triangle}\n  - {name: density, per: region}\n"
      "  - {name: rest_curvature, per: triangle}\n"
      "  - {name: rest_positions, per: vertex}\n";
  for (const std::string integrator : {"symplectic_euler", "implicit_euler"}) {
    write("scene.yaml", scene(rubber, parameters, "0.01", integrator));
    good({"check", "scene.yaml"}, "check");
  }
}

TEST_F(Shell, passes_the_check_of_its_gradient_by_pressure_wind_and_traction) {
  const std::string loads =
      "  - {region: flap/all, pressure: 200}\n  - {region: flap/all, wind: [3, 2, 8], drag: 1.4}\n"
      "  - {region: flap/all, traction: [0, 5, -20]}\n";
  const std::string parameters =
      "parameters:\n  - {name: pressure, per: step}\n  - {name: wind, per: step}\n  - {name: wind_drag}\n"
      "  - {name: traction}\n";
  for (const std::string integrator : {"symplectic_euler", "implicit_euler"}) {
    const std::string text = scene(rubber, parameters, "0.01", integrator, loads);
    write("scene.yaml", text);
    good({"check", "scene.yaml"}, "loads");
  }
}

TEST_F(Shell, has_gradients_in_files_whose_parts_add_up) {
  expect_sums("flap", "triangle", num_triangles,
              {"youngs_modulus", "poisson_ratio", "shell_thickness", "rest_curvature", "density"},
              [](const std::string& parameters) { return scene(rubber, parameters); });
}

TEST_F(Shell, parameters_have_the_name_of_their_key_or_their_own) {
  const auto gradient = [&](const std::string& name, const std::string& dataset_name) {
    write("scene.yaml", scene(rubber, "parameters: [{name: " + name + "}]\n"));
    good({"gradient", "scene.yaml"}, "named");
    return dataset("named/gradient.h5", "/gradient/" + dataset_name).at(0);
  };
  const double value = gradient("shell_youngs_modulus", "shell_youngs_modulus");
  EXPECT_EQ(gradient("youngs_modulus", "youngs_modulus"), value);
  EXPECT_EQ(gradient("youngs_modulus, per: global, region: flap/all", "youngs_modulus"), value);
}

TEST_F(Shell, clamped_sides_and_walls_do_not_turn) {
  const auto text = [&](const std::string& boundary) {
    std::string made = scene("{density: 900, youngs_modulus: 1.0e8, poisson_ratio: 0.4}",
                             "parameters: [{name: youngs_modulus}]\n", "0.01", "quasi_static");
    const std::size_t begin = made.find("  - {region: wall"), end = made.find('\n', begin);
    return made.replace(begin, end - begin, boundary);
  };
  // A row of fixed vertices is a hinge about which the flap can rotate.
  refused(text("  - {region: wall, fix: [x, y, z]}"),
          "the body is not supported: free motions: translation along x with "
          "translation along z with rotation about y");
  // Two rows of fixed vertices act as a clamped row.
  const double whole = tip(text("  - {region: wall, fix: [x, y, z], clamp: true}")),
               wall = tip(text("  - {region: rows, fix: [x, y, z]}")),
               clamped = tip(text("  - {region: rows, fix: [x, y, z], clamp: true}"));
  EXPECT_LT(whole, -0.0005);
  EXPECT_LT(whole, 2.0 * wall);
  EXPECT_LT(wall, -0.0001);
  EXPECT_NEAR(wall, clamped, 1e-9);
}

TEST_F(Shell, has_the_law_of_its_material) {
  // A plate pulled to a strain of a few per cent.
  const auto soft = [](const std::string& more) {
    return "{density: 900, youngs_modulus: 1.0e6, poisson_ratio: 0.4" + more + "}";
  };
  const auto text = [](const std::string& material) {
    return scene(material, "", "0.01", "quasi_static", "  - {region: flap/all, traction: [3000, 0, 0]}\n");
  };
  const auto reach = [&](const std::string& pulled) {
    tip(pulled);
    const std::vector<double> x = dataset("tip/trajectory.h5", "/bodies/flap/positions");
    return x.at(x.size() - 3 * 12 + 3 * 3);
  };
  const std::string neo_hookean = ", model: neo_hookean", st_venant = ", model: st_venant_kirchhoff";
  const double of_default = reach(text(soft(st_venant))), of_neo_hookean = reach(text(soft(neo_hookean)));
  EXPECT_EQ(reach(text(soft(""))), of_default);
  EXPECT_GT(of_default, 0.305);
  EXPECT_GT(of_neo_hookean, of_default + 1e-4);
  // Each of two regions has its own law.
  const auto parts = [&](const std::string& left, const std::string& right) {
    std::string pulled = text("[" + soft(left + ", region: left") + ", " + soft(right + ", region: right") + "]");
    return reach(pulled.insert(pulled.find("regions:\n") + 9,
                               "  left: {body: flap, box: {min: [-0.1, -1, -1], max: [0.15, 1, 1]}}\n"
                               "  right: {body: flap, box: {min: [0.05, -1, -1], max: [0.4, 1, 1]}}\n"));
  };
  EXPECT_NEAR(parts(neo_hookean, neo_hookean), of_neo_hookean, 1e-9);
  const double of_left = parts(neo_hookean, st_venant) - of_default,
               of_right = parts(st_venant, neo_hookean) - of_default;
  EXPECT_GT(of_right, 2e-5);
  EXPECT_GT(of_left, 2.0 * of_right);  // the left part carries more tension
  EXPECT_LT(of_left, of_neo_hookean - of_default);
}

TEST_F(Shell, may_be_a_sheet_or_a_closed_surface) {
  const auto with_mesh = [&](const std::string& mesh, const std::string& loads) {
    std::string made = scene(rubber, "", "0.01", "symplectic_euler", loads);
    return made.replace(made.find("{file: sheet.obj}"), 17, mesh);
  };
  write("scene.yaml", with_mesh("{sheet: {size: [0.3, 0.2], cells: [3, 2]}}", ""));
  EXPECT_EQ(run({"simulate", "scene.yaml"}, "sheet").code, 0);
  const std::vector<double> x = dataset("sheet/trajectory.h5", "/bodies/flap/positions");
  EXPECT_NEAR(x.at(3 * 11), 0.3, 1e-12);
  EXPECT_NEAR(x.at(3 * 11 + 1), 0.2, 1e-12);
  write("scene.yaml",
        with_mesh("{sphere: {center: [0, 0, 0], radius: 0.2}}", "  - {region: flap/all, pressure: -50}\n"));
  EXPECT_EQ(run({"simulate", "scene.yaml"}, "balloon").code, 0);
  refused(with_mesh("{sheet: {size: [0.3, 0.2], cells: [3]}}", ""), "sheet.cells: give [nx, ny]");
  refused(with_mesh("{box: {size: [1, 1, 1], cells: [1, 1, 1]}}", ""), "gives no triangles");
}

TEST_F(Shell, touches_at_its_thickness) {
  // A plate that falls onto a plane comes to rest at least half of its thickness above the plane.
  std::string text = scene(rubber,
                           "contact: {barrier_distance: 2.0e-3, barrier_stiffness: 1.0e5,\n"
                           "  obstacles: [{plane: {point: [0, 0, -0.02], normal: [0, 0, 1]}}]}\n",
                           "0.01", "implicit_euler");
  text.replace(text.find("dt: 0.0005, steps: 12"), 21, "dt: 0.01, steps: 40");
  const double height = tip(text);
  EXPECT_GT(height, -0.015);
  EXPECT_LT(height, -0.012);
}

TEST_F(Shell, refuses_what_it_cannot_be_made_of) {
  const std::string sought = "parameters: [{name: youngs_modulus, per: global}]\n";
  refused(scene(rubber, sought, ""), "bodies.flap.thickness: is missing");
  refused(scene(rubber, sought, "0"), "thickness: 0 is not positive");
  refused(scene("{density: 900, poisson_ratio: 0.4}", sought), "bodies.flap.material.youngs_modulus: is missing");
  refused(scene("{density: 900, youngs_modulus: 1, poisson_ratio: 0.5}", sought), "poisson_ratio: 0.5");
  refused(scene("{model: ogden_1, density: 900, youngs_modulus: 1, poisson_ratio: 0.4}", sought),
          "model: there is no 'ogden_1'; use one of: st_venant_kirchhoff, neo_hookean");
  refused(scene("{density: 900, youngs_modulus: 1, poisson_ratio: 0.4, thickness: 1}", sought), "thickness");
  refused(scene(rubber, "parameters: [{name: youngs_modulus, per: cell}]\n"), "triangle");
  std::string clamp = scene(rubber, sought);
  clamp.replace(clamp.find("[x, y, z]"), 9, "[x, y]");
  refused(clamp, "clamp: needs all three components");
  // An additional triangle at a side that two triangles share.
  write("sheet.obj", sheet() + "v 0.05 0.05 0.1\nf 1 6 13\n");
  refused(scene(rubber, sought), "triangle 0 has a side that two other triangles also have");
}

}  // namespace
}  // namespace diffsim::app::shell_test
