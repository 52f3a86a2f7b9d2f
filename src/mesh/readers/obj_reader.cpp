// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <sstream>
#include <string>
#include <vector>

#include "mesh/readers/polygon_builder.hpp"

namespace diffsim {
namespace {

/// Returns the 0-based index of a vertex, given the vertex's number in the file. Positive numbers count from 1; -1 is
/// the last vertex before the current line, -2 is the second to last vertex, and so on.
int place_of(const std::string& word, const PolygonBuilder& builder, long line) {
  long index = 0;
  try {
    index = std::stol(word.substr(0, word.find('/')));
  } catch (const std::exception&) {
    builder.fail(line, "'" + word + "' is not a vertex number; give the number of a vertex");
  }
  const long count = builder.num_vertices();
  const long place = index < 0 ? count + index : index - 1;
  if (index == 0 || place < 0 || place >= count)
    builder.fail(line, "there is no vertex " + std::to_string(index) + " before this line");
  return static_cast<int>(place);
}

}  // namespace

PolygonFile parse_obj(const std::string& text, PolygonBuilder builder) {
  std::istringstream lines(text);
  std::string line;
  for (long number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word)) continue;
    if (word == "v") {
      std::array<double, 3> x;
      if (!(words >> x[0] >> x[1] >> x[2])) builder.fail(number, "a vertex needs three numbers");
      builder.add_vertex(x, number);
    } else if (word == "f" || word == "l") {
      const bool is_face = word == "f";
      std::vector<int> vertices;
      while (words >> word) vertices.push_back(place_of(word, builder, number));
      if (is_face)
        builder.add_polygon(vertices, number);
      else
        builder.add_polyline(vertices, number);
    }
  }
  return builder.take();
}

}  // namespace diffsim
