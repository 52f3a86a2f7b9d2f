// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>

#include "mesh/readers/polygon_builder.hpp"

namespace diffsim {
namespace {

constexpr std::size_t header = 84, record = 50;

void add_facet(PolygonBuilder& builder, long line) {
  const int end = builder.num_vertices();
  builder.add_polygon({end - 3, end - 2, end - 1}, line);
}

void parse_binary(const std::string& text, std::uint32_t count, PolygonBuilder& builder) {
  for (std::size_t t = 0; t < count; ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      float x[3];
      std::memcpy(x, text.data() + header + record * t + 12 * (k + 1), sizeof(x));
      builder.add_vertex({x[0], x[1], x[2]}, 0);
    }
    add_facet(builder, 0);
  }
}

void parse_text(const std::string& text, PolygonBuilder& builder) {
  std::istringstream lines(text);
  std::string line;
  int begin = 0;
  for (long number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "outer") begin = builder.num_vertices();
    if (word == "vertex") {
      std::array<double, 3> x;
      if (!(words >> x[0] >> x[1] >> x[2])) builder.fail(number, "a vertex needs three numbers");
      builder.add_vertex(x, number);
    }
    if (word != "endloop") continue;
    const int corners = builder.num_vertices() - begin;
    if (corners != 3) builder.fail(number, "a facet has " + std::to_string(corners) + " vertices; give three");
    add_facet(builder, number);
  }
}

}  // namespace

PolygonFile parse_stl(const std::string& text, PolygonBuilder builder) {
  // Binary files are recognised by their size, which follows from the number of triangles. The first word is not a
  // reliable criterion, because binary files too can begin with `solid`.
  std::uint32_t count = 0;
  if (text.size() >= header) std::memcpy(&count, text.data() + 80, sizeof(count));
  if (text.size() >= header && text.size() == header + record * static_cast<std::size_t>(count))
    parse_binary(text, count, builder);
  else if (text.rfind("solid", 0) == 0)
    parse_text(text, builder);
  else
    builder.fail(0, "is not an STL file, or is truncated; write the file again");
  PolygonFile contents = builder.take();
  merge_equal_places(contents);
  return contents;
}

}  // namespace diffsim
