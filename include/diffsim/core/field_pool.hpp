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

/// Memory of fields that serves again once a field is gone: a step that makes the same fields each time allocates
/// nothing after the first.
///
/// Fields made by `take`, and fields made of these by `like` and `clone`, are from the pool. Their memory goes back to
/// the pool when they end, from any thread, and is freed with the last holder of the pool: its owner, or a field.
class FieldPool : public std::enable_shared_from_this<FieldPool> {
 public:
  static std::shared_ptr<FieldPool> make();
  ~FieldPool();
  FieldPool(const FieldPool&) = delete;
  FieldPool& operator=(const FieldPool&) = delete;

  /// Field of zeros; see Field's constructor for the arguments.
  Field take(std::string name, std::shared_ptr<const Entities> on, int components = 1);

 private:
  friend class Field;
  FieldPool() = default;
  /// Device memory of at least `bytes`, uninitialised.
  double* allocate(const std::string& label, std::size_t bytes);
  void give_back(double* data, std::size_t bytes) noexcept;

  std::mutex mutex_;
  std::map<std::size_t, std::vector<double*>> free_;  // by bytes
};

}  // namespace diffsim
