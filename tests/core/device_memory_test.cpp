// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <vector>

#include "core/device_values.hpp"

namespace diffsim::device_memory_test {
namespace {

using testing_core::on_host;

/// Fills memory of the size of `size` values with a nonzero value and frees the memory, so that a new array may get the
/// same memory.
template <class T>
void leave_nonzero(std::size_t size) {
  const auto used = make_device_array<T>("used", size);
  Kokkos::deep_copy(used, T(7));
}

// Odd numbers of int do not fill whole doubles.
TEST(device_memory, zeroed_arrays_are_zero) {
  for (const std::size_t size : {0, 1, 2, 7, 1000, 1001}) {
    leave_nonzero<int>(size);
    EXPECT_EQ(on_host(make_zeroed_device_array<int>("zero", size)), std::vector<int>(size, 0)) << size;
    leave_nonzero<double>(size);
    EXPECT_EQ(on_host(make_zeroed_device_array<double>("zero", size)), std::vector<double>(size, 0.0)) << size;
  }
}

TEST(device_memory, zeroing_leaves_the_rest_of_an_array) {
  const DeviceArray<int> array = to_device("array", std::vector<int>{1, 2, 3, 4, 5, 6});
  zero_on_device(array.data(), 3 * sizeof(int));
  EXPECT_EQ(on_host(array), (std::vector<int>{0, 0, 0, 4, 5, 6}));
  zero_on_device(array.data(), 4 * sizeof(int));
  EXPECT_EQ(on_host(array), (std::vector<int>{0, 0, 0, 0, 5, 6}));
}

TEST(device_memory, copies_have_the_values_of_the_host) {
  struct Pair {
    double a;
    int b;
    bool operator==(const Pair& other) const { return a == other.a && b == other.b; }
  };
  const std::vector<int> numbers{3, 1, 4, 1, 5};
  const std::vector<Pair> pairs{{0.5, 1}, {-2.0, 7}, {1e300, -3}};
  EXPECT_EQ(on_host(to_device("numbers", numbers)), numbers);
  EXPECT_EQ(on_host(to_device("pairs", pairs)), pairs);
  EXPECT_EQ(to_device("empty", std::vector<double>{}).size(), 0u);
}

}  // namespace
}  // namespace diffsim::device_memory_test
