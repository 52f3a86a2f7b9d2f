// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdlib>
#include <filesystem>

namespace diffsim::testing_data {

/// Returns the folder of meshes produced by other programs: `meshes/` in the folder named by the environment variable
/// DIFFSIM_DATA, by default in DIFFSIM_DATA_DIR. Returns an empty path if the folder does not exist.
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
