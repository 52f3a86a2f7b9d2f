// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/mesh/cell_kind.hpp"

namespace diffsim::gmsh {

/// One of Gmsh's numbered element types.
struct ElementType {
  int number;
  int dimension;
  int num_nodes;
  int num_corners;  ///< its leading nodes that a simplex has; 0 where it is none, or of too high an order
  const char* name;
};

/// Null for a number that Gmsh's manual does not list.
const ElementType* find_element_type(int number);

/// Error in an element of the dimension of `kind` that is no cell of that kind, of first or second order; empty for
/// others.
std::string refusal(const ElementType& type, CellKind kind);

}  // namespace diffsim::gmsh
