// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <vector>

#include "diffsim/core/error.hpp"
#include "io/checksum.hpp"
#include "io/descriptor.hpp"

namespace diffsim {
namespace {

namespace fs = std::filesystem;

std::string reason(int code) { return std::strerror(code); }

[[noreturn]] void fail_write(const std::string& path, int code) {
  throw Error(path + ": cannot be written (" + reason(code) + "); check the disk", ErrorKind::system);
}

}  // namespace

void require_readable_file(const std::string& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found)
    throw InputError(path, 0, "", "no such file; check the path (relative paths start at the working directory)");
  if (fs::is_directory(status)) throw InputError(path, 0, "", "is a directory; give a file in it");
  if (!code && !fs::is_regular_file(status)) throw InputError(path, 0, "", "is not a regular file");
  const Descriptor file(path, O_RDONLY);
  if (!file.is_open()) throw InputError(path, 0, "", "cannot be opened (" + reason(errno) + "); check its permissions");
}

void require_writable_file(const std::string& path, const std::string& final_path) {
  std::error_code code;
  if (fs::is_directory(final_path, code)) throw InputError(final_path, 0, "", "is a directory; give a file's name");
  const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open())
    throw InputError(final_path, 0, "",
                     "cannot be written (" + reason(errno) + "); create its folder, or choose a path you can write to");
}

bool has_hdf5_signature(const std::string& path) {
  constexpr char signature[] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  std::ifstream file(path, std::ios::binary);
  char bytes[sizeof(signature)];
  for (std::streamoff place = 0; file.seekg(place) && file.read(bytes, sizeof(bytes)); place = place ? 2 * place : 512)
    if (std::memcmp(bytes, signature, sizeof(bytes)) == 0) return true;
  return false;
}

double free_space(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  std::error_code code;
  const fs::space_info space = fs::space(parent.empty() ? "." : parent, code);
  return code ? std::numeric_limits<double>::infinity() : static_cast<double>(space.available);
}

void reserve_space(FileSystem& files, const std::string& path, const std::string& name, std::uint64_t from,
                   std::uint64_t to) {
  int code = files.reserve(path, from, to);
  if (code == EOPNOTSUPP || code == ENOSYS || code == EINVAL)
    code = free_space(path) < static_cast<double>(to - from) ? ENOSPC : 0;
  if (code == 0) return;
  throw Error(name + ": cannot grow to " + std::to_string((to + 999'999) / 1'000'000) + " MB (" + reason(code) +
                  "); free disk space, or write elsewhere",
              ErrorKind::system);
}

std::uint64_t hdf5_length(const std::string& path) {
  // Superblock of version 2 or 3 (HDF5 File Format Specification 3.0, II.A): byte 8 is the version, bytes 28 to 35 are
  // the end-of-file address, little-endian.
  std::ifstream file(path, std::ios::binary);
  unsigned char bytes[36];
  if (!file.read(reinterpret_cast<char*>(bytes), sizeof(bytes)) || bytes[8] < 2) return 0;
  std::uint64_t end = 0;
  for (int i = 7; i >= 0; --i) end = end << 8 | bytes[28 + i];
  return end;
}

void cut_to_length(const std::string& path, std::uint64_t length) {
  std::error_code code;
  const std::uintmax_t size = fs::file_size(path, code);
  if (!code && size > length) fs::resize_file(path, length, code);
  if (code || size < length || length == 0)
    throw Error(path + ": the file was not written completely; free disk space", ErrorKind::system);
}

std::uint64_t file_sum(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t at_once = 1 << 20;
  const Descriptor file(path, O_RDONLY);
  if (!file.is_open()) throw Error(path + ": cannot be read (" + reason(errno) + ")", ErrorKind::system);
  std::vector<char> bytes(at_once);
  std::uint64_t sum = 0;
  while (begin < end) {
    const std::uint64_t wanted = std::min(at_once, end - begin);
    std::uint64_t have = 0;
    while (have < wanted) {
      const ssize_t got = ::pread(file, bytes.data() + have, wanted - have, static_cast<off_t>(begin + have));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        throw Error(path + ": cannot be read (" + (got < 0 ? reason(errno) : "it is cut short") + ")",
                    ErrorKind::system);
      have += static_cast<std::uint64_t>(got);
    }
    sum += word_sum(bytes.data(), wanted, begin);
    begin += wanted;
  }
  return sum;
}

void publish_file(FileSystem& files, const std::string& from, const std::string& to) {
  if (const int code = files.synchronise(from)) fail_write(from, code);
  rename_file(files, from, to);
  const fs::path parent = fs::path(to).parent_path();
  const int code = files.synchronise(parent.empty() ? "." : parent.string());
  if (code != 0 && code != EACCES) fail_write(to, code);  // EACCES: the directory can be written to but not read
}

void rename_file(FileSystem& files, const std::string& from, const std::string& to) {
  if (const int code = files.rename(from, to)) fail_write(to, code);
}

void publish_text(const std::string& path, const std::string& text, FileSystem& files) {
  const std::string partial = path + ".partial";
  require_writable_file(partial, path);
  if (const int code = files.write(partial, text.data(), text.size(), 0)) {
    ::unlink(partial.c_str());
    fail_write(path, code);
  }
  publish_file(files, partial, path);
}

}  // namespace diffsim
