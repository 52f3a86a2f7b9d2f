// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Operations that an emulated device refuses (DIFFSIM_EMULATE_DEVICE), and reference counting of its memory.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"

#if defined(DIFFSIM_EMULATE_DEVICE)

namespace diffsim::emulated_device_test {
namespace {

/// Kernels in functions of their own: nvcc permits neither kernels nor device lambdas in the body of a TEST.
void add_one(double* x, int size) {
  Kokkos::parallel_for(
      "diffsim::tests::add_one", Range(0, size), KOKKOS_LAMBDA(int i) { x[i] += 1.0; });
}
void add_to(const std::vector<double>& shift, const DeviceArray<double>& x) {
  Kokkos::parallel_for(
      "diffsim::tests::add_to", Range(0, static_cast<int>(x.size())),
      KOKKOS_LAMBDA(int i) { x(i) += shift[static_cast<std::size_t>(i)]; });
}

TEST(EmulatedDevice, KernelsAndCopiesReachItsMemory) {
  Field field("x", 3, 3);
  field.from_host({1, 2, 3, 4, 5, 6, 7, 8, 9});
  add_one(field.data(), 9);
  EXPECT_EQ(field.to_host(), (std::vector<double>{2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(EmulatedDevice, MemoryHasAKindOfItsOwn) { EXPECT_EQ(memory_kind(), MemoryKind::emulated); }

TEST(EmulatedDevice, HostCannotReadIt) {
  const Field field("pressure", 3, 1);
  EXPECT_DEATH(std::printf("%g", field.data()[2]),
               "host code accessed device array 'pressure' at byte 16.*a copy to the host is missing");
}

TEST(EmulatedDevice, HostCannotWriteIt) {
  const auto array = make_zeroed_device_array<int>("counts", 4);
  EXPECT_DEATH(array(1) = 7, "host code accessed device array 'counts' at byte 4.*a copy to the host is missing");
}

TEST(EmulatedDevice, HostKernelsCannotReachIt) {
  const auto array = make_zeroed_device_array<int>("counts", 4);
  const Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace> rows(0, 4);
  EXPECT_DEATH(Kokkos::parallel_for("rows", rows, [=](int i) { array(i) = i; }),
               "host code accessed device array 'counts'");
}

TEST(EmulatedDevice, KernelsTakeNoHostAddress) {
  double x[2] = {0.0, 0.0};
  EXPECT_DEATH(add_one(x, 2), "kernel 'diffsim::tests::add_one' captures a host address");
  const std::vector<double> shift(2, 1.0);
  EXPECT_DEATH(add_to(shift, make_zeroed_device_array<double>("x", 2)),
               "kernel 'diffsim::tests::add_to' captures a host address");
  EXPECT_DEATH(DeviceSpan<double>(x, 2), "a host address is used as a device address");
}

TEST(EmulatedDevice, FreshMemoryIsNotZero) {
  const std::vector<double> zeros(4, 0.0);
  to_device("x", zeros) = {};  // frees pages that contained zeros
  const auto values = host_view(make_device_array<double>("y", 4));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(values(i)));
}

TEST(EmulatedDevice, MemoryLivesAsLongAsAnArrayOfIt) {
  DeviceArray<int> part;
  {
    const DeviceArray<int> whole = to_device("whole", std::vector<int>{1, 2, 3, 4});
    part = DeviceArray<int>(whole, std::make_pair(std::size_t{1}, std::size_t{3}));
  }
  const auto other = to_device("other", std::vector<int>{5, 6, 7, 8});
  const auto values = host_view(part);
  EXPECT_EQ(values.size(), 2u);
  EXPECT_EQ(values(0), 2);
  EXPECT_EQ(values(1), 3);
}

}  // namespace
}  // namespace diffsim::emulated_device_test

#else

TEST(EmulatedDevice, IsOff) { GTEST_SKIP() << "a build with DIFFSIM_EMULATE_DEVICE tests it"; }

#endif
