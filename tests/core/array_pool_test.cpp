// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/array_pool.hpp"

#include <gtest/gtest.h>

namespace diffsim::array_pool_test {
namespace {

TEST(array_pool, gives_memory_again_that_nobody_holds) {
  ArrayPool pool;
  const double* first = nullptr;
  {
    const DeviceArray<double> array = pool.take<double>("a", 100);
    EXPECT_EQ(array.size(), 100u);
    first = array.data();
  }
  // Memory for 100 values is reused for 10 values and for 150.
  EXPECT_EQ(pool.take<double>("b", 10).data(), first);
  EXPECT_EQ(pool.take<double>("c", 150).data(), first);
  EXPECT_EQ(pool.take<double>("c", 150).size(), 150u);
}

TEST(array_pool, gives_nobody_what_another_holds) {
  ArrayPool pool;
  DeviceArray<int> kept;
  {
    const DeviceArray<int> one = pool.take<int>("one", 50), other = pool.take<int>("other", 50);
    EXPECT_NE(one.data(), other.data());
    kept = one;  // the memory lives as long as this copy
  }
  for (int k = 0; k < 3; ++k) EXPECT_NE(pool.take<int>("next", 40).data(), kept.data());
  const int* const data = kept.data();
  kept = {};
  const DeviceArray<int> a = pool.take<int>("a", 40), b = pool.take<int>("b", 40);
  EXPECT_TRUE(a.data() == data || b.data() == data);
}

TEST(array_pool, gives_zeros_where_asked) {
  ArrayPool pool;
  {
    const DeviceArray<double> array = pool.take<double>("a", 8);
    Kokkos::deep_copy(array, 7.0);
  }
  const auto zeros = host_view(pool.take_zeroed<double>("b", 8));
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(zeros(i), 0.0);
  EXPECT_EQ(pool.take<double>("none", 0).size(), 0u);
}

}  // namespace
}  // namespace diffsim::array_pool_test
