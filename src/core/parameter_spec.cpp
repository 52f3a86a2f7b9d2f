// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/parameter_spec.hpp"

#include <fmt/core.h>

#include <cmath>

namespace diffsim {

bool Interval::contains(double value) const {
  if (!std::isfinite(value)) return false;
  const bool above = value > low || (has_low && value == low);
  const bool below = value < high || (has_high && value == high);
  return above && below && (has_zero || value != 0.0);
}

std::string Interval::text() const {
  const bool bounded_below = std::isfinite(low), bounded_above = std::isfinite(high);
  if (!has_zero) return "≠ 0";
  if (bounded_below && bounded_above)
    return fmt::format("{}{:.6g}, {:.6g}{}", has_low ? '[' : '(', low, high, has_high ? ']' : ')');
  if (bounded_below) return fmt::format("{} {:.6g}", has_low ? "≥" : ">", low);
  if (bounded_above) return fmt::format("{} {:.6g}", has_high ? "≤" : "<", high);
  return "any";
}

std::string range_error(const ParameterSpec& spec, double value) {
  const Interval& range = spec.range;
  if (!std::isfinite(value)) return fmt::format("{} is not finite; give a finite number", value);
  if (range.contains(value)) return {};
  const std::string in_unit = spec.unit == "1" ? std::string() : ", in " + std::string(spec.unit);
  if (range.low == 0.0 && !std::isfinite(range.high))
    return range.has_low ? fmt::format("{} is negative; give a number, 0 or more{}", value, in_unit)
                         : fmt::format("{} is not positive; give a number above 0{}", value, in_unit);
  if (value == 0.0 && !range.has_zero) return "0 is not possible; give another number";
  return fmt::format("{} is outside {}; give {}", value, range.text(), spec.advice);
}

}  // namespace diffsim
