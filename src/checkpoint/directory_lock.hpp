// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace diffsim {

/// Tells programs that use a directory of each other: flock(2) on the directory itself, which the system takes back
/// however the program ends. File systems that do not know such locks have none; then nobody is refused.
class DirectoryLock {
 public:
  enum class State { none, shared, exclusive };

  DirectoryLock() = default;
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock() { release(); }

  /// For this one alone, waiting `patience` seconds for others to end; false where they do not. The directory may go
  /// with the one that ends: it must then be made, and locked, again.
  bool lock(const std::string& directory, double patience);
  /// For this one and others like it.
  void share();
  /// Whether the system took the lock, or knows none.
  State state() const { return state_; }
  /// Whether `directory` is still the one that was locked.
  bool is_of(const std::string& directory) const;
  void release();

 private:
  int descriptor_ = -1;
  State state_ = State::none;
};

}  // namespace diffsim
