// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diffsim/mesh/mesh_data.hpp"

namespace diffsim {

/// Name of the body of a mesh whose `bodies` are empty.
inline constexpr const char* unnamed_body = "body";

/// Names of the bodies of a mesh, in their order: at least one.
std::vector<std::string> body_names(const std::vector<MeshBody>& bodies);

/// Index of the body that has the vertex, or the cell, with this number in the file; 0 where `bodies` is empty.
int body_of_vertex(const std::vector<MeshBody>& bodies, std::int64_t number);
int body_of_cell(const std::vector<MeshBody>& bodies, std::int64_t number);
/// Body of a cell of any kind, whose number counts the cells of that kind.
int body_of_cell(const std::vector<MeshBody>& bodies, std::int64_t number, CellKind kind);

/// Number of the first director of a body, in a mesh of so many vertices: where the body's places end.
std::int64_t first_director(const std::vector<MeshBody>& bodies, std::size_t body, std::int64_t num_vertices);

/// Name of a vertex, or of a cell, for messages: its number in the file, "17"; in a mesh of several bodies its number
/// within its body, "17 of gripper".
std::string vertex_name(const std::vector<MeshBody>& bodies, std::int64_t number);
std::string cell_name(const std::vector<MeshBody>& bodies, std::int64_t number);
/// Name of a cell of any kind, whose number counts the cells of that kind.
std::string cell_name(const std::vector<MeshBody>& bodies, std::int64_t number, CellKind kind);

}  // namespace diffsim
