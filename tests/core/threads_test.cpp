// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Checks that kernels run on the requested number of threads. Otherwise tests on two threads could run on one
// unnoticed.

#include <gtest/gtest.h>

#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "diffsim/core/impl/device.hpp"

namespace diffsim::threads_test {
namespace {

/// Returns the number of host threads that took part in a sweep.
int working_threads() {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  const auto note = [&](int) {
    const std::lock_guard<std::mutex> lock(mutex);
    seen.insert(std::this_thread::get_id());
  };
  Kokkos::parallel_for("diffsim::test::threads", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, 10000),
                       note);
  Kokkos::DefaultHostExecutionSpace().fence();
  return static_cast<int>(seen.size());
}

TEST(threads, as_many_work_as_are_asked_for) {
  const char* asked = std::getenv("OMP_NUM_THREADS");
  if (!asked) GTEST_SKIP() << "OMP_NUM_THREADS is not set";
  if (std::string(Kokkos::DefaultHostExecutionSpace::name()) != "OpenMP") GTEST_SKIP() << "Kokkos has no OpenMP";
  EXPECT_EQ(Kokkos::DefaultHostExecutionSpace().concurrency(), std::atoi(asked));
  EXPECT_EQ(working_threads(), std::atoi(asked));
}

}  // namespace
}  // namespace diffsim::threads_test
