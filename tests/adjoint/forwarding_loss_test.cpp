// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

#include "adjoint/forwarding_loss.hpp"

#include <gtest/gtest.h>

#include "adjoint/later_steps.hpp"
#include "adjoint/recording_loss.hpp"

namespace diffsim::forwarding_loss_test {
namespace {

using testing_adjoint::expect_forwards;
using testing_adjoint::RecordingLoss;

TEST(forwarding_loss, calls_each_function_of_the_other_loss) {
  RecordingLoss same, shifted;
  ForwardingLoss loss(same);
  expect_forwards(loss, same, 0);
  LaterLoss later(shifted, 5);
  expect_forwards(later, shifted, 5);
}

}  // namespace
}  // namespace diffsim::forwarding_loss_test
