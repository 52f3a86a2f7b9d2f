// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

// Search for pairs whose primitives are near each other, and sorting of the pairs by contact law.

#include "contact/pair_access.hpp"
#include "contact/pair_laws.hpp"
#include "contact/radix_sort.hpp"

namespace diffsim::contact {
namespace {

/// Sets marks(p) to 1 if the distance of pair p is less than factor · d̂ + a, else to 0. a is the thickness ξ, or, if
/// `touching` is true, the distance that the contact law keeps.
template <class Laws>
void mark_within(const PairView& pairs, const Vectors& x, const Laws& laws, double factor, bool touching,
                 const DeviceArray<std::int64_t>& marks) {
  Kokkos::parallel_for(
      "diffsim::contact::mark_within", over(static_cast<std::size_t>(pairs.size())), KOKKOS_LAMBDA(int p) {
        Vec3<double> points[4];
        load(pairs, p, x, points);
        const LawAddresses& law = laws.of(pairs, p);
        const double limit = factor * law.at(1) + (touching ? law.kept_distance() : law.thickness());
        marks(p) = is_nearer(pairs, p, points, limit) ? 1 : 0;
      });
}

/// Writes the indices of the marked pairs to `active`, ascending. `begin`: exclusive sums of the marks; pair p is
/// marked if begin(p + 1) > begin(p).
void collect(const DeviceArray<std::int64_t>& begin, const DeviceArray<int>& active) {
  Kokkos::parallel_for(
      "diffsim::contact::collect_active", over(begin.size() - 1), KOKKOS_LAMBDA(int p) {
        if (begin(p + 1) > begin(p)) active(begin(p)) = p;
      });
  Kokkos::fence();
}

/// Returns the indices of the pairs that `mark_within` marks, ascending.
template <class Laws>
DeviceArray<int> collect_within(const PairView& pairs, const Vectors& x, const Laws& laws, double factor, bool touching,
                                ArrayPool& pool) {
  const auto marks =
      pool.take_zeroed<std::int64_t>("diffsim::contact::marks", static_cast<std::size_t>(pairs.size()) + 1);
  mark_within(pairs, x, laws, factor, touching, marks);
  const std::int64_t total = detail::exclusive_sums(marks);
  const auto active = pool.take<int>("diffsim::contact::active", static_cast<std::size_t>(total));
  collect(marks, active);
  return active;
}

/// Sets keys(i) to the index of the contact law of the i-th near pair.
void set_law_keys(const PairView& pairs, const DeviceArray<int>& near, const LawsOfGroups& laws,
                  const DeviceArray<std::uint64_t>& keys) {
  Kokkos::parallel_for(
      "diffsim::contact::law_keys", over(near.size()),
      KOKKOS_LAMBDA(int i) { keys(i) = static_cast<std::uint64_t>(laws.number(pairs, near(i))); });
}

/// Sets begins(k), for each k, to the index of the first entry of `sorted` that is not less than k, or to the size of
/// `sorted` if no entry qualifies.
void find_begins(const DeviceArray<std::uint64_t>& sorted, const DeviceArray<int>& begins) {
  const int size = static_cast<int>(sorted.size());
  Kokkos::parallel_for(
      "diffsim::contact::law_begins", over(begins.size()), KOKKOS_LAMBDA(int k) {
        int low = 0, high = size;
        while (low < high) {
          const int middle = (low + high) / 2;
          if (sorted(middle) < static_cast<std::uint64_t>(k))
            low = middle + 1;
          else
            high = middle;
        }
        begins(k) = low;
      });
  Kokkos::fence();
}

/// Returns the pairs that `mark_within` marks, sorted by contact law.
NearPairs sorted_pairs(const PairView& pairs, const Vectors& x, const PairLaws& laws, double factor, bool touching,
                       ArrayPool& pool) {
  const std::size_t count = laws.laws.size();
  NearPairs near;
  if (count == 1) {
    near.pairs = collect_within(pairs, x, OneLaw{laws.laws[0]}, factor, touching, pool);
    near.parts = {{laws.laws[0], 0, static_cast<int>(near.pairs.size())}};
    return near;
  }
  const LawsOfGroups by_groups(laws);
  near.pairs = collect_within(pairs, x, by_groups, factor, touching, pool);
  auto keys = pool.take<std::uint64_t>("diffsim::contact::law_keys", near.pairs.size());
  set_law_keys(pairs, near.pairs, by_groups, keys);
  int bits = 1;
  while (count > std::size_t{1} << bits) ++bits;
  radix_sort(keys, near.pairs, bits, pool);
  const auto begins = pool.take<int>("diffsim::contact::law_begins", count + 1);
  find_begins(keys, begins);
  const auto begin = host_view(begins);
  for (std::size_t l = 0; l < count; ++l) near.parts.push_back({laws.laws[l], begin(l), begin(l + 1)});
  return near;
}

}  // namespace

NearPairs pairs_within(const PairView& pairs, const Vectors& x, const PairLaws& laws, double factor, ArrayPool& pool) {
  return sorted_pairs(pairs, x, laws, factor, false, pool);
}

NearPairs touching_pairs(const PairView& pairs, const Vectors& x, const PairLaws& laws, double factor,
                         ArrayPool& pool) {
  return sorted_pairs(pairs, x, laws, factor, true, pool);
}

}  // namespace diffsim::contact
