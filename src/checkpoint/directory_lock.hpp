// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace diffsim {

/// Lock against simultaneous use of a directory by several programs: flock(2) on the directory itself. The system
/// releases the lock when the program ends, even by a crash. On file systems without flock(2) there is no lock, and no
/// program is refused.
class DirectoryLock {
 public:
  enum class State { none, shared, exclusive };

  DirectoryLock() = default;
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock() { release(); }

  /// Takes an exclusive lock, waiting up to `patience` seconds for other programs to end. Returns false if another
  /// program still holds a lock. The other program may have removed the directory at its end; the directory must then
  /// be created and locked again (see `is_of`).
  bool lock(const std::string& directory, double patience);
  /// Converts the lock to a shared lock.
  void share();
  /// Kind of lock that is held; `none` also if the file system does not support locks.
  State state() const { return state_; }
  /// Returns true if the path `directory` still refers to the locked directory.
  bool is_of(const std::string& directory) const;
  void release();

 private:
  int descriptor_ = -1;
  State state_ = State::none;
};

}  // namespace diffsim
