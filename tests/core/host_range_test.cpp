// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Kernels over a Range on a host, on one thread and on several threads.

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::host_range_test {
namespace {

/// Returns, for each index 0 … size-1, the number of times that a kernel over [begin, end) processes the index.
std::vector<int> times_worked(int begin, int end, std::size_t size) {
  const auto times = make_zeroed_device_array<int>("diffsim::test::times", size);
  Kokkos::parallel_for(
      "diffsim::test::count", Range(begin, end), KOKKOS_LAMBDA(int i) { times(i) += 1; });
  Kokkos::fence();
  std::vector<int> result(size);
  const HostSpan<int> host(result.data(), size);
  Kokkos::deep_copy(host, times);
  return result;
}

TEST(host_range, gets_each_index_once) {
  const int size = 7 * concurrency() + 3;
  for (int begin = 0; begin < 3; ++begin)
    for (const int count : {0, 1, concurrency() - 1, concurrency(), concurrency() + 1, size - begin}) {
      const std::vector<int> times = times_worked(begin, begin + count, static_cast<std::size_t>(size));
      for (int i = 0; i < size; ++i)
        EXPECT_EQ(times[static_cast<std::size_t>(i)], i >= begin && i < begin + count ? 1 : 0) << i;
    }
}

#if !defined(DIFFSIM_EMULATE_DEVICE)
TEST(host_range, is_divided_among_all_threads) {
  std::vector<std::thread::id> threads(static_cast<std::size_t>(7 * concurrency() + 3));
  std::thread::id* const thread_of = threads.data();
  Kokkos::parallel_for(
      "diffsim::test::threads", Range(0, static_cast<int>(threads.size())),
      KOKKOS_LAMBDA(int i) { thread_of[i] = std::this_thread::get_id(); });
  Kokkos::fence();
  EXPECT_EQ(std::set<std::thread::id>(threads.begin(), threads.end()).size(), static_cast<std::size_t>(concurrency()));
}
#endif

std::map<std::string, int>& begun() {
  static std::map<std::string, int> times;
  return times;
}
int& ended() {
  static int times = 0;
  return times;
}

TEST(host_range, is_seen_by_tools) {
  using namespace Kokkos::Tools::Experimental;
  begun().clear();
  ended() = 0;
  set_begin_parallel_for_callback([](const char* name, std::uint32_t, std::uint64_t*) { ++begun()[name]; });
  set_end_parallel_for_callback([](std::uint64_t) { ++ended(); });
  times_worked(0, 1, 1);
  times_worked(0, 100, 100);
  set_begin_parallel_for_callback(nullptr);
  set_end_parallel_for_callback(nullptr);
  EXPECT_EQ(begun()["diffsim::test::count"], 2);
  EXPECT_GE(ended(), 2);
}

}  // namespace
}  // namespace diffsim::host_range_test
