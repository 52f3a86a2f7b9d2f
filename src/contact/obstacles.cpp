// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/obstacles.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim::contact {
namespace {

std::array<double, 3> unit(const std::array<double, 3>& a) {
  const double length = std::hypot(a[0], a[1], a[2]);
  return {a[0] / length, a[1] / length, a[2] / length};
}

}  // namespace

TriangleMesh box_triangles(const std::array<double, 3>& min, const std::array<double, 3>& max) {
  TriangleMesh mesh;
  for (unsigned corner = 0; corner < 8; ++corner)
    mesh.vertices.push_back({corner & 1 ? max[0] : min[0], corner & 2 ? max[1] : min[1], corner & 4 ? max[2] : min[2]});
  // Corners a, b, c, d of each side, counter-clockwise as seen from outside.
  for (const auto& [a, b, c, d] : {std::array{0, 2, 3, 1}, std::array{4, 5, 7, 6}, std::array{0, 1, 5, 4},
                                   std::array{2, 6, 7, 3}, std::array{0, 4, 6, 2}, std::array{1, 3, 7, 5}}) {
    mesh.triangles.push_back({a, b, c});
    mesh.triangles.push_back({a, c, d});
  }
  return mesh;
}

TriangleMesh sphere_triangles(const std::array<double, 3>& center, double radius, int refinements) {
  const double g = std::numbers::phi;
  TriangleMesh mesh;
  mesh.vertices = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                   {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  mesh.triangles = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                    {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                    {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};
  for (auto& vertex : mesh.vertices) vertex = unit(vertex);
  for (int level = 0; level < refinements; ++level) {
    std::map<std::pair<int, int>, int> middles;
    const auto middle = [&](int a, int b) {
      const auto [found, fresh] =
          middles.try_emplace({std::min(a, b), std::max(a, b)}, static_cast<int>(mesh.vertices.size()));
      if (fresh) {
        const auto x = mesh.vertices[static_cast<std::size_t>(a)], y = mesh.vertices[static_cast<std::size_t>(b)];
        mesh.vertices.push_back(unit({x[0] + y[0], x[1] + y[1], x[2] + y[2]}));
      }
      return found->second;
    };
    std::vector<std::array<int, 3>> finer;
    for (const auto& [a, b, c] : mesh.triangles) {
      const int ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
    }
    mesh.triangles = std::move(finer);
  }
  for (auto& vertex : mesh.vertices)
    for (std::size_t c = 0; c < 3; ++c) vertex[c] = center[c] + radius * vertex[c];
  return mesh;
}

TriangleMesh cylinder_triangles(const std::array<double, 3>& from, const std::array<double, 3>& to, double radius) {
  constexpr int sides = 64;
  const Vec3<double> axis = {{to[0] - from[0], to[1] - from[1], to[2] - from[2]}};
  const Vec3<double> other =
      std::fabs(axis[0]) < std::fabs(axis[1]) ? Vec3<double>{{1, 0, 0}} : Vec3<double>{{0, 1, 0}};
  Vec3<double> u = cross(axis, other), v = cross(axis, u);
  const double u_length = std::sqrt(dot(u, u)), v_length = std::sqrt(dot(v, v));
  TriangleMesh mesh;
  for (const auto& end : {from, to}) {
    for (int i = 0; i < sides; ++i) {
      const double angle = 2.0 * std::numbers::pi * i / sides;
      std::array<double, 3> x;
      for (int c = 0; c < 3; ++c)
        x[static_cast<std::size_t>(c)] =
            end[static_cast<std::size_t>(c)] +
            radius * (std::cos(angle) * u[c] / u_length + std::sin(angle) * v[c] / v_length);
      mesh.vertices.push_back(x);
    }
    mesh.vertices.push_back(end);
  }
  constexpr int first = sides, last = 2 * sides + 1;  // centres of the ends
  for (int i = 0; i < sides; ++i) {
    const int a = i, b = (i + 1) % sides, c = a + sides + 1, d = b + sides + 1;
    mesh.triangles.push_back({first, b, a});
    mesh.triangles.push_back({last, c, d});
    mesh.triangles.push_back({a, b, d});
    mesh.triangles.push_back({a, d, c});
  }
  return mesh;
}

}  // namespace diffsim::contact
