// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/report_value.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace diffsim::app {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ReportValue& value) {
  switch (value.kind()) {
    case ReportValue::Kind::truth:
      return value.integer() != 0;
    case ReportValue::Kind::integer:
      return value.integer();
    case ReportValue::Kind::real:
      return value.real();
    case ReportValue::Kind::text:
      return value.text();
    case ReportValue::Kind::list: {
      Json list = Json::array();
      for (const ReportValue& item : value.items()) list.push_back(to_json(item));
      return list;
    }
    case ReportValue::Kind::mapping: {
      Json mapping = Json::object();
      for (std::size_t i = 0; i < value.items().size(); ++i) mapping[value.keys()[i]] = to_json(value.items()[i]);
      return mapping;
    }
    default:
      return nullptr;
  }
}

}  // namespace

ReportValue::ReportValue(std::initializer_list<std::pair<const char*, ReportValue>> entries) : kind_(Kind::mapping) {
  for (const auto& [key, value] : entries) (*this)[key] = value;
}

ReportValue ReportValue::list() {
  ReportValue value;
  value.kind_ = Kind::list;
  return value;
}

ReportValue ReportValue::mapping() {
  ReportValue value;
  value.kind_ = Kind::mapping;
  return value;
}

ReportValue& ReportValue::operator[](const std::string& key) {
  kind_ = Kind::mapping;
  const auto found = std::find(keys_.begin(), keys_.end(), key);
  if (found != keys_.end()) return items_[static_cast<std::size_t>(found - keys_.begin())];
  keys_.push_back(key);
  return items_.emplace_back();
}

std::string ReportValue::json() const { return to_json(*this).dump(2, ' ', false, Json::error_handler_t::replace); }

}  // namespace diffsim::app
