// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/bodies.hpp"

#include <algorithm>

namespace diffsim {
namespace {

/// Index of the body that contains the entity with this number. `first(body)`: number of the first entity of a body.
template <class First>
int body_of(const std::vector<MeshBody>& bodies, const First& first, std::int64_t number) {
  const auto after = std::upper_bound(bodies.begin(), bodies.end(), number,
                                      [&](std::int64_t n, const MeshBody& body) { return n < first(body); });
  return std::max(static_cast<int>(after - bodies.begin()) - 1, 0);
}

template <class First>
std::string name_in_body(const std::vector<MeshBody>& bodies, const First& first, std::int64_t number) {
  if (bodies.size() < 2) return std::to_string(number);
  const MeshBody& body = bodies[static_cast<std::size_t>(body_of(bodies, first, number))];
  return std::to_string(number - first(body)) + " of " + body.name;
}

std::int64_t first_vertex(const MeshBody& body) { return body.first_vertex; }
/// Function object: number of the first cell of `kind`, one of `lower_kinds`, in a body.
struct FirstOfKind {
  CellKind kind;
  std::int64_t operator()(const MeshBody& body) const { return body.first_lower_cell[index_of(kind)]; }
};
std::int64_t first_cell(const MeshBody& body) { return body.first_cell; }

}  // namespace

std::vector<std::string> body_names(const std::vector<MeshBody>& bodies) {
  if (bodies.empty()) return {unnamed_body};
  std::vector<std::string> names;
  for (const MeshBody& body : bodies) names.push_back(body.name);
  return names;
}

int body_of_vertex(const std::vector<MeshBody>& bodies, std::int64_t number) {
  return body_of(bodies, first_vertex, number);
}
int body_of_cell(const std::vector<MeshBody>& bodies, std::int64_t number) {
  return body_of(bodies, first_cell, number);
}

int body_of_cell(const std::vector<MeshBody>& bodies, std::int64_t number, CellKind kind) {
  if (kind == CellKind::tetrahedron) return body_of_cell(bodies, number);
  return body_of(bodies, FirstOfKind{kind}, number);
}

std::int64_t first_director(const std::vector<MeshBody>& bodies, std::size_t body, std::int64_t num_vertices) {
  if (bodies.empty()) return num_vertices;
  const std::int64_t end = body + 1 < bodies.size() ? bodies[body + 1].first_vertex : num_vertices;
  return end - bodies[body].num_directors;
}

bool is_rotor(const MeshBody& body) { return body.kind == CellKind::point && body.num_directors > 0; }

std::string vertex_name(const std::vector<MeshBody>& bodies, std::int64_t number) {
  return name_in_body(bodies, first_vertex, number);
}
std::string cell_name(const std::vector<MeshBody>& bodies, std::int64_t number) {
  return name_in_body(bodies, first_cell, number);
}
std::string cell_name(const std::vector<MeshBody>& bodies, std::int64_t number, CellKind kind) {
  if (kind == CellKind::tetrahedron) return cell_name(bodies, number);
  return name_in_body(bodies, FirstOfKind{kind}, number);
}

}  // namespace diffsim
