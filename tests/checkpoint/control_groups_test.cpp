// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/control_groups.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

namespace diffsim::control_groups_test {
namespace {

using checkpoint::memory_left_by_groups;

/// Temporary folder with the files of control groups.
class ControlGroups : public testing::Test {
 protected:
  ControlGroups() : root_(std::filesystem::path("control_groups")) { std::filesystem::remove_all(root_); }
  ~ControlGroups() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  double left() const { return memory_left_by_groups((root_ / "cgroup").string(), (root_ / "fs").string()); }

  std::filesystem::path root_;
};

TEST_F(ControlGroups, TheLeastOfAGroupAndOfThoseThatContainItLimits) {
  write("cgroup", "0::/batch/job_7/step_0");
  write("fs/batch/job_7/step_0/memory.max", "max");
  write("fs/batch/job_7/step_0/memory.current", "100");
  write("fs/batch/job_7/memory.max", "5000");
  write("fs/batch/job_7/memory.current", "1200");
  write("fs/batch/memory.max", "90000");
  write("fs/batch/memory.current", "80000");
  write("fs/other/memory.max", "10");
  write("fs/other/memory.current", "10");
  EXPECT_EQ(left(), 3800.0);
  write("fs/batch/memory.current", "88000");
  EXPECT_EQ(left(), 2000.0);
  write("fs/batch/memory.current", "91000");
  EXPECT_EQ(left(), 0.0);
}

TEST_F(ControlGroups, InactivePagesOfFilesAreFree) {
  write("cgroup", "0::/job");
  write("fs/job/memory.max", "5000");
  write("fs/job/memory.current", "4000");
  write("fs/job/memory.stat", "anon 1500\nactive_file 700\ninactive_file 1800");
  EXPECT_EQ(left(), 2800.0);
}

TEST_F(ControlGroups, AreReadInVersion1) {
  write("cgroup", "5:devices:/elsewhere\n4:cpu,memory:/job\n0::/");
  write("fs/memory/job/memory.limit_in_bytes", "7000");
  write("fs/memory/job/memory.usage_in_bytes", "2500");
  write("fs/memory/job/memory.stat", "inactive_file 100\ntotal_inactive_file 300");
  write("fs/memory/elsewhere/memory.limit_in_bytes", "10");
  write("fs/memory/elsewhere/memory.usage_in_bytes", "10");
  EXPECT_EQ(left(), 4800.0);
}

TEST_F(ControlGroups, AContainersGroupIsTheMountedFolder) {
  write("cgroup", "0::/../../outside/of/the/container");
  write("fs/memory.max", "600");
  write("fs/memory.current", "450");
  EXPECT_EQ(left(), 150.0);
}

TEST_F(ControlGroups, WithoutALimitAreInfinite) {
  EXPECT_TRUE(std::isinf(left()));  // no file lists the groups
  write("cgroup", "0::/job");
  EXPECT_TRUE(std::isinf(left()));
  write("fs/job/memory.max", "max");
  write("fs/job/memory.current", "100");
  EXPECT_TRUE(std::isinf(left()));
}

}  // namespace
}  // namespace diffsim::control_groups_test
