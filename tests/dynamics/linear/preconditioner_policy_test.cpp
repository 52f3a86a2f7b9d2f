// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

#include "dynamics/linear/preconditioner_policy.hpp"

#include <gtest/gtest.h>

namespace diffsim::dynamics::preconditioner_policy_test {
namespace {

TEST(preconditioner_policy, a_step_without_reference_makes_its_own_preconditioner) {
  PreconditionerPolicy policy;
  policy.begin_rollout();
  policy.begin_step(false);
  EXPECT_TRUE(policy.renews());
  EXPECT_FALSE(policy.on_reference());
  policy.record_main(20, 1e-4);  // 5 iterations per digit
  EXPECT_FALSE(policy.renews());
  EXPECT_DOUBLE_EQ(policy.expected(1e-2), 10.0);
  EXPECT_DOUBLE_EQ(policy.most(1e-2), 70.0);
  policy.record_main(48, 1e-4);  // 12 = 2 · 5 + 2 per digit
  EXPECT_FALSE(policy.renews());
  policy.record_main(49, 1e-4);
  EXPECT_TRUE(policy.renews());
  policy.record_main(8, 1e-4);  // a new measure
  EXPECT_DOUBLE_EQ(policy.expected(1e-2), 4.0);
  policy.begin_step(false);
  EXPECT_TRUE(policy.renews()) << "steps do not depend on earlier steps";
}

TEST(preconditioner_policy, a_reference_serves_until_its_extra_iterations_cost_a_set_up) {
  PreconditionerPolicy policy;
  policy.begin_rollout();
  policy.set_reference_iterations(10);
  policy.begin_step(true);
  ASSERT_TRUE(policy.on_reference());
  EXPECT_DOUBLE_EQ(policy.expected(1e-3), 10.0);
  EXPECT_DOUBLE_EQ(policy.expected(1e-6), 20.0);
  EXPECT_DOUBLE_EQ(policy.expected(1e-1), 10.0);
  policy.record_shared(true, 37, 1e-3);  // 24.5 more than 1.25 · 10
  EXPECT_TRUE(policy.on_reference());
  policy.record_shared(true, 13, 1e-3);  // 25 in all
  EXPECT_FALSE(policy.on_reference());
  EXPECT_TRUE(policy.renews());
  policy.begin_step(true);
  EXPECT_TRUE(policy.on_reference()) << "every step begins with the reference";
  policy.record_shared(false, 1, 1e-3);
  EXPECT_FALSE(policy.on_reference()) << "a solve failed";
}

TEST(preconditioner_policy, derivatives_keep_the_preconditioner_of_a_step) {
  PreconditionerPolicy policy;
  policy.begin_step(false);
  policy.record_main(20, 1e-4);
  policy.begin_derivatives(false, true);
  ASSERT_TRUE(policy.keeps());
  policy.record_shared(true, 18, 1e-4);  // faster: the measure becomes 4.5 per digit
  EXPECT_DOUBLE_EQ(policy.expected(1e-4), 18.0);
  policy.begin_derivatives(false, true);
  policy.record_shared(true, 47, 1e-4);  // 24.5 more than 1.25 · 18
  EXPECT_TRUE(policy.keeps());
  policy.begin_derivatives(false, true);
  EXPECT_TRUE(policy.keeps()) << "extra iterations add up over steps";
  policy.record_shared(true, 23, 1e-4);  // 25 in all
  EXPECT_FALSE(policy.keeps());
  EXPECT_TRUE(policy.renews());
  policy.record_main(20, 1e-4);
  policy.begin_derivatives(true, true);
  EXPECT_FALSE(policy.keeps()) << "with a reference nothing else is kept";
  EXPECT_TRUE(policy.on_reference());
  policy.begin_step(false);
  policy.record_main(20, 1e-4);
  policy.begin_derivatives(false, false);
  EXPECT_FALSE(policy.keeps()) << "there is nothing to keep";
}

}  // namespace
}  // namespace diffsim::dynamics::preconditioner_policy_test
