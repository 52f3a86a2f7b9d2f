// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// The main() of the tests of each folder. All ranks run all tests. Rank 0 prints GoogleTest's report, the other ranks
// print only their failures, and the exit code of every rank is non-zero if a test failed on any rank.
//
// usage: FOLDER_tests [--source=X_test.cpp] [GoogleTest's options]
// --source runs only the tests of this source that GoogleTest's filter selects.

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
  // GoogleTest calls this function with its lock held, so no other function of GoogleTest may be called here.
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

/// Returns true if `name`, in the form SUITE.TEST, matches one of the `patterns`, which are separated by ':'.
bool matches(const std::string& name, const std::string& patterns) {
  std::istringstream rest(patterns);
  for (std::string pattern; std::getline(rest, pattern, ':');)
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
  return false;
}

/// Returns true if GoogleTest's filter, PATTERNS or PATTERNS-PATTERNS, selects the test `name`.
bool is_selected(const std::string& name, const std::string& filter) {
  const std::size_t minus = filter.find('-');
  const std::string wanted = filter.substr(0, minus);
  return (wanted.empty() || matches(name, wanted)) &&
         (minus == std::string::npos || !matches(name, filter.substr(minus + 1)));
}

/// Removes --source=FILE from the arguments. Returns FILE, or nothing if the option is absent.
std::optional<std::string> take_source(int& argc, char** argv) {
  const std::string option = "--source=";
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (!argument.starts_with(option)) continue;
    std::copy(argv + k + 1, argv + argc + 1, argv + k);  // including the null pointer at the end
    --argc;
    return argument.substr(option.size());
  }
  return std::nullopt;
}

/// Returns the number of tests that will run. If `source` is given, selects only the tests of this source.
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
  // A source with a single case runs it in every shard; otherwise some shards would have no case.
  if (count < 2)
    for (const char* const name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) unsetenv(name);
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, runtime.comm());
  return failed;
}
