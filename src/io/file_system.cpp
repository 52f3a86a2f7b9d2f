// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/file_system.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "io/descriptor.hpp"

namespace diffsim {
namespace {

class SystemFiles : public FileSystem {
 public:
  int reserve(const std::string& path, std::uint64_t from, std::uint64_t to) override {
    const Descriptor file(path, O_WRONLY);
    if (!file.is_open()) return errno;
    int code = EINTR;
    while (code == EINTR)
      code = ::fallocate(file, 0, static_cast<off_t>(from), static_cast<off_t>(to - from)) == 0 ? 0 : errno;
    return code;
  }

  int write(const std::string& path, const void* data, std::uint64_t size, std::uint64_t offset) override {
    const Descriptor file(path, O_WRONLY);
    if (!file.is_open()) return errno;
    const char* next = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t written = ::pwrite(file, next, size, static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return written < 0 ? errno : ENOSPC;
      next += written;
      offset += static_cast<std::uint64_t>(written);
      size -= static_cast<std::uint64_t>(written);
    }
    return 0;
  }

  int synchronise(const std::string& path) override {
    const Descriptor file(path, O_RDONLY);
    if (!file.is_open()) return errno;
    // EINVAL means that this kind of file cannot be synchronised, which is not an error.
    return ::fsync(file) == 0 || errno == EINVAL ? 0 : errno;
  }

  int rename(const std::string& from, const std::string& to) override {
    return std::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  }
};

}  // namespace

FileSystem& system_files() {
  static SystemFiles files;
  return files;
}

}  // namespace diffsim
