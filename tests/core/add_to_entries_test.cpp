// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/add_to_entries.hpp"

#include <gtest/gtest.h>

#include "diffsim/core/error.hpp"

namespace diffsim::add_to_entries_test {
namespace {

Field counted() {
  Field field("counted", 2, 3);
  field.from_host({1.0, 2.0, 3.0, 4.0, 5.0, 6.0});
  return field;
}

TEST(add_to_entries, adds_to_those_entries_only) {
  Field field = counted();
  add_to_entries(field, 2, {10.0, 20.0, 30.0});
  add_to_entries(field, 2, {0.5});
  EXPECT_EQ(field.to_host(), (std::vector<double>{1.0, 2.0, 13.5, 24.0, 35.0, 6.0}));
}

TEST(add_to_entries, reaches_the_last_entry_and_no_further) {
  Field field = counted();
  add_to_entries(field, 5, {1.0});
  add_to_entries(field, 6, {});
  EXPECT_EQ(field.to_host(), (std::vector<double>{1.0, 2.0, 3.0, 4.0, 5.0, 7.0}));
  EXPECT_THROW(add_to_entries(field, 5, {1.0, 1.0}), Error);
  EXPECT_THROW(add_to_entries(field, 7, {}), Error);
}

}  // namespace
}  // namespace diffsim::add_to_entries_test
