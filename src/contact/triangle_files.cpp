// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "diffsim/contact/obstacles.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::contact {
namespace {

using Point = std::array<double, 3>;

/// Gathers triangles; equal places are one vertex.
class Builder {
 public:
  Builder(const std::string& file, double scale) : file_(file), scale_(scale) {}

  [[noreturn]] void fail(long line, const std::string& what) const { throw InputError(file_, line, "", what); }

  int vertex(Point x, long line) {
    for (double& value : x) {
      value = scale_ * value + 0.0;  // no negative zeros
      if (!std::isfinite(value)) fail(line, "a coordinate is not finite; give numbers");
    }
    const auto [found, fresh] = places_.try_emplace(x, static_cast<int>(mesh_.vertices.size()));
    if (fresh) mesh_.vertices.push_back(x);
    return found->second;
  }
  void triangle(int a, int b, int c, long line) {
    const auto &x = at(a), &y = at(b), &z = at(c);
    double n[3];
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3, k = (i + 2) % 3;
      n[i] = (y[j] - x[j]) * (z[k] - x[k]) - (y[k] - x[k]) * (z[j] - x[j]);
    }
    if (!(std::hypot(n[0], n[1], n[2]) > 0.0))
      fail(line, "triangle " + std::to_string(mesh_.triangles.size()) + " (0-based) has no area; remove it");
    mesh_.triangles.push_back({a, b, c});
  }
  TriangleMesh take(const char* format) {
    if (mesh_.triangles.empty()) fail(0, std::string("has no triangles; give ") + format);
    return std::move(mesh_);
  }

 private:
  const Point& at(int v) const { return mesh_.vertices[static_cast<std::size_t>(v)]; }
  const std::string& file_;
  double scale_;
  std::map<Point, int> places_;
  TriangleMesh mesh_;
};

TriangleMesh read_obj(const std::string& text, Builder builder) {
  std::istringstream lines(text);
  std::string line;
  std::vector<int> vertices;
  for (long number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word)) continue;
    if (word == "v") {
      Point x;
      if (!(words >> x[0] >> x[1] >> x[2])) builder.fail(number, "a vertex needs three numbers");
      vertices.push_back(builder.vertex(x, number));
    } else if (word == "f") {
      std::vector<int> corners;
      while (words >> word) {
        long index = 0;
        try {
          index = std::stol(word.substr(0, word.find('/')));
        } catch (const std::exception&) {
          builder.fail(number, "'" + word + "' is no vertex; give its number");
        }
        const auto count = static_cast<long>(vertices.size());
        const long place = index < 0 ? count + index : index - 1;
        if (index == 0 || place < 0 || place >= count)
          builder.fail(number, "there is no vertex " + std::to_string(index) + " before this line");
        corners.push_back(vertices[static_cast<std::size_t>(place)]);
      }
      if (corners.size() < 3) builder.fail(number, "a face needs at least three vertices");
      for (std::size_t k = 2; k < corners.size(); ++k) builder.triangle(corners[0], corners[k - 1], corners[k], number);
    }
  }
  return builder.take("faces, lines `f 1 2 3`");
}

TriangleMesh read_binary_stl(const std::string& text, Builder builder) {
  constexpr std::size_t header = 84, record = 50;
  std::uint32_t count = 0;
  std::memcpy(&count, text.data() + 80, sizeof(count));
  for (std::size_t t = 0; t < count; ++t) {
    int corners[3];
    for (std::size_t k = 0; k < 3; ++k) {
      float x[3];
      std::memcpy(x, text.data() + header + record * t + 12 * (k + 1), sizeof(x));
      corners[k] = builder.vertex({x[0], x[1], x[2]}, 0);
    }
    builder.triangle(corners[0], corners[1], corners[2], 0);
  }
  return builder.take("facets");
}

TriangleMesh read_ascii_stl(const std::string& text, Builder builder) {
  std::istringstream lines(text);
  std::string line;
  std::vector<int> corners;
  for (long number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "outer") corners.clear();
    if (word == "vertex") {
      Point x;
      if (!(words >> x[0] >> x[1] >> x[2])) builder.fail(number, "a vertex needs three numbers");
      corners.push_back(builder.vertex(x, number));
    }
    if (word != "endloop") continue;
    if (corners.size() != 3)
      builder.fail(number, "a facet has " + std::to_string(corners.size()) + " vertices; give three");
    builder.triangle(corners[0], corners[1], corners[2], number);
  }
  return builder.take("facets");
}

}  // namespace

TriangleMesh read_triangles(const std::string& file, double scale) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream buffer;
  buffer << stream.rdbuf();
  if (!stream) throw InputError(file, 0, "", "cannot be read; check path and permissions");
  const std::string text = buffer.str();
  std::string ending = file.substr(std::min(file.find_last_of('.'), file.size()));
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  Builder builder(file, scale);
  if (ending == ".obj") return read_obj(text, std::move(builder));
  if (ending != ".stl") throw InputError(file, 0, "", "is neither .stl nor .obj; convert it to one of them");
  // A binary file is as long as its number of triangles says, whatever its first word.
  if (text.size() >= 84) {
    std::uint32_t count = 0;
    std::memcpy(&count, text.data() + 80, sizeof(count));
    if (text.size() == 84 + 50 * static_cast<std::size_t>(count)) return read_binary_stl(text, std::move(builder));
  }
  if (text.rfind("solid", 0) != 0) throw InputError(file, 0, "", "is no STL file, or not all of it; write it again");
  return read_ascii_stl(text, std::move(builder));
}

}  // namespace diffsim::contact
