// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The main() of every test. All ranks run all tests; rank 0 reports, the others print their failures only, and every
// rank's exit code says whether any of them failed.

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "diffsim/core/runtime.hpp"

namespace {

class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + '.' + test.name() + ": ";
  }
  // Runs under GoogleTest's lock: must not ask it anything.
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::ostringstream text;
    text << "[rank " << rank_ << "] " << test_;
    if (result.file_name() != nullptr) text << result.file_name() << ':' << result.line_number() << ": ";
    text << "Failure\n" << result.message() << '\n';
    std::cerr << text.str() << std::flush;
  }

 private:
  int rank_;
  std::string test_;
};

}  // namespace

int main(int argc, char** argv) {
  const diffsim::Runtime runtime(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  if (runtime.rank() != 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(runtime.rank()));
  }
  // A lone case is in every part of the cases, lest a part without any passes.
  if (testing::UnitTest::GetInstance()->total_test_count() < 2)
    for (const char* const name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) unsetenv(name);
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, runtime.comm());
  return failed;
}
