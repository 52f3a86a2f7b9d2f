// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/region.hpp"

namespace diffsim {
namespace {

constexpr std::array<const char*, 4> plurals = {"points", "segments", "triangles", "tetrahedra"};

}  // namespace

const char* name_of(CellKind kind) { return plurals[index_of(kind)]; }

const char* singular_of(CellKind kind) {
  constexpr const char* names[] = {"point", "segment", "triangle", "tetrahedron"};
  return names[index_of(kind)];
}

std::optional<CellKind> cell_kind(const std::string& name) {
  for (std::size_t k = 0; k < plurals.size(); ++k)
    if (name == plurals[k]) return static_cast<CellKind>(k);
  return {};
}

}  // namespace diffsim
