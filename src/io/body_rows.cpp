// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/body_rows.hpp"

#include <algorithm>
#include <utility>

#include "core/file_order.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {
namespace {

/// Returns the rows of the entities of body k that have the numbers `from` … `to` - 1.
BodyRows rows_between(std::string group, std::size_t k, std::int64_t from, std::int64_t to, const FileOrder& order) {
  const std::int64_t begin = order.block_begin(), end = begin + order.block_size();
  const auto in_block = [&](std::int64_t number) {
    return static_cast<std::size_t>(std::clamp(number, begin, end) - begin);
  };
  return {std::move(group), k, from, to - from, in_block(from), in_block(to), std::clamp(begin, from, to) - from};
}

/// Returns the rows of all bodies. `first(body)` returns the number of the first entity of a body. `end(k)` returns the
/// number after the last entity of body k.
template <class First, class End>
std::vector<BodyRows> rows_of(const std::vector<MeshBody>& bodies, const First& first, const End& end,
                              const FileOrder& order) {
  if (bodies.empty()) return {rows_between("", 0, 0, order.num_global(), order)};
  std::vector<BodyRows> rows;
  for (std::size_t k = 0; k < bodies.size(); ++k)
    rows.push_back(rows_between("/bodies/" + bodies[k].name, k, first(bodies[k]), end(k), order));
  return rows;
}

/// Returns the rows of the vertices of all bodies without directors, including bodies without rows.
std::vector<BodyRows> rows_without_directors(const TetrahedralMesh& mesh) {
  return rows_of(
      mesh.bodies(), [](const MeshBody& body) { return body.first_vertex; },
      [&](std::size_t k) { return first_director(mesh.bodies(), k, mesh.num_global_vertices()); }, mesh.vertex_order());
}

bool is_rotor_at(const TetrahedralMesh& mesh, std::size_t body) {
  return !mesh.bodies().empty() && is_rotor(mesh.bodies()[body]);
}

}  // namespace

std::vector<BodyRows> vertex_rows(const TetrahedralMesh& mesh) {
  std::vector<BodyRows> rows = rows_without_directors(mesh);
  std::erase_if(rows, [&](const BodyRows& of_body) { return is_rotor_at(mesh, of_body.body); });
  return rows;
}

std::vector<BodyRows> vertex_and_director_rows(const TetrahedralMesh& mesh) {
  std::vector<BodyRows> rows;
  for (BodyRows& places : rows_without_directors(mesh)) {
    const std::size_t k = places.body;
    const std::string group = places.group + "/directors";
    const std::int64_t directors = mesh.bodies().empty() ? 0 : mesh.bodies()[k].num_directors;
    const std::int64_t first = places.first + places.total;
    if (!is_rotor_at(mesh, k)) rows.push_back(std::move(places));
    if (directors > 0) rows.push_back(rows_between(group, k, first, first + directors, mesh.vertex_order()));
  }
  return rows;
}

std::vector<BodyRows> cell_rows(const TetrahedralMesh& mesh, CellKind kind) {
  const bool solid = kind == CellKind::tetrahedron;
  const FileOrder& order = solid ? mesh.cell_order() : *mesh.lower_cells(kind).order;
  const auto first = [&](const MeshBody& body) {
    return solid ? body.first_cell : body.first_lower_cell[index_of(kind)];
  };
  const std::vector<MeshBody>& bodies = mesh.bodies();
  std::vector<BodyRows> rows = rows_of(
      bodies, first, [&](std::size_t k) { return k + 1 < bodies.size() ? first(bodies[k + 1]) : order.num_global(); },
      order);
  std::erase_if(rows, [&](const BodyRows& of_body) { return of_body.total == 0 || is_rotor_at(mesh, of_body.body); });
  return rows;
}

}  // namespace diffsim
