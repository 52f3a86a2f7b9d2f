// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/bodies.hpp"

#include <gtest/gtest.h>

namespace diffsim::bodies_test {
namespace {

TEST(bodies, have_the_vertices_from_their_first_to_the_next_body) {
  const std::vector<MeshBody> bodies{{"gripper", 0, 0}, {"crate", 20, 50}, {"lid", 30, 70}};
  EXPECT_EQ(body_names(bodies), (std::vector<std::string>{"gripper", "crate", "lid"}));
  for (const auto& [number, body, name] :
       {std::tuple(0, 0, "0 of gripper"), std::tuple(19, 0, "19 of gripper"), std::tuple(20, 1, "0 of crate"),
        std::tuple(29, 1, "9 of crate"), std::tuple(30, 2, "0 of lid"), std::tuple(99, 2, "69 of lid")}) {
    EXPECT_EQ(body_of_vertex(bodies, number), body);
    EXPECT_EQ(vertex_name(bodies, number), name);
  }
}

TEST(bodies, have_the_cells_from_their_first_to_the_next_body) {
  const std::vector<MeshBody> bodies{{"gripper", 0, 0}, {"crate", 20, 50}};
  EXPECT_EQ(body_of_cell(bodies, 49), 0);
  EXPECT_EQ(body_of_cell(bodies, 50), 1);
  EXPECT_EQ(cell_name(bodies, 57), "7 of crate");
}

TEST(bodies, one_needs_no_name) {
  EXPECT_EQ(body_names({}), std::vector<std::string>{"body"});
  EXPECT_EQ(body_of_vertex({}, 17), 0);
  EXPECT_EQ(vertex_name({}, 17), "17");
  EXPECT_EQ(vertex_name({{"crate", 0, 0}}, 17), "17");
}

}  // namespace
}  // namespace diffsim::bodies_test
