// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace diffsim::checkpoint {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// Names of the files of a group in one version of control groups.
struct Files {
  const char *limit, *used, *inactive;  ///< `inactive`: key of the file memory.stat for inactive pages of files
};
constexpr Files version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr Files version_2{"memory.max", "memory.current", "inactive_file"};

/// Number at the beginning of a file; infinite if the file does not exist or begins with a word, for example "max".
double number_in(const std::string& path) {
  double value = 0.0;
  return std::ifstream(path) >> value ? value : unknown;
}

/// Value of a key in a file with one key and one value in each line; 0 if the file has no such key.
double value_in(const std::string& path, const std::string& wanted) {
  std::ifstream file(path);
  std::string key;
  double value = 0.0;
  while (file >> key >> value)
    if (key == wanted) return value;
  return 0.0;
}

double left_in(const std::string& folder, const Files& files) {
  const double limit = number_in(folder + "/" + files.limit), used = number_in(folder + "/" + files.used);
  if (!(limit < unknown && used < unknown)) return unknown;
  return std::clamp(limit - used + value_in(folder + "/memory.stat", files.inactive), 0.0, limit);
}

}  // namespace

double memory_left_by_groups(const std::string& membership, const std::string& mount) {
  double least = unknown;
  // A line of the file is ID:CONTROLLERS:PATH. The list of controllers is empty for version 2.
  std::ifstream file(membership);
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool is_version_2 = controllers == ",,";
    if (!is_version_2 && controllers.find(",memory,") == std::string::npos) continue;
    const std::string root = is_version_2 ? mount : mount + "/memory";
    std::string path = line.substr(second + 1);
    // In a container, the mounted folder may be the group of the process, and `path` a path outside of the container.
    while (true) {
      while (!path.empty() && path.back() == '/') path.pop_back();
      least = std::min(least, left_in(root + path, is_version_2 ? version_2 : version_1));
      if (path.empty()) break;
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
  }
  return least;
}

}  // namespace diffsim::checkpoint
