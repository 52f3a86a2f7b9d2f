// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "converted_file.hpp"

#include <nanobind/stl/string.h>

#include <filesystem>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::python {

bool needs_conversion(const std::string& path) {
  return nb::cast<bool>(nb::module_::import_("diffsim._mesh_files").attr("needs_meshio")(path));
}

ConvertedFile::ConvertedFile(MPI_Comm comm, const std::string& path) : path_(path) {
  collectively(comm, [&] {
    if (!is_first_rank(comm)) return;
    const nb::gil_scoped_acquire with_gil;
    if (!needs_conversion(path)) return;
    const nb::object files = nb::module_::import_("diffsim._mesh_files");
    const nb::object folder =
        nb::module_::import_("tempfile").attr("TemporaryDirectory")(nb::arg("ignore_cleanup_errors") = true);
    path_ = nb::cast<std::string>(folder.attr("name")) + "/" + std::filesystem::path(path).filename().string() + ".msh";
    const auto reason = nb::cast<std::string>(files.attr("convert")(path, path_));
    if (!reason.empty()) {
      folder.attr("cleanup")();
      throw InputError(reason);
    }
    folder_ = folder;
  });
}

BodyRecord record_mesh_file(const std::string& path, double scale, CellKind cells) {
  if (needs_conversion(path)) return record_refused("the mesh of the file '" + path + "', which only meshio reads");
  return record_file(path, scale, cells);
}

ConvertedFile::~ConvertedFile() {
  const nb::gil_scoped_acquire with_gil;
  try {
    if (folder_.is_valid()) folder_.attr("cleanup")();
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("the deletion of a temporary folder");
  }
  folder_.reset();
}

}  // namespace diffsim::python
