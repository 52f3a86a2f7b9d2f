// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "body_rows.hpp"

#include <algorithm>

namespace diffsim {
namespace {

/// `first(body)`: number of the first thing of a body.
template <class First>
std::vector<BodyRows> rows_of(const std::vector<MeshBody>& bodies, const First& first, const FileOrder& order) {
  const std::int64_t begin = order.block_begin(), end = begin + order.block_size();
  if (bodies.empty()) return {{"", 0, 0, order.num_global(), 0, static_cast<std::size_t>(order.block_size()), begin}};
  std::vector<BodyRows> rows;
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const std::int64_t from = first(bodies[k]), to = k + 1 < bodies.size() ? first(bodies[k + 1]) : order.num_global();
    const auto in_block = [&](std::int64_t number) {
      return static_cast<std::size_t>(std::clamp(number, begin, end) - begin);
    };
    rows.push_back({"/bodies/" + bodies[k].name, k, from, to - from, in_block(from), in_block(to),
                    std::clamp(begin, from, to) - from});
  }
  return rows;
}

}  // namespace

std::vector<BodyRows> vertex_rows(const TetrahedralMesh& mesh) {
  return rows_of(
      mesh.bodies(), [](const MeshBody& body) { return body.first_vertex; }, mesh.vertex_order());
}

std::vector<BodyRows> cell_rows(const TetrahedralMesh& mesh, CellKind kind) {
  const bool solid = kind == CellKind::tetrahedron;
  std::vector<BodyRows> rows = rows_of(
      mesh.bodies(),
      [&](const MeshBody& body) { return solid ? body.first_cell : body.first_lower_cell[index_of(kind)]; },
      solid ? mesh.cell_order() : *mesh.lower_cells(kind).order);
  std::erase_if(rows, [](const BodyRows& of_body) { return of_body.total == 0; });
  return rows;
}

}  // namespace diffsim
