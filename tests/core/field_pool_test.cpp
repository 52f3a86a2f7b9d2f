// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/field_pool.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <memory>
#include <utility>

#include "diffsim/core/state.hpp"

namespace diffsim::field_pool_test {
namespace {

TEST(field_pool, memory_serves_again_and_is_zeroed) {
  const auto pool = FieldPool::make();
  const auto on = Entities::of_process(100);
  const double* first = nullptr;
  {
    Field field = pool->take("field", on, 3);
    first = field.data();
    field.fill(2.0);
  }
  const Field again = pool->take("again", on, 3);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(again.name(), "again");
  EXPECT_EQ(again.to_host(), std::vector<double>(300, 0.0));
}

TEST(field_pool, fields_that_live_have_memory_of_their_own) {
  const auto pool = FieldPool::make();
  const auto on = Entities::of_process(10);
  Field a = pool->take("a", on), b = pool->take("b", on);
  EXPECT_NE(a.data(), b.data());
  a.fill(1.0);
  EXPECT_EQ(b.to_host(), std::vector<double>(10, 0.0));
}

TEST(field_pool, clones_and_fields_alike_are_from_it) {
  const auto pool = FieldPool::make();
  const auto on = Entities::of_process(10);
  Field field = pool->take("field", on);
  const double *of_clone = nullptr, *of_like = nullptr;
  {
    field.fill(3.0);
    const Field clone = field.clone(), like = field.like("like");
    EXPECT_EQ(clone.to_host(), std::vector<double>(10, 3.0));
    EXPECT_EQ(like.to_host(), std::vector<double>(10, 0.0));
    of_clone = clone.data(), of_like = like.data();
  }
  // If memory had been freed instead of returned to the pool, these fields would receive it.
  const Field others[] = {Field("other", on), Field("other", on), Field("other", on), Field("other", on)};
  const Field second = pool->take("second", on), third = pool->take("third", on);
  EXPECT_TRUE((second.data() == of_clone && third.data() == of_like) ||
              (second.data() == of_like && third.data() == of_clone));
}

TEST(field_pool, a_state_has_memory_from_it_after_a_change_of_entities) {
  const auto pool = FieldPool::make();
  const auto other = std::make_shared<const Entities>("entities", MPI_COMM_SELF, 20, nullptr, nullptr, 1);
  const double* first = nullptr;
  {
    State state;
    state.add(pool->take("field", Entities::of_process(10), 3));
    state.set_entities({other});
    EXPECT_EQ(state["field"].to_host(), std::vector<double>(60, 0.0));
    first = state["field"].data();
  }
  // If the memory had been freed instead of returned to the pool, this field could receive it.
  const Field unpooled("unpooled", other, 3);
  EXPECT_EQ(pool->take("again", other, 3).data(), first);
}

TEST(field_pool, states_of_zeros_have_all_steps) {
  State state;
  state.add(Field("signal", Entities::of_process(2), 3, 4)).fill(1.0);
  const State zero = state.zero_like(*FieldPool::make());
  EXPECT_EQ(zero["signal"].steps(), 4);
  EXPECT_EQ(zero["signal"].to_host(), std::vector<double>(24, 0.0));
}

TEST(field_pool, other_sizes_get_memory_of_their_own) {
  const auto pool = FieldPool::make();
  const double* small = nullptr;
  {
    const Field field = pool->take("small", Entities::of_process(10));
    small = field.data();
  }
  const Field large = pool->take("large", Entities::of_process(1000));
  EXPECT_NE(large.data(), small);
  EXPECT_EQ(large.to_host(), std::vector<double>(1000, 0.0));
}

TEST(field_pool, fields_outlive_its_owner) {
  auto pool = FieldPool::make();
  Field field = pool->take("field", Entities::of_process(10));
  pool = nullptr;
  field.fill(4.0);
  Field moved = std::move(field);
  EXPECT_EQ(moved.to_host(), std::vector<double>(10, 4.0));
}

}  // namespace
}  // namespace diffsim::field_pool_test
