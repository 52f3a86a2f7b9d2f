// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/directory_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace diffsim {

bool DirectoryLock::lock(const std::string& directory, double patience) {
  release();
  descriptor_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ < 0) return true;  // a directory that is writable but not readable cannot be locked
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience);
  while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  state_ = State::exclusive;
  return true;
}

void DirectoryLock::share() {
  if (descriptor_ >= 0) state_ = ::flock(descriptor_, LOCK_SH | LOCK_NB) == 0 ? State::shared : State::none;
}

bool DirectoryLock::is_of(const std::string& directory) const {
  struct stat mine = {}, there = {};
  if (descriptor_ < 0) return ::stat(directory.c_str(), &there) == 0;
  return ::fstat(descriptor_, &mine) == 0 && ::stat(directory.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
         mine.st_dev == there.st_dev;
}

void DirectoryLock::release() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  state_ = State::none;
}

}  // namespace diffsim
