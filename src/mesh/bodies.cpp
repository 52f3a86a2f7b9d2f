// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/bodies.hpp"

#include <algorithm>

namespace diffsim {
namespace {

/// Index of the body that has the thing with this number; `first` is where the first one's number stands.
int body_of(const std::vector<MeshBody>& bodies, std::int64_t MeshBody::*first, std::int64_t number) {
  const auto after = std::upper_bound(bodies.begin(), bodies.end(), number,
                                      [&](std::int64_t n, const MeshBody& body) { return n < body.*first; });
  return std::max(static_cast<int>(after - bodies.begin()) - 1, 0);
}

std::string name_of(const std::vector<MeshBody>& bodies, std::int64_t MeshBody::*first, std::int64_t number) {
  if (bodies.size() < 2) return std::to_string(number);
  const MeshBody& body = bodies[static_cast<std::size_t>(body_of(bodies, first, number))];
  return std::to_string(number - body.*first) + " of " + body.name;
}

}  // namespace

std::vector<std::string> body_names(const std::vector<MeshBody>& bodies) {
  if (bodies.empty()) return {unnamed_body};
  std::vector<std::string> names;
  for (const MeshBody& body : bodies) names.push_back(body.name);
  return names;
}

int body_of_vertex(const std::vector<MeshBody>& bodies, std::int64_t number) {
  return body_of(bodies, &MeshBody::first_vertex, number);
}
int body_of_cell(const std::vector<MeshBody>& bodies, std::int64_t number) {
  return body_of(bodies, &MeshBody::first_cell, number);
}

std::string vertex_name(const std::vector<MeshBody>& bodies, std::int64_t number) {
  return name_of(bodies, &MeshBody::first_vertex, number);
}
std::string cell_name(const std::vector<MeshBody>& bodies, std::int64_t number) {
  return name_of(bodies, &MeshBody::first_cell, number);
}

}  // namespace diffsim
