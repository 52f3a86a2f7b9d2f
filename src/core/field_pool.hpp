// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "diffsim/core/field.hpp"

namespace diffsim {

/// Pool that reuses the memory of destroyed fields. If every time step takes fields of the same sizes from a FieldPool,
/// only the first time step allocates memory.
///
/// Fields created by `take`, and fields that `like` and `clone` create from fields of a pool, belong to the pool. The
/// memory of a field of the pool returns to the pool when the field is destroyed, on any thread. The pool's memory is
/// freed when the last pointer to the pool and the last field of the pool have been destroyed.
class FieldPool : public std::enable_shared_from_this<FieldPool> {
 public:
  static std::shared_ptr<FieldPool> make();
  ~FieldPool();
  FieldPool(const FieldPool&) = delete;
  FieldPool& operator=(const FieldPool&) = delete;

  /// Returns a field of zeros; see Field's constructor for the arguments.
  Field take(std::string name, std::shared_ptr<const Entities> on, int components = 1, int steps = 1);

 private:
  friend class Field;
  FieldPool() = default;
  /// Returns uninitialised device memory of `bytes` bytes.
  double* allocate(const std::string& label, std::size_t bytes);
  /// Stores memory that `allocate` returned, for reuse.
  void give_back(double* data, std::size_t bytes) noexcept;

  std::mutex mutex_;
  std::map<std::size_t, std::vector<double*>> free_;  // unused memory, by size in bytes
};

}  // namespace diffsim
