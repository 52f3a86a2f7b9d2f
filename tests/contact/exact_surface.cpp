// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/exact_surface.hpp"

#include <gmpxx.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace diffsim::contact::exact {

int orientation(const Place& a, const Place& b, const Place& c, const Place& d) {
  const auto by_rationals = [&] {
    std::array<std::array<mpq_class, 3>, 3> e;
    for (std::size_t k = 0; k < 3; ++k) {
      const mpq_class origin(a[k]);
      e[0][k] = mpq_class(b[k]) - origin;
      e[1][k] = mpq_class(c[k]) - origin;
      e[2][k] = mpq_class(d[k]) - origin;
    }
    mpq_class sum = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
      sum += e[0][k] * (e[1][i] * e[2][j] - e[1][j] * e[2][i]);
    }
    return sgn(sum);
  };
  for (std::size_t k = 0; k < 3; ++k)
    if (a[k] == b[k] && a[k] == c[k] && a[k] == d[k]) return 0;
  double sum = 0.0, size = 0.0;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
    const double u = b[k] - a[k], p = (c[i] - a[i]) * (d[j] - a[j]), q = (c[j] - a[j]) * (d[i] - a[i]);
    sum += u * (p - q);
    size += std::fabs(u) * (std::fabs(p) + std::fabs(q));
  }
  const double error = 1e-15 * size + 1e-290;
  return sum > error ? 1 : sum < -error ? -1 : by_rationals();
}

namespace {

/// Sign of the area of the triangle a, b, c projected along axis `out`.
int turn(const Place& a, const Place& b, const Place& c, std::size_t out) {
  const std::size_t i = (out + 1) % 3, j = (out + 2) % 3;
  for (const std::size_t k : {i, j})
    if (a[k] == b[k] && a[k] == c[k]) return 0;
  const double p = (b[i] - a[i]) * (c[j] - a[j]), q = (b[j] - a[j]) * (c[i] - a[i]);
  const double error = 1e-15 * (std::fabs(p) + std::fabs(q)) + 1e-290;
  if (std::fabs(p - q) > error) return p > q ? 1 : -1;
  return sgn(mpq_class((mpq_class(b[i]) - a[i]) * (mpq_class(c[j]) - a[j]) -
                       (mpq_class(b[j]) - a[j]) * (mpq_class(c[i]) - a[i])));
}

/// Returns an axis along which the projected triangle has an area, or 3 if there is none.
std::size_t axis_of(const std::array<Place, 3>& t) {
  std::size_t axis = 0;
  while (axis < 3 && turn(t[0], t[1], t[2], axis) == 0) ++axis;
  return axis;
}

/// Returns true if the closed segments p q and r s have a point in common. The segments lie in one plane and are
/// projected along axis `out`.
bool segments_meet(const Place& p, const Place& q, const Place& r, const Place& s, std::size_t out) {
  const int a = turn(p, q, r, out), b = turn(p, q, s, out), c = turn(r, s, p, out), d = turn(r, s, q, out);
  if (a == 0 && b == 0 && c == 0 && d == 0) {  // on one line
    for (const std::size_t k : {(out + 1) % 3, (out + 2) % 3})
      if (std::max(p[k], q[k]) < std::min(r[k], s[k]) || std::max(r[k], s[k]) < std::min(p[k], q[k])) return false;
    return true;
  }
  return a * b <= 0 && c * d <= 0;
}

/// Returns true if the closed segment p q and the closed triangle t, which is not degenerate, have a point in common.
bool meet(const Place& p, const Place& q, const std::array<Place, 3>& t) {
  const int a = orientation(t[0], t[1], t[2], p), b = orientation(t[0], t[1], t[2], q);
  if (a * b > 0) return false;
  if (a != 0 || b != 0) {
    const int s[3] = {orientation(p, q, t[0], t[1]), orientation(p, q, t[1], t[2]), orientation(p, q, t[2], t[0])};
    return (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0);
  }
  const std::size_t out = axis_of(t);
  const auto inside = [&](const Place& x) {
    const int s[3] = {turn(t[0], t[1], x, out), turn(t[1], t[2], x, out), turn(t[2], t[0], x, out)};
    return (s[0] >= 0 && s[1] >= 0 && s[2] >= 0) || (s[0] <= 0 && s[1] <= 0 && s[2] <= 0);
  };
  if (inside(p)) return true;
  for (std::size_t k = 0; k < 3; ++k)
    if (segments_meet(p, q, t[k], t[(k + 1) % 3], out)) return true;
  return false;
}

}  // namespace

bool triangles_meet(const TriangleSet& set, Corners a, Corners b) {
  // Moves shared corners to the front, in the same order in both triangles.
  std::size_t shared = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = shared; j < 3; ++j)
      if (i >= shared && a[i] == b[j]) {
        std::swap(a[shared], a[i]);
        std::swap(b[shared], b[j]);
        ++shared;
        break;
      }
  const std::array<Place, 3> x = set.at(a), y = set.at(b);
  if (shared == 3) return true;  // the same triangle twice
  if (shared == 2) {             // true if the triangles are folded flat onto each other
    if (orientation(x[0], x[1], x[2], y[2]) != 0) return false;
    const std::size_t out = axis_of(x);
    return turn(x[0], x[1], x[2], out) * turn(x[0], x[1], y[2], out) > 0;
  }
  // If the triangles have a further common point, then the ray from the shared corner through this point leaves one
  // triangle through its edge opposite the corner, at a point of the other triangle.
  if (shared == 1) return meet(x[1], x[2], y) || meet(y[1], y[2], x);
  for (std::size_t k = 0; k < 3; ++k)
    if (meet(x[k], x[(k + 1) % 3], y) || meet(y[k], y[(k + 1) % 3], x)) return true;
  return false;
}

std::vector<std::array<int, 2>> intersections(const TriangleSet& set, int first_fixed) {
  struct Box {
    Place low, high;
    int triangle;
  };
  std::vector<Box> boxes;
  Place least, most;
  least.fill(INFINITY);
  most.fill(-INFINITY);
  for (std::size_t i = 0; i < set.triangles.size(); ++i) {
    const auto x = set.at(set.triangles[i]);
    Box box{x[0], x[0], static_cast<int>(i)};
    for (const Place& p : x)
      for (std::size_t c = 0; c < 3; ++c) {
        box.low[c] = std::min(box.low[c], p[c]);
        box.high[c] = std::max(box.high[c], p[c]);
        least[c] = std::min(least[c], p[c]);
        most[c] = std::max(most[c], p[c]);
      }
    boxes.push_back(box);
  }
  std::size_t axis = 0;
  for (std::size_t c = 1; c < 3; ++c)
    if (most[c] - least[c] > most[axis] - least[axis]) axis = c;
  std::sort(boxes.begin(), boxes.end(), [&](const Box& a, const Box& b) { return a.low[axis] < b.low[axis]; });
  std::vector<std::array<int, 2>> found;
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (std::size_t j = i + 1; j < boxes.size() && boxes[j].low[axis] <= boxes[i].high[axis]; ++j) {
      const Box &a = boxes[i], &b = boxes[j];
      if (a.triangle >= first_fixed && b.triangle >= first_fixed) continue;
      bool apart = false;
      for (std::size_t c = 0; c < 3; ++c) apart = apart || a.low[c] > b.high[c] || b.low[c] > a.high[c];
      if (apart) continue;
      const auto s = static_cast<std::size_t>(a.triangle), t = static_cast<std::size_t>(b.triangle);
      if (triangles_meet(set, set.triangles[s], set.triangles[t])) found.push_back({a.triangle, b.triangle});
    }
  return found;
}

int degenerate(const TriangleSet& set) {
  return static_cast<int>(std::count_if(set.triangles.begin(), set.triangles.end(),
                                        [&](const Corners& t) { return axis_of(set.at(t)) == 3; }));
}

int winding(const Place& p, const TriangleSet& set) {
  std::mt19937 random(7);
  double size = 1.0;
  for (const Place& x : set.places)
    for (std::size_t c = 0; c < 3; ++c) size = std::max(size, std::fabs(x[c] - p[c]));
  for (;;) {
    Place q = p;
    for (double& value : q) value += 8.0 * size * (static_cast<double>(random()) / 4294967296.0 - 0.5);
    int sum = 0;
    bool general = q[0] != p[0];
    for (const Corners& corners : set.triangles) {
      const auto t = set.at(corners);
      const int a = orientation(t[0], t[1], t[2], p), b = orientation(t[0], t[1], t[2], q);
      if (a * b > 0) continue;
      const int s[3] = {orientation(p, q, t[0], t[1]), orientation(p, q, t[1], t[2]), orientation(p, q, t[2], t[0])};
      if ((s[0] > 0 || s[1] > 0 || s[2] > 0) && (s[0] < 0 || s[1] < 0 || s[2] < 0)) continue;
      if (a * b == 0 || s[0] * s[1] * s[2] == 0) {
        general = false;
        break;
      }
      sum += a < 0 ? 1 : -1;
    }
    double length = 0.0;
    for (std::size_t c = 0; c < 3; ++c) length = std::max(length, std::fabs(q[c] - p[c]));
    if (general && length > 2.0 * size) return sum;  // q is outside
  }
}

std::vector<Corners> surface_of(const std::vector<int>& cells, int nodes) {
  constexpr int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  constexpr int middle[4][4] = {{-1, 4, 6, 7}, {4, -1, 5, 8}, {6, 5, -1, 9}, {7, 8, 9, -1}};
  std::map<Corners, std::array<int, 3>> open;  // sorted corners → {number of cells, cell, face}
  const int count = static_cast<int>(cells.size()) / nodes;
  const auto node = [&](int cell, int k) { return cells[static_cast<std::size_t>(cell * nodes + k)]; };
  for (int cell = 0; cell < count; ++cell)
    for (int f = 0; f < 4; ++f) {
      Corners key = {node(cell, faces[f][0]), node(cell, faces[f][1]), node(cell, faces[f][2])};
      std::sort(key.begin(), key.end());
      std::array<int, 3>& entry = open[key];
      entry = {entry[0] + 1, cell, f};
    }
  std::vector<Corners> result;
  for (const auto& [key, entry] : open) {
    if (entry[0] != 1) continue;
    const int cell = entry[1];
    const int* const f = faces[entry[2]];
    const Corners c = {node(cell, f[0]), node(cell, f[1]), node(cell, f[2])};
    if (nodes == 4) {
      result.push_back(c);
      continue;
    }
    const Corners m = {node(cell, middle[f[0]][f[1]]), node(cell, middle[f[1]][f[2]]), node(cell, middle[f[2]][f[0]])};
    result.insert(result.end(), {{c[0], m[0], m[2]}, {m[0], c[1], m[1]}, {m[2], m[1], c[2]}, m});
  }
  return result;
}

namespace {

/// Sign of the Jacobian determinant of a second-order cell at its corner k. The columns of the Jacobian are 4 m_kj -
/// x_j - 3 x_k, with the other corners j and the mid-edge nodes m.
int jacobian_at_corner(const std::array<Place, 10>& x, std::size_t k) {
  constexpr std::size_t others[4][3] = {{1, 2, 3}, {0, 3, 2}, {3, 0, 1}, {2, 1, 0}};
  constexpr std::size_t middle[4][4] = {{9, 4, 6, 7}, {4, 9, 5, 8}, {6, 5, 9, 9}, {7, 8, 9, 9}};
  std::array<std::array<mpq_class, 3>, 3> e;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      e[i][c] = mpq_class(4 * mpq_class(x[middle[k][others[k][i]]][c]) - mpq_class(x[others[k][i]][c]) -
                          3 * mpq_class(x[k][c]));
  mpq_class sum = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t i = (c + 1) % 3, j = (c + 2) % 3;
    sum += e[0][c] * (e[1][i] * e[2][j] - e[1][j] * e[2][i]);
  }
  return sgn(sum);
}

}  // namespace

int inverted(const std::vector<Place>& places, const std::vector<int>& cells, int nodes) {
  int count = 0;
  for (std::size_t begin = 0; begin < cells.size(); begin += static_cast<std::size_t>(nodes)) {
    std::array<Place, 10> x{};
    for (std::size_t k = 0; k < static_cast<std::size_t>(nodes); ++k)
      x[k] = places[static_cast<std::size_t>(cells[begin + k])];
    bool good = nodes == 10 || orientation(x[0], x[1], x[2], x[3]) > 0;
    for (std::size_t k = 0; nodes == 10 && k < 4; ++k) good = good && jacobian_at_corner(x, k) > 0;
    count += !good;
  }
  return count;
}

}  // namespace diffsim::contact::exact
