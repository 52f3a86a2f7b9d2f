// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "app/scene_document.hpp"

namespace diffsim::app {

// Functions that create parts of scene documents (YAML values).

/// Returns a mapping without entries.
inline Value made_mapping() {
  Value value;
  value.kind = Value::Kind::mapping;
  return value;
}
/// Returns a list of the given items.
inline Value made_list(std::vector<Value> items = {}) {
  Value value;
  value.kind = Value::Kind::list;
  value.items = std::move(items);
  return value;
}
/// Returns a list of the `count` numbers at `numbers`.
inline Value made_list(const double* numbers, std::size_t count) {
  Value value = made_list();
  for (std::size_t i = 0; i < count; ++i) value.items.push_back(scalar_with(numbers[i]));
  return value;
}
/// Returns a list of three numbers.
inline Value made_list(const std::array<double, 3>& numbers) { return made_list(numbers.data(), numbers.size()); }
/// Adds an entry to a mapping that does not have the key.
inline void put(Value& mapping, const std::string& key, Value value) {
  mapping.keys.push_back(key);
  mapping.items.push_back(std::move(value));
}
/// Overload of `put` for a number, a text or a truth value.
inline void put(Value& mapping, const std::string& key, const ScalarContent& content) {
  put(mapping, key, scalar_with(content));
}
/// Returns the address of the value of a key; nullptr if the mapping does not have the key.
inline Value* find_key(Value& mapping, const std::string& key) {
  for (std::size_t i = 0; i < mapping.keys.size(); ++i)
    if (mapping.keys[i] == key) return &mapping.items[i];
  return nullptr;
}

}  // namespace diffsim::app
