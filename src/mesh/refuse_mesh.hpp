// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/core/error.hpp"
#include "mesh/validate.hpp"

namespace diffsim {

/// Throws InputError with the message `what` and the location `place` in the file `name`. If the file name `name` is
/// empty, the message contains no file name and no line number.
[[noreturn]] inline void refuse_mesh(const std::string& name, const FilePlace& place, const std::string& what) {
  const std::string text = place.note.empty() ? what : what + " (" + place.note + ")";
  if (name.empty()) throw InputError(text);
  throw InputError(name, place.line, "", text);
}

}  // namespace diffsim
