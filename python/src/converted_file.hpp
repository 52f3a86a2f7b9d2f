// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <nanobind/nanobind.h>

#include <string>

#include "scene_record.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// Returns whether only the package meshio reads the format of a mesh file. The caller must hold the GIL.
bool needs_conversion(const std::string& path);

/// Mesh file that the library can read: the given file or, if only the package meshio reads the format of the given
/// file, a converted file in a temporary folder on the first rank.
class ConvertedFile {
 public:
  /// Converts the file `path` if necessary. Throws the same Error (input) on every rank if the file cannot be
  /// converted. The caller must not hold the GIL. Collective.
  ConvertedFile(MPI_Comm comm, const std::string& path);
  ~ConvertedFile();  ///< deletes the temporary folder
  ConvertedFile(const ConvertedFile&) = delete;
  ConvertedFile& operator=(const ConvertedFile&) = delete;
  /// Path of the file to read. Only the first rank's path may refer to a converted file.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  nb::object folder_;
};

/// Returns the record of a mesh that is read from a file. No scene file can describe a mesh that only meshio reads. The
/// caller must hold the GIL.
BodyRecord record_mesh_file(const std::string& path, double scale, CellKind cells = CellKind::tetrahedron);

}  // namespace diffsim::python
