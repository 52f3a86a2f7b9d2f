// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "app/yaml_value.hpp"

namespace diffsim::app {

/// Checks that a folder can be created and written to, and that no name in `files` is taken by something that is not a
/// regular file. Leaves no files behind. Throws InputError at `place`. Collective; rank 0 does the work.
void require_writable(MPI_Comm comm, const std::string& directory, const std::vector<std::string>& files,
                      const Place& place);

/// Folder of a run's results.
class OutputFolder {
 public:
  OutputFolder(MPI_Comm comm, std::string directory) : comm_(comm), directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }
  /// Creates the folder. Collective.
  void create();
  bool created() const { return created_; }
  /// Returns `directory`/`name`.
  std::string path(const std::string& name) const;
  /// Writes a file so that readers see either the old file or the complete new file. Collective; rank 0 does the work.
  void write(const std::string& name, const std::string& text) const;

 private:
  MPI_Comm comm_;
  std::string directory_;
  bool created_ = false;
};

}  // namespace diffsim::app
