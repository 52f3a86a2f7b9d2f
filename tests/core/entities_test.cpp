// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/field.hpp"

#include <gtest/gtest.h>

#include "core/ring.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/parameters.hpp"
#include "diffsim/core/state.hpp"

namespace diffsim::entities_test {
namespace {

using testing_core::Ring;

State state_on(const Ring& ring) {
  State state;
  state.add(Field("positions", ring.all, 3));
  state.add(Field("velocities", Entities::without_copies(ring.all), 3));
  for (Field& field : state.fields()) {
    std::vector<double> values(field.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(10 * ring.place(i / 3)) + static_cast<double>(i % 3);
    field.from_host(values);
  }
  return state;
}

TEST(entities, say_what_is_owned_and_what_is_copied) {
  const Ring ring(4, 0);
  const int rank = rank_of(MPI_COMM_WORLD), ranks = num_ranks(MPI_COMM_WORLD);
  const auto owned = static_cast<std::size_t>(4 + rank);
  const Field field("values", ring.all, 2);
  EXPECT_EQ(field.owned(), owned);
  EXPECT_EQ(field.extent(), owned + (ranks > 1 ? 3 : 0));
  const Field signal("signal", Entities::without_copies(ring.all), 2, 5);
  EXPECT_EQ(signal.extent(), 5 * owned);
  EXPECT_EQ(signal.owned(), 5 * owned);
  EXPECT_EQ(signal.on().order(), ring.order.get());
  EXPECT_THROW(Field("signal", ring.all, 2, 5), Error);
  EXPECT_THROW(Entities("beads", MPI_COMM_WORLD, owned + 1, ring.order, ring.exchange), Error);
  EXPECT_THROW(Entities("beads", MPI_COMM_WORLD, owned + 4, ring.order), Error);
}

TEST(entities, one_for_all_counts_once_in_sums) {
  ParameterSet parameters;
  const Parameter& damping = parameters.add("damping", Entities::one_for_all(MPI_COMM_WORLD), 1, 4);
  parameters.fill(3.0);
  EXPECT_TRUE(damping.is_global());
  EXPECT_EQ(damping.field.size(), 4u);
  EXPECT_EQ(damping.offset(2), 2u);
  EXPECT_THROW(damping.offset(4), Error);
  EXPECT_EQ(sum_over_ranks(local_dot(parameters, parameters), MPI_COMM_WORLD), 4 * 9.0);
}

TEST(entities, copies_are_set_by_what_the_fields_are_on) {
  const Ring ring(4, 0);
  State state = state_on(ring);
  const std::vector<double> expected = state["positions"].to_host();
  std::vector<double> values = expected;
  for (std::size_t i = state["positions"].owned_size(); i < values.size(); ++i) values[i] = -1.0;
  state["positions"].from_host(values);
  synchronise(state);
  EXPECT_EQ(state["positions"].to_host(), expected);
}

TEST(entities, states_of_other_generations_are_copied_with_their_entities) {
  const Ring before(4, 0), after(6, 1);
  State state = state_on(before);
  const State later = state_on(after);
  state.copy_from(later);
  EXPECT_EQ(state["positions"].on().generation(), 1);
  EXPECT_EQ(state["positions"].to_host(), later["positions"].to_host());
  EXPECT_EQ(state["velocities"].to_host(), later["velocities"].to_host());
  EXPECT_EQ(state.clone()["velocities"].to_host(), later["velocities"].to_host());
  // Within one generation, the sizes and the kinds of entities must agree.
  Field other("positions", std::make_shared<const Entities>("cells", MPI_COMM_WORLD, 2, nullptr, nullptr, 2), 3);
  EXPECT_THROW(state["positions"].copy_from(other), Error);
  const Ring larger(9, 1);
  EXPECT_THROW(state.copy_from(state_on(larger)), Error);
}

}  // namespace
}  // namespace diffsim::entities_test
