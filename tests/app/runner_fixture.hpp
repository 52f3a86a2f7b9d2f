// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "app/run.hpp"

namespace diffsim::app {

/// Fixture with a separate folder for each test, made by rank 0, in which the runner is called as a function. All
/// members are collective over all ranks unless they are marked otherwise.
class RunnerTest : public testing::Test {
 protected:
  struct Ran {
    int code = -1;
    std::string out, err;  ///< output of rank 0
    double seconds = 0.0;
  };

  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(info->test_suite_name()) + "." + info->name() + ".np" + std::to_string(ranks_);
    for (char& c : name)
      if (c == '/') c = '_';
    folder_ = std::filesystem::path("runner") / name;
    if (rank_ == 0) {
      std::filesystem::remove_all(folder_);
      std::filesystem::create_directories(folder_);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void write(const std::string& name, const std::string& text) {
    if (rank_ == 0) std::ofstream(path(name), std::ios::binary) << text;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::string read(const std::string& name) const {  // not collective
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }
  nlohmann::json report(const std::string& output) const {  // not collective
    return nlohmann::json::parse(read(output + "/report.json"), nullptr, false);
  }

  /// Runs `diffsim WORDS --output OUTPUT` in the test's folder.
  Ran run(const std::vector<std::string>& words, const std::string& output, MPI_Comm comm = MPI_COMM_WORLD) {
    std::vector<std::string> all{words[0], path(words[1]), "--output", path(output)};
    all.insert(all.end(), words.begin() + 2, words.end());
    std::ostringstream out, err;
    Ran ran;
    CommandLine line = parse_command_line(all);
    line.measures = measures_;
    const double start = MPI_Wtime();
    ran.code = app::run(comm, line, out, err);
    ran.seconds = MPI_Wtime() - start;
    ran.out = out.str();
    ran.err = err.str();
    return ran;
  }

  std::filesystem::path folder_;
  int rank_ = 0;
  int ranks_ = 1;
  std::optional<PlanMeasures> measures_;  ///< replace the measurements for a plan of checkpoints
};

}  // namespace diffsim::app
