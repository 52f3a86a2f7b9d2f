// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/parameter_spec.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "diffsim/core/parameters.hpp"

namespace diffsim::parameter_spec_test {
namespace {

TEST(parameter_spec, intervals_have_the_ends_that_they_say) {
  EXPECT_FALSE(Interval::positive().contains(0.0));
  EXPECT_TRUE(Interval::positive().contains(1e-300));
  EXPECT_TRUE(Interval::not_negative().contains(0.0));
  EXPECT_FALSE(Interval::not_negative().contains(-1e-300));
  EXPECT_FALSE(Interval::any().contains(HUGE_VAL));
  EXPECT_FALSE(Interval::any().contains(std::nan("")));
  EXPECT_FALSE(Interval::but_zero().contains(0.0));
  EXPECT_TRUE(Interval::but_zero().contains(-2.0));
  const Interval half_open{.low = -1.0, .high = 0.5, .has_high = true};
  EXPECT_FALSE(half_open.contains(-1.0));
  EXPECT_TRUE(half_open.contains(0.5));
  EXPECT_EQ(half_open.text(), "(-1, 0.5]");
  EXPECT_EQ(Interval::positive().text(), "> 0");
  EXPECT_EQ(Interval::not_negative().text(), "≥ 0");
  EXPECT_EQ(Interval::any().text(), "any");
}

TEST(parameter_spec, faults_say_what_to_give) {
  const ParameterSpec modulus{.name = "modulus", .unit = "Pa", .range = Interval::positive()};
  EXPECT_EQ(range_error(modulus, 2.0), "");
  EXPECT_EQ(range_error(modulus, -5.0), "-5 is not positive; give a number above 0, in Pa");
  EXPECT_EQ(range_error(modulus, std::nan("")), "nan is not finite; give a finite number");
  const ParameterSpec share{
      .name = "share", .range = {.low = 0.0, .high = 1.0, .has_low = true}, .advice = "a share inside"};
  EXPECT_EQ(range_error(share, 1.0), "1 is outside [0, 1); give a share inside");
  EXPECT_EQ(range_error({.name = "drag", .range = Interval::not_negative()}, -0.1),
            "-0.1 is negative; give a number, 0 or more");
  EXPECT_EQ(range_error({.name = "exponent", .range = Interval::but_zero()}, 0.0),
            "0 is not possible; give another number");
}

TEST(parameter_spec, only_positive_numbers_are_searched_in_the_logarithm) {
  EXPECT_EQ((ParameterSpec{.name = "p", .range = Interval::positive()}.search()), Search::logarithmic);
  EXPECT_EQ((ParameterSpec{.name = "p", .range = Interval::not_negative()}.search()), Search::linear);
  const ParameterSpec ratio{.name = "p", .range = {.low = 0.0, .high = 1.0}};
  EXPECT_EQ(ratio.search(), Search::linear);
}

TEST(parameter_spec, parameters_begin_with_the_default_and_keep_the_spec) {
  ParameterSet set;
  const ParameterSpec velocity{
      .name = "velocity", .unit = "m/s", .components = 3, .default_value = 2.5, .has_second_derivative = false};
  const Parameter& added = set.add(velocity, Entities::one_for_all(MPI_COMM_SELF), 4, "lid");
  EXPECT_EQ(added.name(), "velocity:lid");
  EXPECT_EQ(added.field.to_host(), std::vector<double>(12, 2.5));
  const ParameterSet gradient = set.zero_like({"velocity:lid"});
  EXPECT_EQ(gradient.at("velocity:lid").spec.unit, "m/s");
  EXPECT_FALSE(gradient.at("velocity:lid").spec.has_second_derivative);
  EXPECT_EQ(gradient.at("velocity:lid").field.to_host(), std::vector<double>(12, 0.0));
}

}  // namespace
}  // namespace diffsim::parameter_spec_test
