// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/resume_point.hpp"

#include <gtest/gtest.h>

namespace diffsim::resume_point_test {
namespace {

TEST(ResumePoint, KeepsCopiesOfTheAdjointAndTheGradient) {
  State adjoint;
  adjoint.add(Field("positions", 4));
  ParameterSet gradient;
  gradient.add("rate", Entities::of_process(2));
  ResumePoint point;
  EXPECT_EQ(point.step, -1);
  point.allocate(adjoint, gradient);
  EXPECT_EQ(point.step, -1);
  adjoint["positions"].fill(3.0);
  gradient.at("rate").field.fill(5.0);
  point.set(64, adjoint, gradient);
  adjoint["positions"].fill(0.0);
  gradient.at("rate").field.fill(0.0);
  EXPECT_EQ(point.step, 64);
  point.get(adjoint, gradient);
  EXPECT_EQ(adjoint["positions"].to_host(), std::vector<double>(4, 3.0));
  EXPECT_EQ(gradient.at("rate").field.to_host(), std::vector<double>(2, 5.0));
  point.allocate(adjoint, gradient);
  EXPECT_EQ(point.step, -1);
  point.get(adjoint, gradient);
  EXPECT_EQ(gradient.at("rate").field.to_host(), std::vector<double>(2, 0.0));
}

}  // namespace
}  // namespace diffsim::resume_point_test
