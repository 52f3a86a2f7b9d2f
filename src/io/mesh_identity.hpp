// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cinttypes>
#include <cstdio>
#include <string>

#include "diffsim/mesh/tetrahedral_mesh.hpp"

namespace diffsim {

inline constexpr char fingerprint_attribute[] = "mesh_fingerprint";

/// Returns the text that identifies the mesh in files (attribute `mesh_fingerprint`): the hash
/// `TetrahedralMesh::fingerprint` of the mesh as 16 hexadecimal digits. Collective.
inline std::string fingerprint_text(const TetrahedralMesh& mesh) {
  char text[32];
  std::snprintf(text, sizeof(text), "%016" PRIx64, mesh.fingerprint());
  return text;
}

}  // namespace diffsim
