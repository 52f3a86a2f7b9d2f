// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace diffsim {

/// Kind of a cell. The value is the cell's dimension d, and the cell has d + 1 corners. Points, segments and triangles
/// are always linear.
enum class CellKind : int { point = 0, segment = 1, triangle = 2, tetrahedron = 3 };

/// Kinds of cells of lower dimension than tetrahedra, in ascending order of dimension.
inline constexpr std::array<CellKind, 3> lower_kinds = {CellKind::point, CellKind::segment, CellKind::triangle};

constexpr int dimension_of(CellKind kind) { return static_cast<int>(kind); }
constexpr int corners_of(CellKind kind) { return dimension_of(kind) + 1; }
/// Index of a kind in an array with one entry for each kind, or one entry for each of `lower_kinds`.
constexpr std::size_t index_of(CellKind kind) { return static_cast<std::size_t>(kind); }

/// Number of nodes of a tetrahedron of the given order.
constexpr int nodes_of_order(int order) { return order == 2 ? 10 : 4; }

/// Plural name for messages and scenes: "points", "segments", "triangles", "tetrahedra".
const char* name_of(CellKind kind);
/// Singular name for messages: "point", "segment", "triangle", "tetrahedron".
const char* singular_of(CellKind kind);
/// Kind of cell with the plural name `name`, or an empty optional if no kind has that name.
std::optional<CellKind> cell_kind(const std::string& name);

}  // namespace diffsim
