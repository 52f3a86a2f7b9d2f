// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/core/error.hpp"

namespace diffsim {

/// Returns the number of steps for which `values` contains the values of a control signal, which has `a_step` values in
/// each step. Returns 1 if `a_step` is 0. Throws Error (input) if the size of `values` is not a positive multiple of
/// `a_step`. `what`: name of the control signal in error messages.
inline int steps_of(const std::vector<double>& values, std::size_t a_step, const char* what) {
  if (a_step == 0) return 1;
  if (values.empty() || values.size() % a_step != 0)
    throw Error(std::string(what) + " has " + std::to_string(values.size()) + " values, which is not a multiple of " +
                    std::to_string(a_step),
                ErrorKind::input);
  return static_cast<int>(values.size() / a_step);
}

}  // namespace diffsim
