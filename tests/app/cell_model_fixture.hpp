// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "io/hdf5_file.hpp"
#include "runner_fixture.hpp"

namespace diffsim::app {

/// Fixture for scenes of bodies with a CellModel, such as springs, ropes and cloth, with runs that must succeed or be
/// refused.
class CellModelTest : public RunnerTest {
 protected:
  std::vector<double> dataset(const std::string& file, const std::string& name) const {
    return Hdf5File::open(MPI_COMM_WORLD, path(file)).read_array<double>(name);
  }
  /// Runs the program and checks that it succeeds and that the loss depends on every parameter.
  Ran good(const std::vector<std::string>& words, const std::string& output) {
    Ran ran = run(words, output);
    EXPECT_EQ(ran.code, 0) << ran.err;
    if (rank_ == 0) {
      EXPECT_EQ(ran.out.find("independent"), std::string::npos) << ran.out;
    }
    return ran;
  }
  /// Checks that the gradients with respect to the values of each cell of a body, [count], add up to the gradient with
  /// respect to one common value. `text_of` returns the scene with a given section `parameters`.
  void expect_sums(const std::string& body, const std::string& cell, std::size_t count,
                   const std::vector<std::string>& names,
                   const std::function<std::string(const std::string& parameters)>& text_of) {
    for (const std::string& name : names) {
      const auto gradient = [&](const std::string& per) {
        write("scene.yaml", text_of("parameters: [{name: " + name + ", per: " + per + "}]\n"));
        good({"gradient", "scene.yaml"}, per);
        return dataset(per + "/gradient.h5", (per == cell ? "/bodies/" + body : "") + "/gradient/" + name);
      };
      const std::vector<double> each = gradient(cell);
      ASSERT_EQ(each.size(), count) << name;
      const double total = std::accumulate(each.begin(), each.end(), 0.0), all = gradient("global").at(0);
      EXPECT_NE(all, 0.0) << name;
      EXPECT_NEAR(total, all, 1e-12 * std::abs(all)) << name;
      EXPECT_NEAR(gradient("region").at(0), all, 1e-12 * std::abs(all)) << name;
    }
  }
  /// Checks that `gradient` refuses a scene with a message that contains `says`.
  void refused(const std::string& text, const std::string& says) {
    write("bad.yaml", text);
    const Ran ran = run({"gradient", "bad.yaml"}, "bad");
    EXPECT_EQ(ran.code, 2) << ran.err;
    if (rank_ == 0) {
      EXPECT_NE(ran.err.find(says), std::string::npos) << ran.err;
    }
  }
};

}  // namespace diffsim::app
