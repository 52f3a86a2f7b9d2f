// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Name of the single body of a mesh whose list of bodies is empty.
inline constexpr const char* unnamed_body = "body";

/// Returns the names of the bodies of a mesh, in the order of `bodies`. Returns {unnamed_body} if `bodies` is empty.
std::vector<std::string> body_names(const std::vector<MeshBody>& bodies);

/// Index in `bodies` of the body that contains the vertex, or the tetrahedron, with the file number `number` (0-based);
/// 0 if `bodies` is empty.
int body_of_vertex(const std::vector<MeshBody>& bodies, std::int64_t number);
int body_of_cell(const std::vector<MeshBody>& bodies, std::int64_t number);
/// Overload of `body_of_cell` for a cell of any kind. `number`: 0-based file number; cells of each kind are numbered
/// separately.
int body_of_cell(const std::vector<MeshBody>& bodies, std::int64_t number, CellKind kind);

/// File number of the first director of a body, in a mesh with `num_vertices` vertices. Directors are vectors, stored
/// as the last vertices of a body; all vertices of the body with lower numbers are positions. If the body has no
/// directors, the result is the number after the body's last vertex.
std::int64_t first_director(const std::vector<MeshBody>& bodies, std::size_t body, std::int64_t num_vertices);

/// Returns true if the body is the rotor of a joint (`rotor_mesh`), that is, points whose vertices are directors.
bool is_rotor(const MeshBody& body);

/// Name of a vertex, or of a tetrahedron, for messages: the file number, for example "17". In a mesh of several bodies
/// the name consists of the number within the body and the name of the body, for example "17 of gripper".
std::string vertex_name(const std::vector<MeshBody>& bodies, std::int64_t number);
std::string cell_name(const std::vector<MeshBody>& bodies, std::int64_t number);
/// Overload of `cell_name` for a cell of any kind. `number`: 0-based file number; cells of each kind are numbered
/// separately.
std::string cell_name(const std::vector<MeshBody>& bodies, std::int64_t number, CellKind kind);

}  // namespace diffsim
