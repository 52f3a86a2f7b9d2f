// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Reader of the Stanford polygon format, PLY (Turk 1994): elements `vertex` with x, y, z; `face` with a list of
// vertices; `edge` with vertex1 and vertex2. Other elements and properties are skipped.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "mesh/readers/polygon_builder.hpp"

namespace diffsim {
namespace {

/// Number type of the PLY format.
struct NumberType {
  const char* name;
  const char* other_name;
  std::size_t size;
  char kind;  // i: signed, u: unsigned, f: floating-point
};
constexpr NumberType number_types[] = {
    {"char", "int8", 1, 'i'}, {"uchar", "uint8", 1, 'u'}, {"short", "int16", 2, 'i'},   {"ushort", "uint16", 2, 'u'},
    {"int", "int32", 4, 'i'}, {"uint", "uint32", 4, 'u'}, {"float", "float32", 4, 'f'}, {"double", "float64", 8, 'f'}};

struct Property {
  std::string name;
  const NumberType* type = nullptr;   // type of the values
  const NumberType* count = nullptr;  // type of a list's length; null for a single value
};
struct Element {
  std::string name;
  std::int64_t count = 0;
  std::vector<Property> properties;
};

class PlyParser {
 public:
  PlyParser(const std::string& text, PolygonBuilder& builder) : text_(text), builder_(builder) {}

  void run() {
    read_header();
    for (const Element& element : elements_)
      for (std::int64_t i = 0; i < element.count; ++i) read_element(element);
  }

 private:
  std::string next_line() {
    if (place_ >= text_.size()) builder_.fail(line_, "the file ends too early; write it again");
    const std::size_t end = std::min(text_.find('\n', place_), text_.size());
    std::string line = text_.substr(place_, end - place_);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    place_ = end + 1;
    ++line_;
    return line;
  }

  const NumberType* type(const std::string& name) const {
    for (const NumberType& known : number_types)
      if (name == known.name || name == known.other_name) return &known;
    builder_.fail(line_, "'" + name + "' is not a number type; use float, double, int, uchar, …");
  }

  void read_header();
  void read_element(const Element& element);
  double read_number(const NumberType& type);
  int read_vertex_number(double value) const {
    if (!(value >= 0.0) || value > 2147483647.0 || value != std::floor(value))
      builder_.fail(line(), "a vertex has an invalid number: " + std::to_string(value));
    return static_cast<int>(value);
  }
  /// Returns the number of the current line for messages, or 0 in binary contents, which have no lines.
  long line() const { return is_text_ ? line_ : 0; }

  const std::string& text_;
  PolygonBuilder& builder_;
  std::size_t place_ = 0;
  long line_ = 0;
  bool is_text_ = true, swap_bytes_ = false;
  std::istringstream words_;  // words of the current line
  std::vector<Element> elements_;
};

void PlyParser::read_header() {
  if (next_line() != "ply") builder_.fail(1, "is not a PLY file: it does not begin with `ply`");
  std::string word;
  while (word != "end_header") {
    std::istringstream words(next_line());
    word.clear();
    words >> word;
    if (word == "format") {
      words >> word;
      is_text_ = word == "ascii";
      const bool big = word == "binary_big_endian";
      if (!is_text_ && !big && word != "binary_little_endian")
        builder_.fail(line_,
                      "'" + word + "' is not a PLY format; use ascii, binary_little_endian or binary_big_endian");
      swap_bytes_ = big == (std::endian::native == std::endian::little);
    } else if (word == "element") {
      Element& element = elements_.emplace_back();
      if (!(words >> element.name >> element.count) || element.count < 0)
        builder_.fail(line_, "an element needs a name and a number of entries");
    } else if (word == "property") {
      if (elements_.empty()) builder_.fail(line_, "a property is defined before the first element");
      Property property;
      words >> word;
      if (word == "list") {
        words >> word;
        property.count = type(word);
        words >> word;
      }
      property.type = type(word);
      words >> property.name;
      elements_.back().properties.push_back(property);
    }
  }
}

double PlyParser::read_number(const NumberType& type) {
  if (is_text_) {
    double value = 0.0;
    if (!(words_ >> value)) builder_.fail(line_, "a number is missing or invalid");
    return value;
  }
  if (text_.size() - std::min(place_, text_.size()) < type.size)
    builder_.fail(0, "the file ends too early; write it again");
  unsigned char bytes[8];
  std::memcpy(bytes, text_.data() + place_, type.size);
  place_ += type.size;
  if (swap_bytes_) std::reverse(bytes, bytes + type.size);
  const auto as = [&]<class T>(T) {
    T value;
    std::memcpy(&value, bytes, sizeof(T));
    return static_cast<double>(value);
  };
  if (type.kind == 'f') return type.size == 4 ? as(float{}) : as(double{});
  if (type.size == 1) return type.kind == 'i' ? as(std::int8_t{}) : as(std::uint8_t{});
  if (type.size == 2) return type.kind == 'i' ? as(std::int16_t{}) : as(std::uint16_t{});
  return type.kind == 'i' ? as(std::int32_t{}) : as(std::uint32_t{});
}

void PlyParser::read_element(const Element& element) {
  if (is_text_) words_ = std::istringstream(next_line());
  std::array<double, 3> x{NAN, NAN, NAN};
  std::vector<int> corners, ends;
  for (const Property& property : element.properties) {
    const double length = property.count ? read_number(*property.count) : 1.0;
    const bool is_face =
        element.name == "face" && (property.name == "vertex_indices" || property.name == "vertex_index");
    for (double k = 0.0; k < length; k += 1.0) {
      const double value = read_number(*property.type);
      if (is_face) corners.push_back(read_vertex_number(value));
      if (element.name == "edge" && (property.name == "vertex1" || property.name == "vertex2"))
        ends.push_back(read_vertex_number(value));
      if (element.name == "vertex" && property.name.size() == 1 && property.name[0] >= 'x' && property.name[0] <= 'z')
        x[static_cast<std::size_t>(property.name[0] - 'x')] = value;
    }
  }
  if (element.name == "vertex") builder_.add_vertex(x, line());
  if (element.name == "face") builder_.add_polygon(corners, line());
  if (element.name == "edge") builder_.add_polyline(ends, line());
}

}  // namespace

PolygonFile parse_ply(const std::string& text, PolygonBuilder builder) {
  PlyParser(text, builder).run();
  return builder.take();
}

}  // namespace diffsim
