// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/tetrahedral_mesh.hpp"

#include "core/file_order.hpp"

namespace diffsim {
namespace {

std::vector<std::int64_t> numbers_of(const FileOrder& order) {
  return {order.file_index().begin(), order.file_index().end()};
}

}  // namespace

std::vector<std::int64_t> vertex_numbers(const TetrahedralMesh& mesh) { return numbers_of(mesh.vertex_order()); }

std::vector<std::int64_t> cell_numbers(const TetrahedralMesh& mesh) { return numbers_of(mesh.cell_order()); }

}  // namespace diffsim
