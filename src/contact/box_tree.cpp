// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/box_tree_impl.hpp"

#include <limits>
#include <utility>

#include "contact/radix_sort.hpp"
#include "diffsim/core/impl/profiling.hpp"

namespace diffsim::contact {
namespace {

constexpr int key_bits = 63;

/// Returns the smallest box that contains all `boxes`.
Box bounds_of(const DeviceArray<Box>& boxes) {
  double low[3], high[3];
  for (int c = 0; c < 3; ++c) {
    Kokkos::parallel_reduce(
        "diffsim::contact::lower_bound", Range(0, static_cast<int>(boxes.size())),
        KOKKOS_LAMBDA(int i, double& least) { least = boxes(i).low[c] < least ? boxes(i).low[c] : least; },
        Kokkos::Min<double>(low[c]));
    Kokkos::parallel_reduce(
        "diffsim::contact::upper_bound", Range(0, static_cast<int>(boxes.size())),
        KOKKOS_LAMBDA(int i, double& most) { most = boxes(i).high[c] > most ? boxes(i).high[c] : most; },
        Kokkos::Max<double>(high[c]));
  }
  return {{low[0], low[1], low[2]}, {high[0], high[1], high[2]}};
}

/// Returns the lower 21 bits of x, with two zero bits after each bit.
KOKKOS_INLINE_FUNCTION std::uint64_t spread(std::uint64_t x) {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffffull;
  x = (x | x << 16) & 0x1f0000ff0000ffull;
  x = (x | x << 8) & 0x100f00f00f00f00full;
  x = (x | x << 4) & 0x10c30c30c30c30c3ull;
  return (x | x << 2) & 0x1249249249249249ull;
}

/// Sets the key of each box to the Morton code of its centre, and `order` to the identity.
void set_keys(const DeviceArray<Box>& boxes, const Box& bounds, const DeviceArray<std::uint64_t>& keys,
              const DeviceArray<int>& order) {
  Kokkos::parallel_for(
      "diffsim::contact::keys", Range(0, static_cast<int>(boxes.size())), KOKKOS_LAMBDA(int i) {
        std::uint64_t key = 0;
        for (int c = 0; c < 3; ++c) {
          const double size = bounds.high[c] - bounds.low[c];
          const double middle = 0.5 * (boxes(i).low[c] + boxes(i).high[c]) - bounds.low[c];
          double place = size > 0.0 ? middle / size * 2097152.0 : 0.0;
          place = place > 0.0 ? place : 0.0;  // NaN becomes 0
          place = place < 2097151.0 ? place : 2097151.0;
          key |= spread(static_cast<std::uint64_t>(place)) << c;
        }
        keys(i) = key;
        order(i) = i;
      });
}

/// Returns the number of zero bits above the highest one bit of x; 64 for x = 0.
KOKKOS_INLINE_FUNCTION int leading_zeros(std::uint64_t x) {
  int n = 64;
  for (int shift = 32; shift > 0; shift /= 2)
    if (x >> shift) {
      n -= shift;
      x >>= shift;
    }
  return n - static_cast<int>(x);
}

/// Kernel that finds the children of inner node i, one node per thread (Karras 2012, section 4).
struct NodeBuilder {
  DeviceArray<std::uint64_t> keys;
  DeviceArray<int> children, parents;  // `parents`: parents of the inner nodes, then of the leaves
  int leaves;

  /// Length, in bits, of the common prefix of the Morton keys i and j; equal keys are distinguished by their indices.
  KOKKOS_INLINE_FUNCTION int prefix(int i, int j) const {
    if (j < 0 || j >= leaves) return -1;
    const std::uint64_t difference = keys(i) ^ keys(j);
    if (difference != 0) return leading_zeros(difference);
    return 64 + leading_zeros(static_cast<std::uint64_t>(i) ^ static_cast<std::uint64_t>(j));
  }
  KOKKOS_INLINE_FUNCTION void operator()(int i) const {
    const int direction = prefix(i, i + 1) > prefix(i, i - 1) ? 1 : -1;
    const int least = prefix(i, i - direction);
    int reach = 2;
    while (prefix(i, i + reach * direction) > least && reach < leaves) reach *= 2;
    int length = 0;
    for (int step = reach / 2; step >= 1; step /= 2)
      if (prefix(i, i + (length + step) * direction) > least) length += step;
    const int other = i + length * direction;
    const int shared = prefix(i, other);
    int split = 0;
    for (int divisor = 2, step = (length + 1) / 2;; divisor *= 2, step = (length + divisor - 1) / divisor) {
      if (prefix(i, i + (split + step) * direction) > shared) split += step;
      if (step <= 1) break;
    }
    const int middle = i + split * direction + (direction < 0 ? direction : 0);
    const int first = i < other ? i : other, last = i < other ? other : i;
    const int left = first == middle ? ~middle : middle, right = last == middle + 1 ? ~(middle + 1) : middle + 1;
    children(2 * i) = left;
    children(2 * i + 1) = right;
    parents(left >= 0 ? left : leaves - 1 + ~left) = i;
    parents(right >= 0 ? right : leaves - 1 + ~right) = i;
  }
};

/// Computes the boxes of the inner nodes from the leaves up, with one thread per leaf. Two threads arrive at each inner
/// node, one from each child: the first thread ends, the second computes the node's box and continues with the parent
/// node. Minima and maxima are exact, so the boxes do not depend on the order in which threads arrive.
void fit_nodes(const BoxTree::View& view, const DeviceArray<int>& parents, int leaves) {
  const DeviceArray<int> arrived("diffsim::contact::arrived", static_cast<std::size_t>(leaves - 1));
  Kokkos::parallel_for(
      "diffsim::contact::fit_nodes", Range(0, leaves), KOKKOS_LAMBDA(int leaf) {
        for (int node = parents(leaves - 1 + leaf); node >= 0; node = node == 0 ? -1 : parents(node)) {
          Kokkos::memory_fence();
          if (Kokkos::atomic_fetch_add(&arrived(node), 1) == 0) return;
          Kokkos::memory_fence();
          const int a = view.children(2 * node), b = view.children(2 * node + 1);
          Box box = a >= 0 ? view.nodes(a) : view.boxes(view.leaf_order(~a));
          box.include(b >= 0 ? view.nodes(b) : view.boxes(view.leaf_order(~b)));
          view.nodes(node) = box;
        }
      });
}

}  // namespace

BoxTree::BoxTree(DeviceArray<Box> boxes) : boxes_(std::move(boxes)) {
  const ProfilingRegion region("diffsim::contact::build_tree");
  if (boxes_.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() / 2))
    throw Error("a rank has " + std::to_string(boxes_.size()) + " surface boxes, 2³⁰ or more; use more ranks",
                ErrorKind::system);
  view_.boxes = boxes_;
  const int leaves = size();
  if (leaves < 2) return;
  auto keys = make_device_array<std::uint64_t>("diffsim::contact::keys", boxes_.size());
  view_.leaf_order = make_device_array<int>("diffsim::contact::leaf_order", boxes_.size());
  set_keys(boxes_, bounds_of(boxes_), keys, view_.leaf_order);
  ArrayPool pool;
  radix_sort(keys, view_.leaf_order, key_bits, pool);
  view_.children = make_device_array<int>("diffsim::contact::children", 2 * boxes_.size() - 2);
  view_.nodes = make_device_array<Box>("diffsim::contact::nodes", boxes_.size() - 1);
  const auto parents = make_device_array<int>("diffsim::contact::parents", 2 * boxes_.size() - 1);
  Kokkos::parallel_for("diffsim::contact::build_nodes", Range(0, leaves - 1),
                       NodeBuilder{keys, view_.children, parents, leaves});
  keys = {};
  fit_nodes(view_, parents, leaves);
  Kokkos::fence();
}

std::size_t BoxTree::bytes() const {
  return view_.leaf_order.size() * sizeof(int) + view_.nodes.size() * sizeof(Box) + view_.children.size() * sizeof(int);
}

namespace detail {

std::int64_t exclusive_sums(const DeviceArray<std::int64_t>& counts) {
  std::int64_t total = 0;
  Kokkos::parallel_scan(
      "diffsim::contact::sum_counts", Range(0, static_cast<int>(counts.size())),
      KOKKOS_LAMBDA(int i, std::int64_t& sum, bool final) {
        const std::int64_t here = counts(i);
        if (final) counts(i) = sum;
        sum += here;
      },
      total);
  return total;
}

void require_memory(std::int64_t pairs, std::int64_t limit, const char* what) {
  if (pairs <= limit) return;
  throw Error("contact: " + std::to_string(pairs) + " pairs of " + what + " may touch, which would take " +
                  std::to_string(pairs * static_cast<std::int64_t>(sizeof(CandidatePair)) >> 20) + " MiB; at most " +
                  std::to_string(limit) +
                  " are allowed. Make the barrier distance smaller, use more ranks, or give a larger max_pairs",
              ErrorKind::system);
}

}  // namespace detail
}  // namespace diffsim::contact
