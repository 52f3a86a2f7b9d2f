// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/mesh_text.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "diffsim/core/error.hpp"

namespace diffsim {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most = 40;
  constexpr char digits[] = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {
      result += "\\x";
      result += digits[byte >> 4];
      result += digits[byte & 15];
    }
  }
  return result + (text.size() > most ? "…'" : "'");
}

std::string read_whole_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found)
    throw InputError(path, 0, "", "no such file; check the path (relative paths start at the working directory)");
  if (fs::is_directory(status)) throw InputError(path, 0, "", "is a directory; give a mesh file in it");
  if (!code && !fs::is_regular_file(status))
    throw InputError(path, 0, "", "is not a regular file; save the mesh to one and give that");

  errno = 0;
  std::ifstream file(path, std::ios::binary);
  const std::uintmax_t size = file ? fs::file_size(path, code) : 0;
  if (!file || code) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "unknown reason";
    throw InputError(path, 0, "", "cannot be opened (" + reason + "); check its permissions");
  }
  std::string content(static_cast<std::size_t>(size), '\0');
  file.read(content.data(), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(file.gcount()) != size)
    throw InputError(path, 0, "", "cannot be read to its end; check the disk, or get the whole file again");
  return content;
}

void check_scale(double scale) {
  if (!(scale > 0) || !std::isfinite(scale))
    throw InputError("mesh scale " + std::to_string(scale) + " is not a positive number; give metres per file unit");
}

}  // namespace diffsim
