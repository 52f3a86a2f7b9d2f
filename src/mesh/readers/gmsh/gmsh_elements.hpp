// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "diffsim/mesh/region.hpp"

namespace diffsim::gmsh {

/// Gmsh element type.
struct ElementType {
  int number;
  int dimension;
  int num_nodes;
  int num_corners;  ///< number of corners (the first nodes) of a simplex of order 1 or 2; 0 for other element types
  const char* name;
};

/// Returns the element type with the given Gmsh number, or nullptr if the library does not know the type.
const ElementType* find_element_type(int number);

/// Returns an error message if the element type `type` has the dimension of the cell kind `kind` but is not a first- or
/// second-order cell of this kind, otherwise an empty string.
std::string refusal(const ElementType& type, CellKind kind);

}  // namespace diffsim::gmsh
