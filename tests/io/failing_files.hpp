// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>

#include "io/file_system.hpp"

namespace diffsim::testing_io {

/// The operating system's files on a disk that may become full. `synchronise` does not wait for the disk, since no test
/// simulates a crash of the machine.
class FailingFiles : public FileSystem {
 public:
  /// Lets the next `count` calls succeed; all later calls fail as on a full disk. If `count` is negative, no call
  /// fails.
  void fail_after(long count) { left_ = count; }

  int reserve(const std::string& path, std::uint64_t from, std::uint64_t to) override {
    return is_full() ? ENOSPC : system_files().reserve(path, from, to);
  }
  int write(const std::string& path, const void* data, std::uint64_t size, std::uint64_t offset) override {
    return is_full() ? ENOSPC : system_files().write(path, data, size, offset);
  }
  int synchronise(const std::string&) override { return is_full() ? ENOSPC : 0; }
  int rename(const std::string& from, const std::string& to) override {
    return is_full() ? ENOSPC : system_files().rename(from, to);
  }

 private:
  bool is_full() {
    long left = left_.load();
    while (left > 0 && !left_.compare_exchange_weak(left, left - 1)) {
    }
    return left == 0;
  }

  std::atomic<long> left_{-1};
};

}  // namespace diffsim::testing_io
