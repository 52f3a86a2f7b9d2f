// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/field_pool.hpp"

#include <utility>

#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/huge_pages.hpp"

namespace diffsim {

std::shared_ptr<FieldPool> FieldPool::make() { return std::shared_ptr<FieldPool>(new FieldPool); }

FieldPool::~FieldPool() {
  for (auto& [bytes, blocks] : free_)
    for (double* block : blocks) free_on_device(block);
}

Field FieldPool::take(std::string name, std::shared_ptr<const Entities> on, int components, int steps) {
  return Field(std::move(name), std::move(on), components, steps, shared_from_this());
}

double* FieldPool::allocate(const std::string& label, std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    std::vector<double*>& blocks = free_[bytes];
    if (!blocks.empty()) {
      double* const block = blocks.back();
      blocks.pop_back();
      return block;
    }
    // Space in `blocks` is reserved for the memory that is allocated below, so that `give_back` cannot fail.
    blocks.reserve(blocks.capacity() + 1);
  }
  auto* const data = static_cast<double*>(allocate_on_device(label, bytes));
  if constexpr (kernels_on_host) advise_huge_pages(data, bytes);
  return data;
}

void FieldPool::give_back(double* data, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  free_[bytes].push_back(data);
}

}  // namespace diffsim
