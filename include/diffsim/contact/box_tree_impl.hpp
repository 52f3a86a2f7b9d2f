// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/macros.hpp"

namespace diffsim::contact {

/// An axis-aligned box, closed.
struct Box {
  double low[3], high[3];

  DIFFSIM_FUNCTION bool overlaps(const Box& other) const {
    bool yes = true;
    for (int c = 0; c < 3; ++c) yes = yes && low[c] <= other.high[c] && other.low[c] <= high[c];
    return yes;
  }
  DIFFSIM_FUNCTION void include(const Box& other) {
    for (int c = 0; c < 3; ++c) {
      low[c] = other.low[c] < low[c] ? other.low[c] : low[c];
      high[c] = other.high[c] > high[c] ? other.high[c] : high[c];
    }
  }
};

/// Two numbers of primitives whose boxes overlap.
struct CandidatePair {
  std::int32_t query, leaf;
};

/// A linear bounding-volume hierarchy over boxes along a Morton curve (Karras 2012, Maximizing Parallelism in the
/// Construction of BVHs, Octrees, and k-d Trees). O(n log n); 56 bytes a box beside the boxes themselves, and 48 more
/// during `build`. The same boxes give the same tree, whatever the number of threads.
class BoxTree {
 public:
  /// `boxes` is shared, not copied, and must not change while the tree is used. At most 2³¹ - 1.
  explicit BoxTree(DeviceArray<Box> boxes);

  int size() const { return static_cast<int>(boxes_.size()); }
  std::size_t bytes() const;

  /// Arrays of the tree for kernels; copied by value into them.
  struct View {
    DeviceArray<Box> boxes;       // [leaves]
    DeviceArray<int> leaf_order;  // [leaves]: along the curve
    DeviceArray<Box> nodes;       // [leaves - 1]: of inner nodes; 0 is the root
    DeviceArray<int> children;    // [leaves - 1, 2]: ≥ 0 an inner node, else ~(place along the curve)

    /// Calls `visit(leaf)` for every box that overlaps `box`, in an order that depends on the tree.
    template <class Visit>
    KOKKOS_INLINE_FUNCTION void for_each_overlap(const Box& box, const Visit& visit) const {
      const int leaves = static_cast<int>(boxes.size());
      if (leaves == 1 && boxes(0).overlaps(box)) visit(0);
      if (leaves < 2) return;
      // 63 bits of the curve and 32 that tell equal ones apart bound the depth.
      int stack[100];
      int depth = 0;
      stack[depth++] = 0;
      while (depth > 0) {
        const int node = stack[--depth];
        for (int side = 0; side < 2; ++side) {
          const int child = children(2 * node + side);
          if (child >= 0) {
            if (nodes(child).overlaps(box)) stack[depth++] = child;
          } else {
            const int leaf = leaf_order(~child);
            if (boxes(leaf).overlaps(box)) visit(leaf);
          }
        }
      }
    }
  };
  const View& view() const { return view_; }

 private:
  DeviceArray<Box> boxes_;
  View view_;
};

namespace detail {

/// Exclusive sums in place over [n + 1] counts; returns the total.
std::int64_t exclusive_sums(const DeviceArray<std::int64_t>& counts);
/// Throws Error (system), saying how many pairs there are and how much they would take.
void require_memory(std::int64_t pairs, std::int64_t limit, const char* what);

}  // namespace detail

/// All pairs (query, leaf) whose boxes overlap and that `keep(query, leaf)` takes, ordered by query, then leaf: an
/// order that does not depend on the tree. Throws Error naming `what` and the number of pairs if there are more than
/// `limit`; nothing that large is allocated.
template <class Keep>
DeviceArray<CandidatePair> find_pairs(const BoxTree& tree, const DeviceArray<Box>& queries, const Keep& keep,
                                      std::int64_t limit, const char* what) {
  const BoxTree::View view = tree.view();
  const int n = static_cast<int>(queries.size());
  const DeviceArray<std::int64_t> begin("diffsim::contact::pair_begin", static_cast<std::size_t>(n) + 1);
  // The first leaves of each query, so that only queries with more go through the tree twice.
  constexpr int held = 8;
  const auto leaves = make_device_array<int>("diffsim::contact::leaves", held * queries.size());
  if (tree.size() > 0)
    Kokkos::parallel_for(
        "diffsim::contact::count_pairs", Range(0, n), KOKKOS_LAMBDA(int q) {
          std::int64_t count = 0;
          view.for_each_overlap(queries(q), [&](int leaf) {
            if (!keep(q, leaf)) return;
            if (count < held) leaves(static_cast<std::size_t>(q) * held + static_cast<std::size_t>(count)) = leaf;
            ++count;
          });
          begin(q) = count;
        });
  const std::int64_t total = detail::exclusive_sums(begin);
  detail::require_memory(total, limit, what);
  const auto pairs = make_device_array<CandidatePair>("diffsim::contact::pairs", static_cast<std::size_t>(total));
  if (total == 0) return pairs;
  Kokkos::parallel_for(
      "diffsim::contact::find_pairs", Range(0, n), KOKKOS_LAMBDA(int q) {
        const std::int64_t first = begin(q), count = begin(q + 1) - first;
        std::int64_t last = first;
        // Insertion: a query has few.
        const auto insert = [&](int leaf) {
          std::int64_t place = last++;
          for (; place > first && pairs(place - 1).leaf > leaf; --place) pairs(place) = pairs(place - 1);
          pairs(place) = {q, leaf};
        };
        if (count <= held) {
          for (std::int64_t i = 0; i < count; ++i)
            insert(leaves(static_cast<std::size_t>(q) * held + static_cast<std::size_t>(i)));
          return;
        }
        view.for_each_overlap(queries(q), [&](int leaf) {
          if (keep(q, leaf)) insert(leaf);
        });
      });
  return pairs;
}

}  // namespace diffsim::contact
