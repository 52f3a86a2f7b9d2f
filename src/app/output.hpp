// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "app/yaml_value.hpp"

namespace diffsim::app {

/// Throws InputError at the location `place` in the scene file if the folder `directory` cannot be created or written
/// to, or if a name in `files` exists in the folder, but is not a regular file. All files and folders that are created
/// to test write access are removed. Collective; only rank 0 accesses the disk.
void require_writable(MPI_Comm comm, const std::string& directory, const std::vector<std::string>& files,
                      const Place& place);

/// Folder into which a run writes results.
class OutputFolder {
 public:
  /// `is_silent`: if true, the function `write` does nothing, because another group of processes writes the files.
  OutputFolder(MPI_Comm comm, std::string directory, bool is_silent = false)
      : comm_(comm), directory_(std::move(directory)), is_silent_(is_silent) {}

  const std::string& directory() const { return directory_; }
  /// Creates the folder. Collective.
  void create();
  bool created() const { return created_; }
  /// Returns `directory`/`name`.
  std::string path(const std::string& name) const;
  /// Writes a file atomically: readers see either the old file or the complete new file. Collective; only rank 0
  /// accesses the disk.
  void write(const std::string& name, const std::string& text) const;

 private:
  MPI_Comm comm_;
  std::string directory_;
  bool is_silent_, created_ = false;
};

}  // namespace diffsim::app
