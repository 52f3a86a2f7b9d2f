// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/rounded_store.hpp"

#include <utility>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"

namespace diffsim {
namespace {

/// Rounds the values of `field` to single precision.
void round_values(const Field& field, const DeviceArray<float>& rounded) {
  const double* const x = field.data();
  Kokkos::parallel_for(
      "diffsim::checkpoint::round", Range(0, static_cast<int>(field.size())),
      KOKKOS_LAMBDA(int i) { rounded(i) = static_cast<float>(x[i]); });
}

/// Sets the values of `field` to the rounded values.
void widen_values(const DeviceArray<float>& rounded, Field& field) {
  double* const x = field.data();
  Kokkos::parallel_for(
      "diffsim::checkpoint::widen", Range(0, static_cast<int>(field.size())),
      KOKKOS_LAMBDA(int i) { x[i] = static_cast<double>(rounded(i)); });
}

}  // namespace

/// Rounded values of each field, and the entities of the fields.
struct RoundedStore::Snapshot {
  explicit Snapshot(const State& state) {
    for (const Field& field : state.fields())
      fields.push_back(make_device_array<float>("diffsim::checkpoint::rounded", field.size()));
  }
  bool fits(const State& state) const {
    bool same = fields.size() == state.fields().size();
    for (std::size_t k = 0; same && k < fields.size(); ++k) same = fields[k].size() == state.fields()[k].size();
    return same;
  }
  std::vector<DeviceArray<float>> fields;
  std::vector<std::shared_ptr<const Entities>> entities;
};

RoundedStore::RoundedStore() = default;
RoundedStore::~RoundedStore() = default;

void RoundedStore::put(int step, const State& state) {
  erase(step);
  // The store may have been used before for states with other fields, for example states joined with their derivatives.
  if (!free_.empty() && !free_.back()->fits(state)) free_.clear();
  if (free_.empty()) free_.push_back(std::make_unique<Snapshot>(state));
  std::unique_ptr<Snapshot> snapshot = std::move(free_.back());
  free_.pop_back();
  snapshot->entities = state.entities();
  for (std::size_t k = 0; k < snapshot->fields.size(); ++k) round_values(state.fields()[k], snapshot->fields[k]);
  Kokkos::fence();
  snapshots_.emplace(step, std::move(snapshot));
}

void RoundedStore::get(int step, State& state) {
  const auto found = snapshots_.find(step);
  if (found == snapshots_.end()) throw Error("no snapshot of step " + std::to_string(step) + " in memory");
  if (found->second->fields.size() == state.fields().size()) state.set_entities(found->second->entities);
  if (!found->second->fits(state)) throw Error("the snapshot of step " + std::to_string(step) + " has other fields");
  for (std::size_t k = 0; k < state.fields().size(); ++k) widen_values(found->second->fields[k], state.fields()[k]);
  Kokkos::fence();
}

void RoundedStore::erase(int step) {
  const auto found = snapshots_.find(step);
  if (found == snapshots_.end()) return;
  free_.push_back(std::move(found->second));
  snapshots_.erase(found);
  // When the last snapshot is erased, the memory reserved for later snapshots is freed: the next sweep may need this
  // memory for records.
  if (snapshots_.empty()) free_.clear();
}

}  // namespace diffsim
