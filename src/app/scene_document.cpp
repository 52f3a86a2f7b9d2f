// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/scene_document.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "app/scene.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::app {
namespace {

/// Number of type T that is written in `text`, or an empty optional if the text is not such a number.
template <class T>
std::optional<T> number_in(std::string_view text) {
  if constexpr (std::is_floating_point_v<T>)
    if (text.starts_with('+')) text.remove_prefix(1);
  T number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Value of one of the words .inf, -.inf and .nan, or an empty optional for any other text.
std::optional<double> special_number_in(std::string_view text) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  for (const char* word : {".nan", ".NaN", ".NAN"})
    if (text == word) return std::numeric_limits<double>::quiet_NaN();
  const double sign = text.starts_with('-') ? -1.0 : 1.0;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  for (const char* word : {".inf", ".Inf", ".INF"})
    if (text == word) return sign * infinite;
  return std::nullopt;
}

std::string text_of_number(double number) {
  if (std::isnan(number)) return ".nan";
  if (std::isinf(number)) return number > 0.0 ? ".inf" : "-.inf";
  return format_number(number);
}

/// Number of nested levels of lists and mappings in `value`: 0 for a scalar, 1 for a list of scalars.
int levels_of(const Value& value) {
  int levels = 0;
  for (const Value& item : value.items) levels = std::max(levels, 1 + levels_of(item));
  return levels;
}

/// Writes `value`. Lists and mappings of at most two levels are written on one line, except the document itself.
void write_value(YAML::Emitter& out, const Value& value, bool is_document) {
  const auto style = !is_document && levels_of(value) <= 2 ? YAML::Flow : YAML::Block;
  switch (value.kind) {
    case Value::Kind::nothing:
      out << YAML::Null;
      break;
    case Value::Kind::scalar:
      if (value.quoted) out << YAML::DoubleQuoted;
      out << value.text;
      break;
    case Value::Kind::list:
      out << style << YAML::BeginSeq;
      for (const Value& item : value.items) write_value(out, item, false);
      out << YAML::EndSeq;
      break;
    case Value::Kind::mapping:
      out << style << YAML::BeginMap;
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        out << YAML::Key << value.keys[i] << YAML::Value;
        write_value(out, value.items[i], false);
      }
      out << YAML::EndMap;
      break;
  }
}

std::string folder_of(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

std::filesystem::path absolute_folder(const std::string& folder) {
  return std::filesystem::absolute(folder.empty() ? "." : folder).lexically_normal();
}

/// Changes the paths in `value`, which is the value of `key`; `key` is empty for items of a list.
void move_paths_of(Value& value, const std::string& key, const std::string& from, const std::string& to) {
  if (value.is_scalar() && is_path_key(key) && !std::filesystem::path(value.text).is_absolute())
    value.text = path_from((std::filesystem::path(from) / value.text).string(), to);
  for (std::size_t i = 0; i < value.items.size(); ++i)
    move_paths_of(value.items[i], value.is_mapping() ? value.keys[i] : std::string(), from, to);
}

}  // namespace

ScalarContent content_of(const Value& scalar) {
  const std::string& text = scalar.text;
  if (scalar.quoted) return text;
  if (text == "true" || text == "false") return text == "true";
  // Texts such as 007 and -0 are not integers, because the integer would have another text.
  const std::optional<std::int64_t> integer = number_in<std::int64_t>(text);
  if (integer && std::to_string(*integer) == text) return *integer;
  if (const std::optional<double> special = special_number_in(text)) return *special;
  const std::optional<double> number = number_in<double>(text);
  if (number && std::isfinite(*number)) return *number;
  return text;
}

Value scalar_with(const ScalarContent& content) {
  Value value;
  value.kind = Value::Kind::scalar;
  if (const bool* truth = std::get_if<bool>(&content)) {
    value.text = *truth ? "true" : "false";
  } else if (const std::int64_t* integer = std::get_if<std::int64_t>(&content)) {
    value.text = std::to_string(*integer);
  } else if (const double* number = std::get_if<double>(&content)) {
    value.text = text_of_number(*number);
  } else {
    value.text = std::get<std::string>(content);
    value.quoted = !std::holds_alternative<std::string>(content_of(value));
  }
  return value;
}

bool is_path_key(const std::string& key) {
  constexpr std::array keys{"file", "observations", "urdf", "from"};
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string path_from(const std::string& path, const std::string& folder) {
  const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
  const std::filesystem::path relative = absolute.lexically_relative(absolute_folder(folder));
  return relative.empty() ? absolute.string() : relative.string();
}

void move_paths(Value& document, const std::string& from, const std::string& to) {
  if (absolute_folder(from) != absolute_folder(to)) move_paths_of(document, "", from, to);
}

std::string to_yaml(const Value& document) {
  YAML::Emitter out;
  write_value(out, document, true);
  return std::string(out.c_str(), out.size()) + '\n';
}

void save_document(MPI_Comm comm, Value document, const std::string& folder, const std::string& path) {
  parse_scene(document, path);
  move_paths(document, folder, folder_of(path));
  const std::string text = to_yaml(document);
  collectively(comm, [&] {
    if (!is_first_rank(comm)) return;
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw InputError(path, 0, "", "cannot be written; check that the folder exists and has free space");
  });
}

}  // namespace diffsim::app
