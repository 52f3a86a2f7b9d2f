// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint_directory.hpp"

namespace diffsim {

/// Entry of a manifest: kind, number, name, length (bytes) and checksum of a complete checkpoint file.
struct ManifestEntry {
  std::string kind;
  int number = 0;
  std::string name;
  std::uint64_t length = 0;
  std::uint64_t sum = 0;
};

/// Manifest of a checkpoint directory: the identity of the problem, the signature of the parameters and of the initial
/// state, and the list of the complete checkpoint files.
struct Manifest {
  std::int64_t generation = 0;
  bool failed = false;  ///< true if the run that wrote the manifest failed
  ProblemParts problem;
  RowOrder::Signature point;
  std::int64_t point_ranks = 0;
  std::vector<ManifestEntry> entries;
};

std::string to_text(const Manifest& manifest);
/// Parses the text of a manifest; returns nullopt if the text is damaged. Throws Error (input) if the manifest has a
/// format version that this program does not read. `path`: path of the manifest, for error messages.
std::optional<Manifest> parse_manifest(const std::string& text, const std::string& path);

// The following functions are serial: one rank calls them inside `collectively`.

/// Returns the newest intact manifest of a directory, or nullopt if no manifest is intact. Adds a warning for each
/// damaged manifest to `warnings`.
std::optional<Manifest> newest_manifest(const std::string& directory, std::vector<std::string>& warnings);
/// Returns true if the directory has a manifest, intact or damaged.
bool has_manifest(const std::string& directory);
/// Writes a manifest in place of the older of the directory's two manifest files.
void write_manifest(const std::string& directory, const Manifest& manifest, FileSystem& files);
/// Returns a text that names the parts of a problem that differ, for example "material differs". The text is empty if
/// all parts agree.
std::string difference_of(const ProblemParts& found, const ProblemParts& expected);

/// Creates a directory and its parent directories if they do not exist. Returns the path of the outermost directory
/// that was created, or an empty string if the directory existed already. Throws Error (input) if the directory
/// `directory` is not writable.
std::string make_checkpoint_directory(const std::string& directory);
/// Returns the names of those files in a directory that a CheckpointDirectory has written, including incompletely
/// written files, but excluding complete manifests.
std::vector<std::string> checkpoint_files(const std::string& directory);
/// Removes the directory `directory` and then its parent directories up to and including `outermost`, but stops at the
/// first directory that is not empty.
void remove_empty_directories(const std::string& directory, const std::string& outermost);

}  // namespace diffsim
