// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/yaml_value.hpp"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>

#include "diffsim/core/error.hpp"

namespace diffsim::app {
namespace {

constexpr int max_depth = 32;  // also limits the recursion into a YAML alias that refers to a value around it
constexpr std::size_t max_values = 20'000'000;

class Converter {
 public:
  explicit Converter(const std::string& file) : file_(std::make_shared<const std::string>(file)) {}

  Value convert(const YAML::Node& node, std::string key, long key_line, int depth) {
    Value value;
    value.place = {file_, node.Mark().line + 1L, std::move(key)};
    if (key_line > 0 && !node.IsScalar()) value.place.line = key_line;
    if (depth > max_depth)
      value.place.fail("is nested too deeply; an alias (*) must not be inside the value that it refers to");
    if (++count_ > max_values) value.place.fail("the scene is too long; give large arrays as {file:, dataset:}");
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        value.kind = Value::Kind::scalar;
        value.text = node.Scalar();
        value.quoted = node.Tag() == "!";
        break;
      case YAML::NodeType::Sequence:
        value.kind = Value::Kind::list;
        for (const YAML::Node& item : node)
          value.items.push_back(
              convert(item, fmt::format("{}[{}]", value.place.key, value.items.size()), 0, depth + 1));
        break;
      case YAML::NodeType::Map:
        value.kind = Value::Kind::mapping;
        for (const auto& entry : node) add_entry(value, entry.first, entry.second, depth);
        break;
      default:
        break;
    }
    return value;
  }

 private:
  void add_entry(Value& mapping, const YAML::Node& key, const YAML::Node& node, int depth) {
    const long line = key.Mark().line + 1L;
    if (!key.IsScalar()) Place{file_, line, mapping.place.key}.fail("a key is not a word; write `key: value`");
    const std::string& name = key.Scalar();
    const std::string path = mapping.place.key.empty() ? name : mapping.place.key + '.' + name;
    if (std::find(mapping.keys.begin(), mapping.keys.end(), name) != mapping.keys.end())
      Place{file_, line, path}.fail("is given twice; remove one");
    mapping.items.push_back(convert(node, path, line, depth + 1));
    mapping.keys.push_back(name);
  }

  std::shared_ptr<const std::string> file_;
  std::size_t count_ = 0;
};

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  constexpr std::size_t longest = 60;
  if (text.size() > longest) text = text.substr(0, longest) + "…";
  return text;
}

std::string shown(const Value& value) {
  switch (value.kind) {
    case Value::Kind::scalar:
      return '\'' + one_line(value.text) + '\'';
    case Value::Kind::list:
      return fmt::format("a list of {}", value.items.size());
    case Value::Kind::mapping:
      return "a mapping";
    default:
      return "nothing";
  }
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool is_not_finite_word(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  text.erase(0, text.find_first_not_of("+-."));
  return text == "inf" || text == "infinity" || text == "nan";
}

/// Appends the numbers of `value` to `array`. The shape of `value` must equal the dimensions of `array` from `depth`
/// on.
void append(const Value& value, std::size_t depth, Array& array) {
  const bool innermost = depth == array.shape.size();
  if (value.is_list() == innermost)
    value.place.fail(std::string("is ") + (innermost ? "a list among numbers" : "a number among lists") +
                     "; give rows of equal length");
  if (innermost) {
    array.values.push_back(to_number(value));
    return;
  }
  if (value.items.size() != static_cast<std::size_t>(array.shape[depth]))
    value.place.fail(fmt::format("has {} entries, but the first row has {}; give rows of equal length",
                                 value.items.size(), array.shape[depth]));
  for (const Value& item : value.items) append(item, depth + 1, array);
}

std::string in_unit(const std::string& unit) { return unit.empty() || unit == "1" ? "" : ", in " + unit; }

std::string suggestion(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  return near.empty() ? std::string() : "did you mean '" + near + "'? ";
}

/// Event handler that stores the line on which the last document begins.
class DocumentStarts : public YAML::EventHandler {
 public:
  long last_line = 0;

  void OnDocumentStart(const YAML::Mark& mark) override { last_line = mark.line + 1L; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// Throws InputError for a second document. (YAML::LoadAll does not terminate if a stray character follows the first
/// document.)
void require_one_document(const std::string& text, const std::string& file) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  if (!parser.HandleNextDocument(starts) || !parser.HandleNextDocument(starts)) return;
  throw InputError(
      file, starts.last_line, "",
      "a second YAML document, or other text, begins; give one scene per file and nothing after the scene");
}

}  // namespace

void Place::fail(const std::string& what) const {
  if (!file) throw InputError(key + ": " + what);
  throw InputError(*file, line, key, what);
}

Value parse_yaml(const std::string& text, const std::string& file) {
  YAML::Node document;
  try {
    require_one_document(text, file);
    document = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw InputError(file, error.mark.line + 1L, "",
                     "not YAML: " + one_line(error.msg) + "; check indentation, brackets and quotes there");
  }
  if (document.IsNull()) throw InputError(file, 0, "", "the scene is empty; it needs at least `mesh:`");
  if (!document.IsMap())
    throw InputError(file, document.Mark().line + 1L, "", "a scene is a mapping; write `mesh: {file: …}`");
  Value root = Converter(file).convert(document, "", 0, 0);
  root.place.line = 0;
  return root;
}

std::string format_number(double value) { return fmt::format("{}", value); }

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string shape_text(const Shape& shape) {
  return shape.empty() ? std::string("a number") : diffsim::to_string(shape);
}

double to_number(const Value& value) {
  if (!value.is_scalar()) value.place.fail("is " + shown(value) + "; give a number");
  if (is_not_finite_word(value.text)) value.place.fail(one_line(value.text) + " is not finite; give a finite number");
  const std::optional<double> number = parse_number(value.text);
  if (value.quoted && number) value.place.fail("\"" + value.text + "\" is text; write the number without quotes");
  if (!number) value.place.fail(shown(value) + " is not a number; give a number");
  if (!std::isfinite(*number)) value.place.fail(value.text + " is not finite; give a finite number");
  return *number;
}

double to_extended(const Value& value) {
  if (!value.is_scalar() || value.quoted || !is_not_finite_word(value.text) ||
      value.text.find_first_of("aA") != value.text.npos)
    return to_number(value);
  return value.text.starts_with('-') ? -std::numeric_limits<double>::infinity()
                                     : std::numeric_limits<double>::infinity();
}

double to_positive(const Value& value, const std::string& unit, const std::string& instead) {
  const std::string wanted = number_above_zero(unit) + (instead.empty() ? "" : ", or " + instead);
  if (!instead.empty() && value.is_scalar() && !parse_number(value.text))
    value.place.fail(shown(value) + " is not possible here; give " + wanted);
  const double number = to_number(value);
  if (!(number > 0.0)) value.place.fail(format_number(number) + " is not positive; give " + wanted);
  return number;
}

double to_non_negative(const Value& value, const std::string& unit) {
  const double number = to_number(value);
  if (number < 0.0) value.place.fail(format_number(number) + " is negative; give " + number_from_zero(unit));
  return number;
}

std::string number_above_zero(const std::string& unit) { return "a number above 0" + in_unit(unit); }

std::string number_from_zero(const std::string& unit) { return "a number, 0 or more" + in_unit(unit); }

std::int64_t to_integer64(const Value& value, std::int64_t smallest) {
  const double number = to_number(value);
  if (number != std::floor(number) || std::abs(number) > 9.0e15)
    value.place.fail(format_number(number) + " is not a whole number; give a whole number");
  const auto integer = static_cast<std::int64_t>(number);
  if (integer < smallest)
    value.place.fail(fmt::format("{} is too small; give a whole number >= {}", integer, smallest));
  return integer;
}

int to_integer(const Value& value, int smallest, int largest) {
  const std::int64_t integer = to_integer64(value, smallest);
  if (integer > largest) value.place.fail(fmt::format("{} is too large; give a whole number <= {}", integer, largest));
  return static_cast<int>(integer);
}

bool to_boolean(const Value& value) {
  if (value.is_scalar() && !value.quoted) {
    for (const char* yes : {"true", "True", "TRUE", "yes", "on"})
      if (value.text == yes) return true;
    for (const char* no : {"false", "False", "FALSE", "no", "off"})
      if (value.text == no) return false;
  }
  value.place.fail("is " + shown(value) + "; give true or false");
}

std::string to_text(const Value& value) {
  if (!value.is_scalar()) value.place.fail("is " + shown(value) + "; give a word");
  if (value.text.empty()) value.place.fail("is empty; give a word");
  return value.text;
}

Array to_array(const Value& value) {
  Array array;
  if (value.is_mapping() || value.kind == Value::Kind::nothing)
    value.place.fail("is " + shown(value) + "; give numbers");
  for (const Value* row = &value; row->is_list(); row = &row->items.front()) {
    if (row->items.empty()) row->place.fail("is an empty list; give numbers");
    array.shape.push_back(static_cast<std::int64_t>(row->items.size()));
  }
  append(value, 0, array);
  return array;
}

std::array<double, 3> to_vector(const Value& value) {
  if (!value.is_list()) value.place.fail("is " + shown(value) + "; give a list of 3 numbers");
  if (value.items.size() != 3)
    value.place.fail(fmt::format("has {} entries; give a list of 3 numbers", value.items.size()));
  return {to_number(value.items[0]), to_number(value.items[1]), to_number(value.items[2])};
}

std::string to_choice(const Value& value, const std::vector<std::string>& available,
                      const std::vector<std::string>& planned) {
  const auto has = [&](const std::vector<std::string>& words) {
    return std::find(words.begin(), words.end(), value.text) != words.end();
  };
  if (value.is_scalar() && has(available)) return value.text;
  if (value.is_scalar() && has(planned))
    value.place.fail("'" + value.text + "' is not available in this version; use " + join(available));
  const std::string hint = value.is_scalar() ? suggestion(value.text, available) : std::string();
  value.place.fail("there is no " + shown(value) + "; " + hint + "use one of: " + join(available));
}

std::vector<const Value*> to_items(const Value& value) {
  if (!value.is_list()) return {&value};
  std::vector<const Value*> items;
  for (const Value& item : value.items) items.push_back(&item);
  return items;
}

Mapping::Mapping(const Value& value, std::vector<std::string> known, const std::vector<std::string>& planned)
    : value_(&value) {
  if (!value.is_mapping()) value.place.fail("is " + shown(value) + "; give a mapping of: " + join(known));
  for (std::size_t i = 0; i < value.keys.size(); ++i) {
    const std::string& key = value.keys[i];
    if (std::find(planned.begin(), planned.end(), key) != planned.end())
      value.items[i].place.fail("is not available in this version; remove it");
    if (std::find(known.begin(), known.end(), key) == known.end())
      value.items[i].place.fail("unknown key; " + suggestion(key, known) + "known keys: " + join(known));
  }
}

const Value* Mapping::find(std::string_view key) const {
  const auto found = std::find(value_->keys.begin(), value_->keys.end(), key);
  if (found == value_->keys.end()) return nullptr;
  const Value& value = value_->items[static_cast<std::size_t>(found - value_->keys.begin())];
  if (value.kind == Value::Kind::nothing) value.place.fail("has no value; give a value or remove the key");
  return &value;
}

Place Mapping::place_of(std::string_view key) const {
  if (const Value* value = find(key)) return value->place;
  Place place = value_->place;
  place.key += (place.key.empty() ? "" : ".") + std::string(key);
  return place;
}

const Value& Mapping::need(std::string_view key, const std::string& what) const {
  if (const Value* value = find(key)) return *value;
  place_of(key).fail("is missing; give " + what);
}

std::string Mapping::one_of(const std::vector<std::string>& keys) const {
  std::string given;
  for (const std::string& key : keys) {
    if (!has(key)) continue;
    if (!given.empty()) place_of(key).fail("cannot be combined with '" + given + "'; give one of: " + join(keys));
    given = key;
  }
  if (given.empty()) place().fail("a key is missing; give one of: " + join(keys));
  return given;
}

}  // namespace diffsim::app
