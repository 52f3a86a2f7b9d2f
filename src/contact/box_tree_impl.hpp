// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/macros.hpp"

namespace diffsim::contact {

/// Closed axis-aligned box.
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

/// Index of a query box, and index of a box (leaf) of a BoxTree that overlaps the query box.
struct CandidatePair {
  std::int32_t query, leaf;
};

/// Linear bounding-volume hierarchy over boxes that are sorted along a Morton curve (Karras 2012, Maximizing
/// Parallelism in the Construction of BVHs, Octrees, and k-d Trees). For n boxes, the construction of a BoxTree takes
/// O(n log n) time. A BoxTree takes 60 bytes of memory per box in addition to the boxes; the construction temporarily
/// takes about 36 more bytes per box. The structure of a BoxTree depends on the boxes only, not on the number of
/// threads.
class BoxTree {
 public:
  /// Builds a BoxTree over the array `boxes`. The array `boxes` is shared with the caller, not copied, and must not
  /// change while the tree is used. Throws Error (system) if the array `boxes` has 2³⁰ entries or more.
  explicit BoxTree(DeviceArray<Box> boxes);

  int size() const { return static_cast<int>(boxes_.size()); }
  std::size_t bytes() const;

  /// Arrays of a BoxTree, copied by value into kernels.
  struct View {
    DeviceArray<Box> boxes;       // [leaves]
    DeviceArray<int> leaf_order;  // [leaves]: indices of boxes, sorted along the Morton curve
    DeviceArray<Box> nodes;       // [leaves - 1]: boxes of inner nodes; node 0 is the root
    DeviceArray<int> children;    // [leaves - 1, 2]: inner node if ≥ 0, else ~(index in `leaf_order`)

    /// Calls `visit(leaf)` with the index `leaf` of every box of the tree that overlaps the box `box`. The order of the
    /// calls of `visit` depends on the structure of the tree.
    template <class Visit>
    KOKKOS_INLINE_FUNCTION void for_each_overlap(const Box& box, const Visit& visit) const {
      const int leaves = static_cast<int>(boxes.size());
      if (leaves == 1 && boxes(0).overlaps(box)) visit(0);
      if (leaves < 2) return;
      // The depth of the tree is less than 100: Morton keys have 63 bits, and equal keys are distinguished by the bits
      // of their indices, at most 32.
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

/// Replaces an array of n + 1 counts, the last of which is zero, by the exclusive prefix sums of the counts. Returns
/// the sum of all counts.
std::int64_t exclusive_sums(const DeviceArray<std::int64_t>& counts);
/// Throws Error (system) if the number `pairs` of candidate pairs exceeds `limit`. The error message contains the
/// number of candidate pairs, the memory that the pairs would take, and `what`, the kind of the pairs, for example
/// "edges".
void require_memory(std::int64_t pairs, std::int64_t limit, const char* what);

}  // namespace detail

/// Returns the indices (query, leaf) of all pairs of a box of the array `queries` and a box of the BoxTree `tree` that
/// overlap and for which `keep(query, leaf)` is true. The returned pairs are sorted by query, then by leaf, so the
/// order of the pairs does not depend on the structure of the tree. If more than `limit` pairs would be returned,
/// `find_pairs` throws Error (system) without allocating the array of pairs; the error message contains the number of
/// pairs and `what`, the kind of the pairs.
template <class Keep>
DeviceArray<CandidatePair> find_pairs(const BoxTree& tree, const DeviceArray<Box>& queries, const Keep& keep,
                                      std::int64_t limit, const char* what) {
  const BoxTree::View view = tree.view();
  const int n = static_cast<int>(queries.size());
  const DeviceArray<std::int64_t> begin("diffsim::contact::pair_begin", static_cast<std::size_t>(n) + 1);
  // `leaves` stores the first `held` leaves of each query, so that only queries with more leaves traverse the tree
  // twice.
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
        // Insertion sort is fast enough, because a query has few leaves.
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
