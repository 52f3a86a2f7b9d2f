// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <vector>

#include "core/device_values.hpp"
#include "diffsim/core/impl/stencil_kernels_impl.hpp"

namespace diffsim::stencil_groups_test {
namespace {

using testing_core::on_host;

TEST(stencil_groups, list_the_indices_of_each_value_in_order) {
  const stencil::Grouped groups = stencil::grouped({5, 2, 5, 9, 2, 5});
  EXPECT_EQ(on_host(groups.value), (std::vector<int>{2, 5, 9}));
  EXPECT_EQ(on_host(groups.begin), (std::vector<int>{0, 2, 5, 6}));
  EXPECT_EQ(on_host(groups.place), (std::vector<int>{1, 4, 0, 2, 5, 3}));
}

TEST(stencil_groups, of_nothing_are_empty) {
  const stencil::Grouped groups = stencil::grouped({});
  EXPECT_EQ(groups.value.size(), 0u);
  EXPECT_EQ(on_host(groups.begin), std::vector<int>{0});
}

TEST(stencil_groups, vectors_are_added_at_their_vertices) {
  // Four nodes of stencils at the vertices 2, 0, 2, 2; vertex 1 has no stencil.
  const stencil::Grouped nodes = stencil::grouped({2, 0, 2, 2});
  const DeviceArray<double> vectors =
      to_device("vectors", std::vector<double>{1, 2, 3, 10, 20, 30, 100, 200, 300, 1000, 2000, 3000});
  const DeviceArray<double> y = to_device("y", std::vector<double>{0.5, 0, 0, 7, 8, 9, 0, 0, 0.25});
  stencil::add_vectors(nodes, vectors.data(), y.data());
  EXPECT_EQ(on_host(y), (std::vector<double>{10.5, 20, 30, 7, 8, 9, 1101, 2202, 3303.25}));
}

}  // namespace
}  // namespace diffsim::stencil_groups_test
