// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace diffsim {

/// Kinds of cells by their dimension: a cell of dimension d has d + 1 corners. Cells below tetrahedra are linear.
enum class CellKind : int { point = 0, segment = 1, triangle = 2, tetrahedron = 3 };

/// Kinds of a dimension below that of tetrahedra, in the order of their dimensions.
inline constexpr std::array<CellKind, 3> lower_kinds = {CellKind::point, CellKind::segment, CellKind::triangle};

constexpr int dimension_of(CellKind kind) { return static_cast<int>(kind); }
constexpr int corners_of(CellKind kind) { return dimension_of(kind) + 1; }
/// Place of a kind in an array with an entry for each of `lower_kinds`, or for each kind.
constexpr std::size_t index_of(CellKind kind) { return static_cast<std::size_t>(kind); }

/// Plural name for messages and scenes: "points", "segments", "triangles", "tetrahedra".
const char* name_of(CellKind kind);
/// Name of one cell: "point", "segment", "triangle", "tetrahedron".
const char* singular_of(CellKind kind);
/// Kind of that plural name, if there is one.
std::optional<CellKind> cell_kind(const std::string& name);

}  // namespace diffsim
