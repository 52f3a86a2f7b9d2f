// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The main() of the tests of each folder. All ranks run all tests; rank 0 reports, the others print their failures
// only, and every rank's exit code says whether any of them failed.
//
// usage: FOLDER_tests [--source=X_test.cpp] [GoogleTest's options]
// With --source: the tests of this source alone, of those that GoogleTest's filter selects.

#include <fnmatch.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
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

/// Whether `name`, SUITE.TEST, is matched by one of `patterns`, separated by ':'.
bool matches(const std::string& name, const std::string& patterns) {
  std::istringstream rest(patterns);
  for (std::string pattern; std::getline(rest, pattern, ':');)
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
  return false;
}

/// Whether GoogleTest's filter, PATTERNS or PATTERNS-PATTERNS, selects the test of this name.
bool is_selected(const std::string& name, const std::string& filter) {
  const std::size_t minus = filter.find('-');
  const std::string wanted = filter.substr(0, minus);
  return (wanted.empty() || matches(name, wanted)) &&
         (minus == std::string::npos || !matches(name, filter.substr(minus + 1)));
}

/// Takes --source=FILE from the arguments; nothing if it is not there.
std::optional<std::string> take_source(int& argc, char** argv) {
  const std::string option = "--source=";
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (!argument.starts_with(option)) continue;
    std::copy(argv + k + 1, argv + argc + 1, argv + k);  // the null pointer at the end, too
    --argc;
    return argument.substr(option.size());
  }
  return std::nullopt;
}

/// Number of tests that will run; of `source` alone, if it is given.
int select_tests(const std::optional<std::string>& source) {
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  const std::string filter = GTEST_FLAG_GET(filter);
  std::string names;
  int count = 0;
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *program.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const testing::TestInfo& test = *suite.GetTestInfo(k);
      const std::string name = std::string(suite.name()) + '.' + test.name();
      if (!is_selected(name, filter)) continue;
      if (source && std::filesystem::path(test.file()).filename() != *source) continue;
      names += name + ':';
      ++count;
    }
  }
  if (source) GTEST_FLAG_SET(filter, names);
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const diffsim::Runtime runtime(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const std::optional<std::string> source = take_source(argc, argv);
  const int count = select_tests(source);
  if (source && count == 0) {
    if (runtime.rank() == 0) std::cerr << "error: no test of " << *source << " is selected\n";
    return EXIT_FAILURE;
  }
  if (runtime.rank() != 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(runtime.rank()));
  }
  // A lone case is in every part of the cases, lest a part without any passes.
  if (count < 2)
    for (const char* const name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) unsetenv(name);
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, runtime.comm());
  return failed;
}
