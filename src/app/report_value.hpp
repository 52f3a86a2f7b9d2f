// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace diffsim::app {

/// Value in a report: empty, boolean, number, string, list, or a mapping whose keys are in the order of insertion.
class ReportValue {
 public:
  enum class Kind { nothing, truth, integer, real, text, list, mapping };

  ReportValue() = default;
  ReportValue(bool truth) : kind_(Kind::truth), integer_(truth) {}
  template <std::integral T>
  ReportValue(T integer) : kind_(Kind::integer), integer_(static_cast<std::int64_t>(integer)) {}
  ReportValue(double real) : kind_(Kind::real), real_(real) {}
  ReportValue(const char* text) : kind_(Kind::text), text_(text) {}
  ReportValue(std::string text) : kind_(Kind::text), text_(std::move(text)) {}
  template <typename T>
  ReportValue(const std::vector<T>& items) : kind_(Kind::list), items_(items.begin(), items.end()) {}
  /// Creates a mapping, for example {{"steps", 100}, {"cuts", 0}}.
  ReportValue(std::initializer_list<std::pair<const char*, ReportValue>> entries);

  static ReportValue list();
  static ReportValue mapping();

  /// Returns the value of a key of a mapping; a missing key is added with an empty value. A call of `operator[]` makes
  /// an empty ReportValue a mapping.
  ReportValue& operator[](const std::string& key);
  void push_back(ReportValue item) { items_.push_back(std::move(item)); }

  double real() const { return real_; }
  /// Returns the ReportValue as JSON text, indented by two spaces per level. In the JSON text, numbers that are not
  /// finite become null, and bytes that are not UTF-8 are replaced.
  std::string json() const;

  Kind kind() const { return kind_; }
  std::int64_t integer() const { return integer_; }
  const std::string& text() const { return text_; }
  /// Keys of a mapping, in the order of the values `items()`.
  const std::vector<std::string>& keys() const { return keys_; }
  const std::vector<ReportValue>& items() const { return items_; }  ///< entries of a list, or values of a mapping

 private:
  Kind kind_ = Kind::nothing;
  std::int64_t integer_ = 0;
  double real_ = 0.0;
  std::string text_;
  std::vector<std::string> keys_;
  std::vector<ReportValue> items_;
};

}  // namespace diffsim::app
