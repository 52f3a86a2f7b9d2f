// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "app/yaml_value.hpp"

namespace diffsim::app {

/// Checks that a folder can be made and written to, and that none of `files` in it is something that cannot be
/// replaced; leaves nothing behind. Throws InputError at `place`. Collective: rank 0 does it.
void require_writable(MPI_Comm comm, const std::string& directory, const std::vector<std::string>& files,
                      const Place& place);

/// The folder of a run's results. The first `path` makes it.
class OutputFolder {
 public:
  OutputFolder(MPI_Comm comm, std::string directory) : comm_(comm), directory_(std::move(directory)) {}

  const std::string& directory() const { return directory_; }
  /// Makes the folder. Collective.
  void create();
  bool created() const { return created_; }
  /// `directory`/`name`.
  std::string path(const std::string& name) const;
  /// Writes a file so that readers see the old one or the whole new one. Collective: rank 0 does it.
  void write(const std::string& name, const std::string& text) const;

 private:
  MPI_Comm comm_;
  std::string directory_;
  bool created_ = false;
};

}  // namespace diffsim::app
