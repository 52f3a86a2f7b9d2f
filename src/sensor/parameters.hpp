// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/parameter_spec.hpp"

namespace diffsim {

/// Specifications of the parameters of feedback controllers. A feedback controller with the name NAME has the parameter
/// `policy:NAME`.
struct FeedbackParameters {
  /// Weights of the policy. The number of components of the parameter `policy` is the number of weights of the policy.
  static constexpr ParameterSpec policy{
      .name = "policy", .meaning = "weights of the policy of a feedback", .sample = 0.1, .components = 0};
};

}  // namespace diffsim
