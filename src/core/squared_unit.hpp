// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace diffsim {

/// Returns the unit of the square of a quantity with the given unit, for example "N²" for "N" and "(N m)²" for "N m".
inline std::string squared_unit(const std::string& unit) {
  if (unit == "1") return unit;
  const bool is_compound = unit.find_first_of(" /²") != std::string::npos;
  return is_compound ? "(" + unit + ")²" : unit + "²";
}

}  // namespace diffsim
