// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/io/hdf5_file.hpp"
#include "runner_fixture.hpp"

namespace diffsim::app {

/// Scenes of bodies with a CellModel, such as springs, ropes and cloth: runs that must succeed, or be refused.
class CellModelTest : public RunnerTest {
 protected:
  std::vector<double> dataset(const std::string& file, const std::string& name) const {
    return Hdf5File::open(MPI_COMM_WORLD, path(file)).read_array<double>(name);
  }
  /// Expects success, and that the loss depends on every parameter.
  Ran good(const std::vector<std::string>& words, const std::string& output) {
    Ran ran = run(words, output);
    EXPECT_EQ(ran.code, 0) << ran.err;
    if (rank_ == 0) {
      EXPECT_EQ(ran.out.find("independent"), std::string::npos) << ran.out;
    }
    return ran;
  }
  /// Expects `gradient` of a scene to be refused with a message that has these words.
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
