// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The section `sensors` of scenes: output of `simulate` and `tangent`, and the objective `sensor`.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cell_model_fixture.hpp"
#include "core/file_order.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/sensor/sensor.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app::sensor_test {
namespace {

const std::string sensors =
    "sensors:\n  gauge: {type: strain, region: middle}\n  cell: {type: stress, region: middle}\n"
    "  tip: {type: position, point: [0.39, 0.09, 0.05]}\n"
    "  span: {type: distance, between: [{region: x_min}, {point: [0.39, 0.09, 0.05]}]}\n"
    "  support: {type: moment, region: x_min}\n  whole: {type: volume, region: all}\n";

/// Returns a scene with a bar that hangs from its left end.
std::string scene(const std::string& more, const std::string& youngs_modulus = "2.0e+5") {
  return "mesh: {box: {size: [0.4, 0.1, 0.1], cells: [8, 2, 2]}}\n"
         "regions: {middle: {box: {min: [0.14, -1, -1], max: [0.26, 1, 1]}}}\n"
         "material: {model: neo_hookean, density: 1000, youngs_modulus: " +
         youngs_modulus +
         ", poisson_ratio: 0.3}\n"
         "solver: {integrator: implicit_euler, dt: 0.02, steps: 4, gravity: [0, -9.8, 0], newton: {tolerance: "
         "1.0e-12}}\nboundary: [{region: x_min, fix: [x, y, z]}]\n" +
         sensors + more;
}

class SensorOfScene : public CellModelTest {};

TEST_F(SensorOfScene, is_written_by_simulate_and_tangent) {
  write("scene.yaml", scene(""));
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> strain = dataset("run/trajectory.h5", "/sensors/gauge");
  ASSERT_EQ(strain.size(), 5u * 6u);
  const std::vector<double> volume = dataset("run/trajectory.h5", "/sensors/whole");
  EXPECT_NEAR(volume.at(0), 4e-3, 1e-15);
  EXPECT_NE(volume.at(4), volume.at(0));
  const std::vector<double> tip = dataset("run/trajectory.h5", "/sensors/tip");
  EXPECT_LT(tip.at(3 * 4 + 1), 0.09);
  const std::vector<double> span = dataset("run/trajectory.h5", "/sensors/span");
  const double dx = tip.at(3 * 4), dy = tip.at(3 * 4 + 1) - 0.05, dz = tip.at(3 * 4 + 2) - 0.05;
  EXPECT_NEAR(span.at(4), std::sqrt(dx * dx + dy * dy + dz * dz), 1e-12);
  // The weight pulls down on the right of the support, so the support turns the bar counter-clockwise.
  EXPECT_GT(dataset("run/trajectory.h5", "/sensors/support").at(3 * 4 + 2), 0.1);

  write("tangent.yaml", scene("parameters: [{name: youngs_modulus, direction: 1.0e+5}]\n"));
  good({"tangent", "tangent.yaml"}, "tangent");
  // Fourth-order differences of stress and strain.
  std::vector<std::vector<double>> at;
  const std::vector<double> steps{-2.0, -1.0, 1.0, 2.0};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    write("moved.yaml", scene("", std::to_string(2e5 + 1e5 * 2e-3 * steps[k])));
    good({"simulate", "moved.yaml"}, "moved");
    at.push_back(dataset("moved/trajectory.h5", "/sensors/cell"));
  }
  const std::vector<double> slope = dataset("tangent/tangent.h5", "/sensors/cell_tangent");
  ASSERT_EQ(slope.size(), at[0].size());
  double largest = 0.0;
  for (const double value : slope) largest = std::max(largest, std::abs(value));
  ASSERT_GT(largest, 1.0);
  for (std::size_t i = 0; i < slope.size(); ++i) {
    const double difference = (at[0][i] - 8.0 * at[1][i] + 8.0 * at[2][i] - at[3][i]) / (12.0 * 2e-3);
    EXPECT_NEAR(slope[i], difference, 1e-7 * largest) << i;
  }
}

TEST_F(SensorOfScene, gives_the_stiffness_that_a_gauge_measured) {
  write("scene.yaml", scene("", "3.1e+5"));
  good({"simulate", "scene.yaml"}, "measured");
  for (const std::string options : {"", ", noise: 1.0e-4", ", huber: 0.5"}) {
    write("scene.yaml", scene("objective: [{type: sensor, sensor: gauge, observations: measured/trajectory.h5" +
                              options + "}]\nparameters: [{name: youngs_modulus}]\n" +
                              "optimiser: {max_iterations: 40, gradient_tolerance: 1.0e-9}\n"));
    good({"invert", "scene.yaml"}, "run");
    EXPECT_NEAR(dataset("run/parameters.h5", "/parameters/youngs_modulus").at(0), 3.1e5, 1e-5 * 3.1e5) << options;
  }
}

TEST_F(SensorOfScene, of_points_that_another_program_measured_gives_the_stiffness) {
  write("scene.yaml", scene("", "3.1e+5"));
  good({"simulate", "scene.yaml"}, "measured");
  const std::vector<double> tip = dataset("measured/trajectory.h5", "/sensors/tip");
  const auto write_points = [&](const std::string& name, double x) {
    Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path(name), "observations", 1);
    file.write_array<double>("/points", {x, 0.09, 0.05, 0.2, 0.05, 0.05}, {2, 3}, "m");
    std::vector<double> positions;
    for (const std::size_t n : {4, 2})
      positions.insert(positions.end(),
                       {tip[3 * n], tip[3 * n + 1], tip[3 * n + 2], std::nan(""), std::nan(""), std::nan("")});
    file.write_array<double>("/positions", positions, {2, 2, 3}, "m");
    file.write_array<std::int64_t>("/step", {4, 2}, {2});
    file.publish();
  };
  const std::string rest =
      "}]\nparameters: [{name: youngs_modulus}]\noptimiser: {max_iterations: 40, gradient_tolerance: 1.0e-9}\n";
  write_points("points.h5", 0.39);
  write("scene.yaml", scene("objective: [{type: track, observations: points.h5" + rest));
  good({"invert", "scene.yaml"}, "run");
  EXPECT_NEAR(dataset("run/parameters.h5", "/parameters/youngs_modulus").at(0), 3.1e5, 1e-5 * 3.1e5);
  write_points("outside.h5", 0.41);
  for (const auto& [more, words] :
       {std::pair<std::string, std::string>{"points.h5, region: x_max", "cannot be combined with observed points"},
        {"outside.h5", "observed point 0 at (0.41, 0.09, 0.05) is outside the body"}}) {
    write("scene.yaml", scene("objective: [{type: track, observations: " + more + rest));
    const Ran ran = run({"gradient", "scene.yaml"}, "refused");
    EXPECT_EQ(ran.code, 2);
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
    }
  }
}

/// Cameras of the tests of silhouettes and of depth maps.
const Camera side_view{
    .position = {0.2, 0.043, 2.0}, .target = {0.2, 0.043, 0.0}, .view_height = 0.31, .width = 72, .height = 44};
const Camera top_view{.position = {0.2, 2.0, 0.043},
                      .target = {0.2, 0.0, 0.043},
                      .up = {0.0, 0.0, 1.0},
                      .view_height = 0.31,
                      .width = 72,
                      .height = 44};

using MakeImage = std::vector<double> (*)(const TetrahedralMesh&, const Camera&, const State&, const std::string&);

/// Returns the images of the states after steps 2 and 4, one after the other. `positions`: those of the trajectory.
std::vector<double> images_of(const std::vector<double>& positions, const Camera& camera, MakeImage make) {
  const auto mesh = TetrahedralMesh::box(MPI_COMM_SELF, {0.4, 0.1, 0.1}, {8, 2, 2});
  std::vector<double> images;
  const auto num_vertices = static_cast<std::size_t>(mesh->num_vertices());
  for (const std::size_t step : {2u, 4u}) {
    State state;
    Field& field = state.add(Field("positions", mesh->vertex_entities(), 3));
    std::vector<double> x(3 * num_vertices);
    for (std::size_t v = 0; v < num_vertices; ++v)
      for (std::size_t c = 0; c < 3; ++c) {
        const auto number = static_cast<std::size_t>(mesh->vertex_order().file_index()[v]);
        x[3 * v + c] = positions.at(3 * (num_vertices * step + number) + c);
      }
    field.from_host(x);
    const std::vector<double> image = make(*mesh, camera, state, "all");
    images.insert(images.end(), image.begin(), image.end());
  }
  return images;
}

/// Writes images after steps 2 and 4.
void write_images(const std::string& path, const std::string& dataset, const std::vector<double>& images) {
  Hdf5File file = Hdf5File::create(MPI_COMM_WORLD, path, "images", 1);
  file.write_array<double>(dataset, images, {2, 44, 72}, "1");
  file.write_array<std::int64_t>("/step", {2, 4}, {2});
  file.publish();
}

TEST_F(SensorOfScene, depth_maps_give_the_stiffness) {
  write("scene.yaml", scene("", "3.1e+5"));
  good({"simulate", "scene.yaml"}, "measured");
  write_images(path("depths.h5"), "/depths",
               images_of(dataset("measured/trajectory.h5", "/positions"), top_view, &depth_image));
  write("scene.yaml",
        scene("objective: [{type: depth, observations: depths.h5, huber: 0.05, noise: 0.001, camera: {position: [0.2, "
              "2, 0.043], target: [0.2, 0, 0.043], up: [0, 0, 1], view_height: 0.31, size: [72, 44]}}]\n"
              "parameters: [{name: youngs_modulus}]\noptimiser: {max_iterations: 40, gradient_tolerance: 1.0e-7}\n"));
  good({"invert", "scene.yaml"}, "run");
  EXPECT_NEAR(dataset("run/parameters.h5", "/parameters/youngs_modulus").at(0), 3.1e5, 1e-3 * 3.1e5);
}

TEST_F(SensorOfScene, silhouettes_give_the_stiffness) {
  write("scene.yaml", scene("", "3.1e+5"));
  good({"simulate", "scene.yaml"}, "measured");
  write_images(path("masks.h5"), "/masks",
               images_of(dataset("measured/trajectory.h5", "/positions"), side_view, &silhouette));
  const auto with = [&](const std::string& more) {
    return scene(
        "objective: [{type: silhouette, observations: masks.h5, camera: {position: [0.2, 0.043, 2], target: "
        "[0.2, 0.043, 0], view_height: 0.31, size: [72, 44]}" +
        more +
        "}]\nparameters: [{name: youngs_modulus}]\n"
        "optimiser: {max_iterations: 40, gradient_tolerance: 1.0e-7}\n");
  };
  for (const std::string more : {"", ", filter: 3, region: all, noise: 0.1"}) {
    write("scene.yaml", with(more));
    good({"invert", "scene.yaml"}, "run");
    EXPECT_NEAR(dataset("run/parameters.h5", "/parameters/youngs_modulus").at(0), 3.1e5, 1e-3 * 3.1e5) << more;
  }
  for (const auto& [more, words] : {std::pair<std::string, std::string>{", steps: [3]", "3"},
                                    {", dataset: /left", "does not exist; give a dataset [K, 44, 72]"},
                                    {", region: midle", "midle"}}) {
    write("scene.yaml", with(more));
    const Ran ran = run({"gradient", "scene.yaml"}, "refused");
    EXPECT_EQ(ran.code, 2) << more;
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
    }
  }
}

TEST_F(SensorOfScene, passes_the_check_of_its_gradient) {
  write("scene.yaml",
        scene("objective:\n  - {type: sensor, sensor: gauge, target: [0.01, .nan, .nan, 0.002, .nan, .nan], step: 3}\n"
              "  - {type: sensor, sensor: span, target: 0.41}\n"
              "  - {type: sensor, sensor: support, target: [0, 0, 1], covariance: [[2, 0.1, 0], [0.1, 1, 0], [0, 0, "
              "3]]}\nparameters:\n  - {name: youngs_modulus}\n  - {name: density}\n  - {name: gravity}\n"));
  good({"check", "scene.yaml", "--hessian"}, "check");
}

TEST_F(SensorOfScene, of_contact_is_written_by_simulate) {
  write("scene.yaml",
        "bodies:\n  lower: {mesh: {box: {size: [0.1, 0.1, 0.1], cells: [2, 2, 2]}}, material: {model: neo_hookean, "
        "density: 1000, youngs_modulus: 1.0e+6, poisson_ratio: 0.3}}\n  upper: {mesh: {box: {size: [0.06, 0.06, 0.06], "
        "cells: [2, 2, 2]}}, placement: {translate: [0.02, 0.1005, 0.02]}, material: {model: neo_hookean, density: "
        "2000, youngs_modulus: 1.0e+6, poisson_ratio: 0.3}}\n"
        "solver: {integrator: implicit_euler, dt: 0.01, steps: 3, gravity: [0, -9.8, 0]}\n"
        "initial: {velocity: [0.1, 0, 0]}\n"
        "contact: {barrier_distance: 1.0e-3, barrier_stiffness: 1.0e+5, friction: 0.3, friction_velocity: 0.01, "
        "obstacles: [{plane: {point: [0, -0.0005, 0], normal: [0, 1, 0]}, name: ground}]}\n"
        "sensors:\n  pair: {type: contact_force, between: [lower, upper]}\n"
        "  grip: {type: friction_force, between: [lower, ground]}\n"
        "  press: {type: contact_pressure, between: [lower, all]}\n"
        "output: {fields: [positions, contact_forces]}\n");
  good({"simulate", "scene.yaml"}, "run");
  const std::vector<double> pair = dataset("run/trajectory.h5", "/sensors/pair"),
                            forces = dataset("run/trajectory.h5", "/contact/lower|upper"),
                            grip = dataset("run/trajectory.h5", "/sensors/grip"),
                            press = dataset("run/trajectory.h5", "/sensors/press");
  // The blocks start with small gaps and a horizontal velocity.
  ASSERT_EQ(pair.size(), forces.size());
  EXPECT_LT(pair.at(1), 0.0);
  for (std::size_t i = 0; i < pair.size(); ++i) EXPECT_NEAR(pair[i], forces[i], 1e-10 * std::abs(forces.at(1))) << i;
  EXPECT_LT(grip.at(0), 0.0);
  ASSERT_EQ(press.size(), 4u);
  EXPECT_GT(press.at(0), 0.0);
}

TEST_F(SensorOfScene, is_refused_in_one_line) {
  const auto refused = [&](const std::string& text, const std::string& words) {
    write("scene.yaml", text);
    const Ran ran = run({"gradient", "scene.yaml"}, "refused");
    EXPECT_EQ(ran.code, 2) << words;
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(words), std::string::npos) << ran.err;
      EXPECT_FALSE(std::filesystem::exists(path("refused")));
    }
  };
  const auto objective = [&](const std::string& more) {
    return scene("objective: [{type: sensor, " + more + "}]\nparameters: [{name: youngs_modulus}]\n");
  };
  refused(objective("sensor: gage, target: 0"), "gauge");
  refused(objective("sensor: gauge, target: [1, 2]"), "has 2 numbers; give one for each of xx, yy, zz, xy, yz, xz (1)");
  refused(objective("sensor: gauge"), "target: is missing; give xx, yy, zz, xy, yz, xz (1), or `observations`");
  refused(objective("sensor: span, target: 1, covariance: 2, noise: 1"), "cannot be combined with `covariance`");
  refused(objective("sensor: support, target: [0, 0, 0], covariance: [[1, 2], [2, 1]]"), "of shape [3, 3]");
  refused(objective("sensor: support, target: [0, 0, 0], covariance: [[1, 2, 0], [2, 1, 0], [0, 0, 1]]"),
          "objective[0].covariance: the covariance matrix is not positive definite");
  const auto with = [&](const std::string& sensor) {
    std::string text = objective("sensor: span, target: 1");
    text.insert(text.find("  gauge:"), "  other: " + sensor + "\n");
    return text;
  };
  refused(with("{type: strian, region: all}"), "did you mean 'strain'");
  std::string text = objective("sensor: span, target: 1");
  text.insert(text.find("  gauge:"), "  gauge_tangent: {type: strain, region: all}\n");
  refused(text, "ends in _tangent");
  refused(with("{type: strain}"), "region: is missing");
  refused(with("{type: strain, region: midle}"), "midle");
  refused(with("{type: strain, point: [0, 0, 0]}"), "point");
  refused(with("{type: position, point: [0.41, 0.05, 0.05]}"), "point (0.41, 0.05, 0.05) is outside the body");
  refused(with("{type: distance, between: [{region: all}]}"), "is not a list of two places");
  refused(with("{type: reaction, region: x_max}"), "has no reaction");
  refused(with("{type: contact_force}"), "between: is missing; give two names of bodies or obstacles");
  refused(with("{type: contact_pressure, between: body}"), "is not a list of two names of bodies or obstacles");
  refused(with("{type: friction_force, between: [body, floor], region: all}"), "region");
  refused(with("{type: contact_force, between: [body, floor]}"), "the scene has no contact");
  refused(with("{type: strain, region: x_max}"), "has no tetrahedra");
}

TEST(sensor_table, of_the_documentation_is_that_of_the_library) {
  std::ifstream file(std::string(DIFFSIM_SOURCE_DIR) + "/docs/scenes.md");
  std::ostringstream text;
  text << file.rdbuf();
  for (const SensorType& type : sensor_types()) {
    std::string names;
    for (const std::string& component : type.components) names += (names.empty() ? "" : ", ") + component;
    const std::string row = "| `" + type.name + "` | " + type.unit + " | " + names + " | " + type.meaning + " |\n";
    EXPECT_NE(text.str().find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace diffsim::app::sensor_test
