// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/rounded_store.hpp"

#include "diffsim/core/impl/device.hpp"
#include "io/mesh_testing.hpp"

namespace diffsim::rounded_store_test {
namespace {

using namespace testing_io;

std::vector<double> rounded(std::vector<double> values) {
  for (double& value : values) value = static_cast<double>(static_cast<float>(value));
  return values;
}

TEST(RoundedStore, KeepsStatesToFloat32) {
  const auto mesh = small_mesh();
  RoundedStore store;
  for (const int step : {3, 7}) store.put(step, state_of(*mesh, step));
  store.put(3, state_of(*mesh, 4));  // replaces the first snapshot
  store.erase(7);
  store.put(8, state_of(*mesh, 8));  // reuses the memory of snapshot 7
  State state = state_of(*mesh, 1);
  for (const auto& [step, of] : {std::pair(3, 4), std::pair(8, 8)}) {
    store.get(step, state);
    const State expected = state_of(*mesh, of);
    for (std::size_t k = 0; k < state.fields().size(); ++k) {
      const std::vector<double> whole = expected.fields()[k].to_host();
      EXPECT_TRUE(same_bits(state.fields()[k].to_host(), rounded(whole)));
      EXPECT_TRUE(whole.empty() || !same_bits(rounded(whole), whole)) << "nothing was there to be rounded";
    }
  }
  EXPECT_THROW(store.get(7, state), Error);
}

std::int64_t live = 0;

TEST(RoundedStore, TakesHalfTheRoom) {
  if (!kernels_on_host) GTEST_SKIP() << "arrays are not in host memory";
  const auto mesh = small_mesh();
  const State state = state_of(*mesh, 1);
  RoundedStore store;
  Kokkos::Tools::Experimental::set_allocate_data_callback(
      [](Kokkos::Profiling::SpaceHandle, const char*, const void*, std::uint64_t bytes) {
        live += static_cast<std::int64_t>(bytes);
      });
  store.put(1, state);
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  // Array sizes are rounded up to eight bytes.
  EXPECT_NEAR(static_cast<double>(live), 0.5 * static_cast<double>(state.bytes()), 8.0 * state.fields().size());
}

}  // namespace
}  // namespace diffsim::rounded_store_test
