// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/mesh/validate.hpp"

namespace diffsim {

/// Throws InputError about a mesh: `what`, in the file `name` (none if empty) at that place.
[[noreturn]] inline void refuse_mesh(const std::string& name, const FilePlace& place, const std::string& what) {
  const std::string text = place.note.empty() ? what : what + " (" + place.note + ")";
  if (name.empty()) throw InputError(text);
  throw InputError(name, place.line, "", text);
}

}  // namespace diffsim
