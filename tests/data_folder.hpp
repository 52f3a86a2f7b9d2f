// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <filesystem>

namespace diffsim::testing_data {

/// The folder of the meshes made elsewhere; empty where there is none. DIFFSIM_DATA names the folder that holds
/// meshes/.
inline std::filesystem::path meshes_folder() {
  const char* given = std::getenv("DIFFSIM_DATA");
#ifdef DIFFSIM_DATA_DIR
  if (!given) given = DIFFSIM_DATA_DIR;
#endif
  const auto folder = given ? std::filesystem::path(given) / "meshes" : std::filesystem::path();
  return std::filesystem::is_directory(folder) ? folder : std::filesystem::path();
}

}  // namespace diffsim::testing_data

#define DIFFSIM_SKIP_WITHOUT_MESHES()                   \
  if (::diffsim::testing_data::meshes_folder().empty()) \
  GTEST_SKIP() << "no meshes: set DIFFSIM_DATA to the folder that holds meshes/"
