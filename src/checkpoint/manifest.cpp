// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/manifest.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "diffsim/core/config.hpp"
#include "diffsim/core/error.hpp"
#include "io/publish.hpp"

namespace diffsim {
namespace {

namespace fs = std::filesystem;

constexpr char magic[] = "diffsim checkpoints";
constexpr int version = 1;

std::string hex(std::uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof(text), "%016" PRIx64, value);
  return text;
}

/// FNV-1a hash, 64 bits.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3ull;
  return hash;
}

/// Removes `prefix` from the front of `name`. Returns false if `name` does not begin with `prefix`.
bool take(std::string_view& name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  return true;
}

/// Removes the digits at the front of `name` and returns the number of removed digits.
std::size_t take_digits(std::string_view& name) {
  const std::size_t count = std::min(name.find_first_not_of("0123456789"), name.size());
  name.remove_prefix(count);
  return count;
}

/// Returns true if CheckpointDirectory writes files with this name. Checkpoints are named KIND_NUMBER.h5 or
/// KIND_NUMBER.VERSION.h5, where NUMBER has at least six digits. The name of an unfinished checkpoint or manifest ends
/// in `.partial`. Returns false for a finished manifest.
bool is_checkpoint_file(std::string_view name) {
  constexpr std::string_view unfinished = ".partial";
  const bool is_partial = name.ends_with(unfinished);
  if (is_partial) name.remove_suffix(unfinished.size());
  if (is_partial && (name == "manifest.0" || name == "manifest.1")) return true;
  constexpr std::string_view kinds[] = {"step_", "rounded_", "joined_", "adjoint_", "evaluation_"};
  if (std::none_of(std::begin(kinds), std::end(kinds), [&](std::string_view kind) { return take(name, kind); }))
    return false;
  if (take_digits(name) < 6) return false;
  if (name == ".h5") return true;
  return take(name, ".") && take_digits(name) > 0 && name == ".h5";
}

std::string manifest_path(const std::string& directory, std::int64_t generation) {
  return (fs::path(directory) / (generation % 2 == 0 ? "manifest.0" : "manifest.1")).string();
}

}  // namespace

std::string to_text(const Manifest& manifest) {
  std::ostringstream text;
  text << magic << ' ' << version << "\nversion " << DIFFSIM_VERSION << "\ngeneration " << manifest.generation << '\n';
  if (manifest.failed) text << "failed\n";
  for (const auto& [part, hash] : manifest.problem) text << "part " << part << ' ' << hash << '\n';
  text << "point " << hex(manifest.point.exact) << ' ' << manifest.point_ranks << ' ' << manifest.point.sums.size();
  for (const double sum : manifest.point.sums) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &sum, sizeof(bits));
    text << ' ' << hex(bits);
  }
  text << '\n';
  for (const ManifestEntry& entry : manifest.entries)
    text << "file " << entry.kind << ' ' << entry.number << ' ' << entry.name << ' ' << entry.length << ' '
         << hex(entry.sum) << '\n';
  const std::string body = text.str();
  return body + "end " + hex(hash_of(body)) + '\n';
}

std::optional<Manifest> parse_manifest(const std::string& text, const std::string& path) {
  const std::size_t end = text.rfind("end ");
  if (end == std::string::npos || text.substr(end) != "end " + hex(hash_of(text.substr(0, end))) + '\n') return {};
  std::istringstream lines(text.substr(0, end));
  Manifest manifest;
  std::string line;
  std::getline(lines, line);
  if (line != std::string(magic) + ' ' + std::to_string(version))
    throw InputError(path + ": is '" + line + "', this program reads '" + magic + ' ' + std::to_string(version) +
                     "'; continue with the version that wrote the file, or give another checkpoint.directory");
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "generation") words >> manifest.generation;
    if (word == "failed") manifest.failed = true;
    if (word == "part") {
      auto& [part, hash] = manifest.problem.emplace_back();
      words >> part >> hash;
    }
    if (word == "point") {
      std::size_t count = 0;
      words >> std::hex >> manifest.point.exact >> std::dec >> manifest.point_ranks >> count >> std::hex;
      std::uint64_t bits = 0;
      for (; manifest.point.sums.size() < count && words >> bits;) {
        double& sum = manifest.point.sums.emplace_back();
        std::memcpy(&sum, &bits, sizeof(sum));
      }
    }
    if (word == "file") {
      ManifestEntry& entry = manifest.entries.emplace_back();
      words >> entry.kind >> entry.number >> entry.name >> entry.length >> std::hex >> entry.sum;
    }
    if (words.fail()) return {};
  }
  return manifest;
}

std::optional<Manifest> newest_manifest(const std::string& directory, std::vector<std::string>& warnings) {
  std::optional<Manifest> newest;
  for (const std::int64_t which : {0, 1}) {
    const std::string path = manifest_path(directory, which);
    if (!fs::exists(path)) continue;
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    std::optional<Manifest> found = parse_manifest(text.str(), path);
    if (!found)
      warnings.push_back(path + ": is damaged: it does not match its checksum; it is not used");
    else if (!newest || found->generation > newest->generation)
      newest = std::move(found);
  }
  return newest;
}

bool has_manifest(const std::string& directory) {
  return fs::exists(manifest_path(directory, 0)) || fs::exists(manifest_path(directory, 1));
}

void write_manifest(const std::string& directory, const Manifest& manifest, FileSystem& files) {
  publish_text(manifest_path(directory, manifest.generation), to_text(manifest), files);
}

std::string difference_of(const ProblemParts& found, const ProblemParts& expected) {
  const std::map<std::string, std::string> one(found.begin(), found.end()), other(expected.begin(), expected.end());
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part + " differs"; };
  for (const auto& [part, hash] : other)
    if (!one.contains(part) || one.at(part) != hash) add(part);
  for (const auto& [part, hash] : one)
    if (!other.contains(part)) add(part);
  return text;
}

std::string make_checkpoint_directory(const std::string& directory) {
  std::string made;
  for (fs::path part = fs::path(directory).lexically_normal(); !part.empty() && !fs::exists(part);
       part = part.parent_path())
    made = part.string();
  std::error_code code;
  fs::create_directories(directory, code);
  std::string reason = code ? code.message() : "";
  if (reason.empty() && !fs::is_directory(directory)) reason = "it is not a directory";
  if (reason.empty() && ::access(directory.c_str(), W_OK | X_OK) != 0) reason = std::strerror(errno);
  if (!reason.empty())
    throw InputError("checkpoint directory '" + directory + "' cannot be written to (" + reason +
                     "); choose another one");
  return made;
}

std::vector<std::string> checkpoint_files(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (is_checkpoint_file(name)) names.push_back(name);
  }
  return names;
}

void remove_empty_directories(const std::string& directory, const std::string& outermost) {
  if (outermost.empty()) return;
  std::error_code ignored;
  for (fs::path part = fs::path(directory).lexically_normal(); fs::remove(part, ignored) && part != fs::path(outermost);
       part = part.parent_path()) {
  }
}

}  // namespace diffsim
