// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "contact/pair_kernels.hpp"

namespace diffsim::contact {

/// Contact law that applies to all pairs, with the interface of LawsOfGroups.
struct OneLaw {
  LawAddresses law;
  KOKKOS_INLINE_FUNCTION const LawAddresses& of(const PairView&, int) const { return law; }
};

/// Contact laws by surface groups: the groups of the two primitives of a pair determine the contact law of the pair. A
/// surface group is a region, a body or an obstacle.
struct LawsOfGroups {
  DeviceArray<LawAddresses> laws;
  DeviceArray<int> table;  // [groups, groups]: index in `laws`
  int groups;

  explicit LawsOfGroups(const PairLaws& given)
      : laws(to_device("diffsim::contact::laws", given.laws)), table(given.of_groups), groups(given.groups) {}
  KOKKOS_INLINE_FUNCTION int number(const PairView& pairs, int p) const {
    int group[2];
    pairs.groups(p, group);
    return table(groups * group[0] + group[1]);
  }
  KOKKOS_INLINE_FUNCTION const LawAddresses& of(const PairView& pairs, int p) const { return laws(number(pairs, p)); }
};

}  // namespace diffsim::contact
