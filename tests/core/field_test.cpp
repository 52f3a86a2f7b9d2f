// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Shared ownership of the memory of fields.

#include "diffsim/core/field.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/field_pool.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::field_test {
namespace {

static_assert(!std::is_copy_constructible_v<Field> && !std::is_copy_assignable_v<Field>);
static_assert(std::is_nothrow_move_constructible_v<Field>);

/// Copies `size` doubles of device memory to the host.
std::vector<double> values_at(const double* data, std::size_t size) {
  std::vector<double> values(size);
  Kokkos::deep_copy(HostSpan<double>(values.data(), size), DeviceSpan<const double>(data, size));
  return values;
}

TEST(field, shared_memory_outlives_the_field) {
  std::shared_ptr<const double> memory;
  {
    Field field("field", 100, 3);
    field.fill(2.0);
    memory = field.shared_data();
    EXPECT_EQ(memory.get(), std::as_const(field).data());
    EXPECT_EQ(memory.use_count(), 2);
  }
  EXPECT_EQ(memory.use_count(), 1);
  EXPECT_EQ(values_at(memory.get(), 300), std::vector<double>(300, 2.0));
}

TEST(field, shared_memory_shows_later_values_and_its_owners_do_not_change_the_revision) {
  Field field("field", 10);
  const std::uint64_t revision = field.revision();
  const std::shared_ptr<const double> memory = field.shared_data();
  EXPECT_EQ(field.revision(), revision);
  field.fill(3.0);
  EXPECT_EQ(values_at(memory.get(), 10), std::vector<double>(10, 3.0));
}

TEST(field, a_moved_field_has_the_same_memory) {
  Field field("field", 10);
  field.fill(4.0);
  const std::shared_ptr<const double> memory = field.shared_data();
  const Field moved = std::move(field);
  EXPECT_EQ(moved.data(), memory.get());
  EXPECT_EQ(memory.use_count(), 2);
}

TEST(field, memory_of_a_pool_returns_with_the_last_owner) {
  const auto pool = FieldPool::make();
  const auto on = Entities::of_process(100);
  std::shared_ptr<const double> memory;
  {
    Field field = pool->take("field", on, 3);
    field.fill(5.0);
    memory = field.shared_data();
  }
  const double* const address = memory.get();
  {
    Field other = pool->take("other", on, 3);
    other.fill(6.0);
    EXPECT_NE(other.data(), address);
    EXPECT_EQ(values_at(address, 300), std::vector<double>(300, 5.0));
  }
  // The memory of the first field `other` is unused now, the memory of `field` is not.
  const Field other = pool->take("other", on, 3);
  EXPECT_NE(other.data(), address);
  memory.reset();
  const Field again = pool->take("again", on, 3);
  EXPECT_EQ(again.data(), address);
}

TEST(field, shared_memory_outlives_the_pool) {
  auto pool = FieldPool::make();
  const std::weak_ptr<FieldPool> watched = pool;
  auto memory = pool->take("field", Entities::of_process(10)).shared_data();
  pool.reset();
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(values_at(memory.get(), 10), std::vector<double>(10, 0.0));
  memory.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(field, a_change_of_entities_keeps_shared_memory) {
  const auto early = std::make_shared<const Entities>("entities", MPI_COMM_SELF, 10);
  const auto later = std::make_shared<const Entities>("entities", MPI_COMM_SELF, 20, nullptr, nullptr, 1);
  Field field("field", early), changed("field", later);
  field.fill(7.0);
  changed.fill(8.0);
  const std::shared_ptr<const double> memory = field.shared_data();
  field.copy_from(changed);
  EXPECT_NE(field.data(), memory.get());
  EXPECT_EQ(field.to_host(), std::vector<double>(20, 8.0));
  EXPECT_EQ(values_at(memory.get(), 10), std::vector<double>(10, 7.0));
}

TEST(field, memory_of_the_kind_host_is_that_which_the_host_can_read) {
  EXPECT_EQ(memory_kind() == MemoryKind::host, kernels_on_host);
  EXPECT_GE(device_number(), 0);
  Field field("field", 10);
  field.fill(9.0);
  wait_for_kernels();
  if (memory_kind() == MemoryKind::host) {
    EXPECT_EQ(std::as_const(field).data()[9], 9.0);
  }
}

TEST(field, a_field_without_values_has_no_memory) {
  EXPECT_EQ(Field().shared_data(), nullptr);
  EXPECT_EQ(Field("empty", 0).shared_data(), nullptr);
}

TEST(field, values_are_copied_from_an_array_of_the_right_size) {
  const double values[] = {1.0, 2.0, 3.0};
  Field field("field", 3);
  field.from_host(values, 3);
  EXPECT_EQ(field.to_host(), std::vector<double>({1.0, 2.0, 3.0}));
  EXPECT_THROW(field.from_host(values, 2), Error);
}

}  // namespace
}  // namespace diffsim::field_test
