// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace diffsim::gmsh {

/// One of Gmsh's numbered element types.
struct ElementType {
  int number;
  int dimension;
  int num_nodes;
  int num_corners;  ///< its leading nodes that a tetrahedral mesh can use; 0 where it can use none
  const char* name;
};

/// Null for a number that Gmsh's manual does not list.
const ElementType* find_element_type(int number);

/// Fault of a 3-D element that is no tetrahedron of first or second order; empty for those that are fine.
std::string refusal(const ElementType& type);

}  // namespace diffsim::gmsh
