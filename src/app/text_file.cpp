// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/text_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/broadcast.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::app {
namespace {

/// Reason why a file cannot be read; empty if the file can be read.
std::string reason_unreadable(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::not_found) return "there is no such file; check the path";
  if (code) return "cannot be read: " + code.message() + "; check the path";
  if (std::filesystem::is_directory(status)) return "is a folder; give a file";
  errno = 0;
  if (!std::ifstream(path)) return std::string("cannot be read: ") + std::strerror(errno) + "; check its permissions";
  return {};
}

}  // namespace

std::string read_text(MPI_Comm comm, const std::string& path) {
  constexpr std::uintmax_t largest = std::uintmax_t{1} << 28;
  std::string text;
  collectively(comm, [&] {
    if (!is_first_rank(comm)) return;
    if (const std::string reason = reason_unreadable(path); !reason.empty()) throw InputError(path, 0, "", reason);
    std::error_code code;
    if (const auto size = std::filesystem::file_size(path, code); !code && size > largest)
      throw InputError(path, 0, "", "is too large for a scene; give large arrays as {file:, dataset:}");
    std::ostringstream content;
    content << std::ifstream(path, std::ios::binary).rdbuf();
    text = content.str();
  });
  broadcast_text(text, comm);
  return text;
}

void require_readable(MPI_Comm comm, const std::string& path, const Place& place) {
  collectively(comm, [&] {
    if (!is_first_rank(comm)) return;
    if (const std::string reason = reason_unreadable(path); !reason.empty()) place.fail("'" + path + "': " + reason);
  });
}

bool is_there(MPI_Comm comm, const std::string& path) {
  std::error_code code;
  int there = is_first_rank(comm) && std::filesystem::exists(path, code) ? 1 : 0;
  DIFFSIM_MPI(MPI_Bcast(&there, 1, MPI_INT, 0, comm));
  return there != 0;
}

}  // namespace diffsim::app
