// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>
#include <vector>

#include "app/scene_document.hpp"
#include "app/scene_sections.hpp"
#include "checkpoint/checkpoint_directory.hpp"

namespace diffsim::app {
namespace {

/// Sections of a scene that influence how results are computed, but not the results themselves.
constexpr const char* without_effect[] = {"checkpoint", "optimiser", "output"};

constexpr std::uint64_t hash_begin = 0xcbf29ce484222325ull;

/// FNV-1a hash with 64 bits, continued from `hash`.
std::uint64_t hash_of(const char* data, std::size_t size, std::uint64_t hash) {
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<unsigned char>(data[i])) * 0x100000001b3ull;
  return hash;
}
std::uint64_t hash_of(const std::string& text, std::uint64_t hash) {
  return hash_of(text.c_str(), text.size() + 1, hash);
}

std::uint64_t hash_of_file(const std::string& path, std::uint64_t hash) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes(1 << 20);
  while (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || file.gcount() > 0)
    hash = hash_of(bytes.data(), static_cast<std::size_t>(file.gcount()), hash);
  return hash;
}

/// Hash of a value of the scene, independent of the order of keys. For the keys `file`, `observations` and `urdf`,
/// whose values are paths, the contents of the file are hashed. For the key `from`, whose value may be the path of a
/// trajectory, the value and the contents of the file are hashed.
std::uint64_t hash_of(const Value& value, const std::string& key, const Scene& scene, std::uint64_t hash) {
  hash = hash_of(fmt::format("{}", static_cast<int>(value.kind)), hash);
  if (value.is_scalar()) {
    if (is_path_key(key) && key != "from") return hash_of_file(beside_scene(value.text, scene), hash);
    if (key == "from") hash = hash_of_file(beside_scene(value.text, scene), hash);
    return hash_of(value.text, hash);
  }
  std::vector<std::size_t> order(value.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (value.is_mapping())
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return value.keys[a] < value.keys[b]; });
  for (const std::size_t i : order) {
    const std::string name = value.is_mapping() ? value.keys[i] : key;
    hash = hash_of(value.items[i], name, scene, hash_of(name, hash));
  }
  return hash;
}

/// Removes `keys` and their values from a mapping.
void remove_keys(Value& mapping, const std::vector<std::string>& keys) {
  for (std::size_t i = mapping.keys.size(); i-- > 0;) {
    if (std::find(keys.begin(), keys.end(), mapping.keys[i]) == keys.end()) continue;
    mapping.keys.erase(mapping.keys.begin() + static_cast<std::ptrdiff_t>(i));
    mapping.items.erase(mapping.items.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

ProblemParts problem_parts(const std::string& text, const std::string& file, const std::vector<std::string>& without) {
  Scene scene;
  scene.file = file;
  Value root = parse_yaml(text, file);
  remove_keys(root, without);
  for (std::size_t i = 0; i < root.items.size(); ++i)
    if (root.keys[i] == "experiments")
      for (Value& experiment : root.items[i].items) remove_keys(experiment, without);
  ProblemParts parts;
  for (std::size_t i = 0; i < root.items.size(); ++i) {
    const std::string& section = root.keys[i];
    if (std::find(std::begin(without_effect), std::end(without_effect), section) != std::end(without_effect)) continue;
    parts.emplace_back(section, fmt::format("{:016x}", hash_of(root.items[i], section, scene, hash_begin)));
  }
  return parts;
}

std::string to_lines(const ProblemParts& parts) {
  std::string lines;
  for (const auto& [section, hash] : parts) lines += section + ' ' + hash + '\n';
  return lines;
}

ProblemParts parts_of_lines(const std::string& lines) {
  ProblemParts parts;
  std::istringstream words(lines);
  for (std::string section, hash; words >> section >> hash;) parts.emplace_back(section, hash);
  return parts;
}

}  // namespace diffsim::app
