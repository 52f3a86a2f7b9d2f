// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "converted_file.hpp"

#include <nanobind/stl/string.h>

#include <filesystem>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::python {

ConvertedFile::ConvertedFile(MPI_Comm comm, const std::string& path) : path_(path) {
  collectively(comm, [&] {
    if (!is_first_rank(comm)) return;
    const nb::gil_scoped_acquire with_gil;
    const nb::object files = nb::module_::import_("diffsim._mesh_files");
    if (!nb::cast<bool>(files.attr("needs_meshio")(path))) return;
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

ConvertedFile::~ConvertedFile() {
  const nb::gil_scoped_acquire with_gil;
  if (folder_.is_valid()) folder_.attr("cleanup")();
  folder_.reset();
}

}  // namespace diffsim::python
