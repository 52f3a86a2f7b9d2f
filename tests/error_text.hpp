// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "diffsim/core/error.hpp"

namespace diffsim {

/// Returns the message of the Error of kind `input` that `body` throws, or "no error" if `body` throws no Error.
inline std::string error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "no error";
}

}  // namespace diffsim

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
