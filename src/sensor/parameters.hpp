// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Parameters of feedbacks. The name of the feedback is appended: `policy:NAME`.
struct FeedbackParameters {
  /// Weights of the policy. The number of components is the number of weights.
  static constexpr ParameterSpec policy{
      .name = "policy", .meaning = "weights of the policy of a feedback", .sample = 0.1, .components = 0};
};

}  // namespace diffsim
