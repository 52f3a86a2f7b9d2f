// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Broad phase of contact on a wavy sheet of n triangles: the search for pairs of a point and a triangle, and for pairs
// of edges, within half of an edge's length. The time divided by n log n should not depend on n. `B/triangle` is the
// memory of the boxes, trees and pairs, divided by n.

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "contact/box_tree_impl.hpp"

namespace diffsim::contact {
namespace {

/// Points, edges and triangles of a sheet of 2 cells² triangles over the unit square. Each of these primitives is
/// stored as the numbers of its corners.
struct Sheet {
  int cells;
  std::vector<int> points, edges, triangles;

  explicit Sheet(int n) : cells(n) {
    const auto at = [&](int i, int j) { return j * (n + 1) + i; };
    for (int j = 0; j <= n; ++j)
      for (int i = 0; i <= n; ++i) {
        points.push_back(at(i, j));
        if (i < n) edges.insert(edges.end(), {at(i, j), at(i + 1, j)});
        if (j < n) edges.insert(edges.end(), {at(i, j), at(i, j + 1)});
        if (i == n || j == n) continue;
        edges.insert(edges.end(), {at(i + 1, j), at(i, j + 1)});
        triangles.insert(triangles.end(), {at(i, j), at(i + 1, j), at(i, j + 1)});
        triangles.insert(triangles.end(), {at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)});
      }
  }
  DeviceArray<Box> boxes(const std::vector<int>& corners, int size, double reach) const {
    std::vector<Box> result(corners.size() / static_cast<std::size_t>(size));
    for (std::size_t p = 0; p < corners.size(); ++p) {
      const double h = 1.0 / cells, x = h * (corners[p] % (cells + 1)), y = h * (corners[p] / (cells + 1));
      const double place[3] = {x, y, 0.1 * std::sin(9.0 * x) * std::cos(7.0 * y)};
      Box& box = result[p / static_cast<std::size_t>(size)];
      for (int c = 0; c < 3; ++c) {
        const bool first = p % static_cast<std::size_t>(size) == 0;
        box.low[c] = first ? place[c] - reach : std::fmin(box.low[c], place[c] - reach);
        box.high[c] = first ? place[c] + reach : std::fmax(box.high[c], place[c] + reach);
      }
    }
    return to_device("boxes", result);
  }
};

/// Filter of pairs that contact also applies: two primitives that share a corner are not a pair. If `ordered`, only
/// pairs with query < leaf are accepted, so that each pair is found once.
struct KeepApart {
  DeviceArray<int> query_corners, leaf_corners;
  int query_size, leaf_size;
  bool ordered;

  KOKKOS_INLINE_FUNCTION bool operator()(int query, int leaf) const {
    if (ordered && query >= leaf) return false;
    for (int a = 0; a < query_size; ++a)
      for (int b = 0; b < leaf_size; ++b)
        if (query_corners(query_size * query + a) == leaf_corners(leaf_size * leaf + b)) return false;
    return true;
  }
};

void broad_phase(benchmark::State& bench) {
  const Sheet sheet(static_cast<int>(std::lround(std::sqrt(static_cast<double>(bench.range(0)) / 2.0))));
  // Half of the search distance (barrier distance plus slack for the vertices' motion).
  const double reach = 0.5 * (0.5 / sheet.cells);
  const DeviceArray<int> points = to_device("points", sheet.points), edges = to_device("edges", sheet.edges),
                         triangles = to_device("triangles", sheet.triangles);
  const DeviceArray<Box> point_boxes = sheet.boxes(sheet.points, 1, reach),
                         edge_boxes = sheet.boxes(sheet.edges, 2, reach),
                         triangle_boxes = sheet.boxes(sheet.triangles, 3, reach);
  const double n = static_cast<double>(sheet.triangles.size()) / 3.0;
  double bytes = 0.0, pairs = 0.0;
  for (auto _ : bench) {
    const BoxTree tree(triangle_boxes);
    const auto point_triangle =
        find_pairs(tree, point_boxes, KeepApart{points, triangles, 1, 3, false}, 1 << 30, "points and triangles");
    const BoxTree edge_tree(edge_boxes);
    const auto edge_edge = find_pairs(edge_tree, edge_boxes, KeepApart{edges, edges, 2, 2, true}, 1 << 30, "edges");
    pairs = static_cast<double>(point_triangle.size() + edge_edge.size());
    bytes = static_cast<double>(tree.bytes() + edge_tree.bytes()) +
            static_cast<double>(sizeof(Box)) *
                static_cast<double>(point_boxes.size() + edge_boxes.size() + triangle_boxes.size()) +
            static_cast<double>(sizeof(CandidatePair)) * pairs;
  }
  bench.counters["triangles"] = n;
  bench.counters["pairs/triangle"] = pairs / n;
  bench.counters["B/triangle"] = bytes / n;
  bench.counters["(n log2 n)/s"] = benchmark::Counter(n * std::log2(n), benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(broad_phase)->RangeMultiplier(10)->Range(1000, 1000000)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace diffsim::contact
