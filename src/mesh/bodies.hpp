// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Name of the one body that a mesh with an empty list of bodies consists of.
inline constexpr const char* unnamed_body = "body";

/// Returns the names of the bodies of a mesh, in the order of the list `bodies`; returns only the name `unnamed_body`
/// if the list is empty.
std::vector<std::string> body_names(const std::vector<MeshBody>& bodies);

/// Returns the index in the list `bodies` of the body that contains a vertex (body_of_vertex()) or a tetrahedron
/// (body_of_cell()); returns 0 if the list is empty. `number`: 0-based number of the vertex or tetrahedron in the mesh
/// file.
int body_of_vertex(const std::vector<MeshBody>& bodies, std::int64_t number);
int body_of_cell(const std::vector<MeshBody>& bodies, std::int64_t number);
/// Overload of `body_of_cell` for a cell of any kind. `number`: 0-based number of the cell in the mesh file; cells of
/// each kind are numbered separately.
int body_of_cell(const std::vector<MeshBody>& bodies, std::int64_t number, CellKind kind);

/// Returns the 0-based number in the mesh file of the first director of the body with the index `body`, in a mesh with
/// `num_vertices` vertices. Directors are vectors, stored as the last vertices of a body; all vertices of the body with
/// lower numbers are positions. If the body has no directors, first_director() returns the number after the body's last
/// vertex.
std::int64_t first_director(const std::vector<MeshBody>& bodies, std::size_t body, std::int64_t num_vertices);

/// Returns true if the body is the rotor of a joint (`rotor_mesh`), which is a body of points whose vertices are
/// directors.
bool is_rotor(const MeshBody& body);

/// Name of a vertex, or of a tetrahedron, for messages: the number in the mesh file, for example "17". In a mesh of
/// several bodies the name of a vertex or tetrahedron consists of the number within the body and the name of the body,
/// for example "17 of gripper".
std::string vertex_name(const std::vector<MeshBody>& bodies, std::int64_t number);
std::string cell_name(const std::vector<MeshBody>& bodies, std::int64_t number);
/// Overload of `cell_name` for a cell of any kind. `number`: 0-based number of the cell in the mesh file; cells of each
/// kind are numbered separately.
std::string cell_name(const std::vector<MeshBody>& bodies, std::int64_t number, CellKind kind);

}  // namespace diffsim
