// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace diffsim {

/// Interface of the system calls that write files to the disk. Writers of files use the operating system's calls unless
/// another FileSystem is passed, for example a FileSystem that simulates errors in a test.
///
/// Every member function of FileSystem returns 0 or an errno code, and may be called from any thread.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  /// Reserves disk space, so that an existing file can grow from `from` to `to` bytes. If `reserve` returns EOPNOTSUPP,
  /// ENOSYS or EINVAL, the file system cannot reserve space.
  virtual int reserve(const std::string& path, std::uint64_t from, std::uint64_t to) = 0;
  /// Writes `size` bytes at the byte offset `offset` of an existing file.
  virtual int write(const std::string& path, const void* data, std::uint64_t size, std::uint64_t offset) = 0;
  /// Waits until the data of a file or directory are on the disk (fsync).
  virtual int synchronise(const std::string& path) = 0;
  virtual int rename(const std::string& from, const std::string& to) = 0;
};

/// Returns the FileSystem that uses the operating system's calls.
FileSystem& system_files();

}  // namespace diffsim
