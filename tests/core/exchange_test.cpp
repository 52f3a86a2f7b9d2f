// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/exchange.hpp"

#include <gtest/gtest.h>

#include "core/ring.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::exchange_test {
namespace {

using testing_core::Ring;

double value_at(std::int64_t place, std::size_t component) {
  return 1.0 + static_cast<double>(place) + 0.01 * static_cast<double>(component);
}

TEST(exchange, copies_fields_of_any_number_of_components) {
  const Ring ring(4, 0);
  for (const int components : {1, 2, 3, 9}) {
    const auto width = static_cast<std::size_t>(components);
    Field field("values", ring.all, components);
    std::vector<double> values(field.size(), -1.0);
    for (std::size_t i = 0; i < field.owned_size(); ++i) values[i] = value_at(ring.place(i / width), i % width);
    field.from_host(values);
    ring.exchange->copy_to_ghosts(field);
    values = field.to_host();
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], value_at(ring.place(i / width), i % width));
  }
}

TEST(exchange, adds_fields_of_any_number_of_components) {
  const Ring ring(4, 0);
  // Number of ranks that have each entity.
  std::vector<PetscInt> holders(ring.all->local(), 1);
  ring.exchange->add_to_owners(holders);
  std::vector<PetscInt> numbers(2 * ring.all->local());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<PetscInt>(3 * ring.place(i / 2)) + static_cast<PetscInt>(i % 2);
  ring.exchange->add_to_owners(numbers, 2);
  for (std::size_t i = 0; i < 2 * ring.all->owned(); ++i)
    EXPECT_EQ(numbers[i], holders[i / 2] * static_cast<PetscInt>(3 * ring.place(i / 2) + static_cast<int>(i % 2)));
  for (const int components : {1, 2, 5}) {
    const auto width = static_cast<std::size_t>(components);
    Field field("shares", ring.all, components);
    std::vector<double> values(field.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_at(ring.place(i / width), i % width);
    field.from_host(values);
    ring.exchange->add_to_owners(field);
    values = field.to_host();
    for (std::size_t i = 0; i < field.owned_size(); ++i)
      EXPECT_DOUBLE_EQ(values[i], holders[i / width] * value_at(ring.place(i / width), i % width));
  }
  const int ranks = num_ranks(MPI_COMM_WORLD);
  PetscInt sum = 0;
  for (std::size_t i = 0; i < ring.all->owned(); ++i) sum += holders[i];
  EXPECT_EQ(sum_over_ranks(std::int64_t{sum}, MPI_COMM_WORLD),
            sum_over_ranks(static_cast<std::int64_t>(ring.all->local()), MPI_COMM_WORLD));
  EXPECT_EQ(ring.exchange->is_alone(), ranks == 1);
}

TEST(exchange, copies_values_of_any_type) {
  struct Named {
    std::int64_t place;
    char mark;
  };
  const Ring ring(3, 0);
  std::vector<Named> values(ring.all->local(), Named{-1, '?'});
  std::vector<PetscInt> numbers(2 * ring.all->local(), -1);
  for (std::size_t i = 0; i < ring.all->owned(); ++i) {
    values[i] = {ring.place(i), static_cast<char>('a' + ring.place(i) % 20)};
    numbers[2 * i] = static_cast<PetscInt>(ring.place(i));
    numbers[2 * i + 1] = 7;
  }
  ring.exchange->copy_to_ghosts(values);
  ring.exchange->copy_to_ghosts(numbers, 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i].place, ring.place(i));
    EXPECT_EQ(values[i].mark, static_cast<char>('a' + ring.place(i) % 20));
    EXPECT_EQ(numbers[2 * i], ring.place(i));
    EXPECT_EQ(numbers[2 * i + 1], 7);
  }
}

TEST(exchange, refuses_values_of_other_entities) {
  const Ring ring(3, 0);
  Field field("few", ring.all->local() + 1, 3);
  EXPECT_THROW(ring.exchange->copy_to_ghosts(field), Error);
  std::vector<PetscInt> numbers(ring.all->local() + 1);
  EXPECT_THROW(ring.exchange->add_to_owners(numbers), Error);
}

}  // namespace
}  // namespace diffsim::exchange_test
