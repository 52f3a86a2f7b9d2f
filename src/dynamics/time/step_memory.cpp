// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/time/step_memory.hpp"

#include <cstring>
#include <utility>

#include "core/mix_bits.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::dynamics {
namespace {

std::uint64_t checksum_of_state(const State& state) {
  std::uint64_t sum = 0;
  for (const Field& field : state.fields()) sum = mix_bits(sum ^ checksum_of(field));
  return sum;
}

}  // namespace

std::uint64_t checksum_of(const Field& field) {
  std::uint64_t sum = field.size();
  for (const double value : field.to_host()) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    sum = mix_bits(sum ^ bits);
  }
  return sum;
}

void StepMemory::set_limit(std::size_t bytes) {
  limit_ = bytes;
  if (bytes > 0) return;
  clear();
  key_ = 0;  // no key is set while nothing is stored
}

void StepMemory::clear() {
  solutions_.clear();
  bytes_ = 0;
}

void StepMemory::set_key(std::uint64_t key) {
  if (key != key_) clear();
  key_ = key;
}

bool StepMemory::find(MPI_Comm comm, int n, const State& start, Field& y) const {
  if (!is_enabled()) return false;  // the limit is the same on all ranks
  const auto found = solutions_.find(n);
  int has = found != solutions_.end() && found->second.start == checksum_of_state(start) ? 1 : 0;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &has, 1, MPI_INT, MPI_MIN, comm));
  if (has == 1) y.copy_from(found->second.y);
  return has == 1;
}

void StepMemory::add(int n, const State& start, const Field& y) {
  if (!is_enabled()) return;
  const auto found = solutions_.find(n);
  const std::size_t needed = found == solutions_.end() ? y.bytes() : 0;
  if (bytes_ + needed > limit_) return;
  bytes_ += needed;
  solutions_.insert_or_assign(n, Solution{checksum_of_state(start), y.clone()});
}

}  // namespace diffsim::dynamics
