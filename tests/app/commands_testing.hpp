// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "io/hdf5_file.hpp"
#include "runner_fixture.hpp"

namespace diffsim::app {

/// Returns a scene with a bar of soft rubber that is fixed at x_min and swings. `more` is appended to the scene.
inline std::string bar(const std::string& stiffness, const std::string& more) {
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

inline const std::string target = "objective: {type: target_position, region: tip, target: [1, 0.3, 0]}\n";

class Commands : public RunnerTest {
 protected:
  void expect_done(const Ran& ran) {
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
  }
  /// Returns a dataset, read by all ranks.
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
  /// Checks that history.csv lists each iteration once, from 0, and gives gradients relative to the first one. Not
  /// collective.
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

inline std::string implicit_bar(const std::string& solver, const std::string& more) {
  std::string scene = bar("2.0e4", more);
  const std::size_t begin = scene.find("solver:"), end = scene.find("boundary:");
  return scene.replace(begin, end - begin, "solver: {" + solver + "}\n");
}

}  // namespace diffsim::app
