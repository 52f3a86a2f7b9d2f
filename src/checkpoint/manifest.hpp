// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diffsim/checkpoint/checkpoint_directory.hpp"

namespace diffsim {

struct ManifestEntry {
  std::string kind;
  int number = 0;
  std::string name;
  std::uint64_t length = 0;
  std::uint64_t sum = 0;
};

/// Contents of a checkpoint directory.
struct Manifest {
  std::int64_t generation = 0;
  bool failed = false;  ///< so did the run that wrote it
  ProblemParts problem;
  RowOrder::Signature point;
  std::int64_t point_ranks = 0;
  std::vector<ManifestEntry> entries;
};

std::string to_text(const Manifest& manifest);
/// Nothing where `text` is damaged. Throws Error (input) where it is of another version of the format.
std::optional<Manifest> parse_manifest(const std::string& text, const std::string& path);

// Serial; for one rank, inside `collectively`.

/// The newest whole manifest; what is wrong with others is added to `warnings`.
std::optional<Manifest> newest_manifest(const std::string& directory, std::vector<std::string>& warnings);
/// Whether there is one, whole or not.
bool has_manifest(const std::string& directory);
/// In place of the older one of the two.
void write_manifest(const std::string& directory, const Manifest& manifest, FileSystem& files);
/// Which parts differ: "material is another"; empty if none does.
std::string difference_of(const ProblemParts& found, const ProblemParts& expected);

/// Makes a directory and what is above it; returns the outermost one made, empty if it was there. InputError where it
/// cannot be written to.
std::string make_checkpoint_directory(const std::string& directory);
/// Names of the files that CheckpointDirectory makes, manifests aside, whole or not.
std::vector<std::string> checkpoint_files(const std::string& directory);
/// Removes `directory`, and what is above it up to `outermost`, as far as they are empty.
void remove_empty_directories(const std::string& directory, const std::string& outermost);

}  // namespace diffsim
