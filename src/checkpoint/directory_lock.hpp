// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace diffsim {

/// Lock by which a program prevents other programs from using a directory at the same time: flock(2) on the directory
/// itself. The operating system releases the lock when the program ends, even by a crash. On file systems without
/// flock(2), directories are not locked.
class DirectoryLock {
 public:
  enum class State { none, shared, exclusive };

  DirectoryLock() = default;
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;
  ~DirectoryLock() { release(); }

  /// Acquires an exclusive lock on `directory`; waits up to `patience` seconds for other programs to release their
  /// locks. Returns false if another program still has a lock on the directory after `patience` seconds. Returns true
  /// if the lock is acquired or if the directory cannot be locked. If another program has removed the directory before
  /// releasing its lock, `is_of` returns false, and the caller must create and lock the directory again.
  bool lock(const std::string& directory, double patience);
  /// Converts the exclusive lock to a shared lock. If `lock` has returned false, `share` tries to acquire a shared
  /// lock.
  void share();
  /// Kind of the lock that this object has; `none` if the object has no lock or the file system does not support locks.
  State state() const { return state_; }
  /// Returns true if the path `directory` still refers to the locked directory.
  bool is_of(const std::string& directory) const;
  void release();

 private:
  int descriptor_ = -1;
  State state_ = State::none;
};

}  // namespace diffsim
