// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/gmsh/gmsh_elements.hpp"

#include <algorithm>
#include <iterator>

namespace diffsim::gmsh {
namespace {

// Element types of the Gmsh reference manual, "MSH file format".
constexpr ElementType types[] = {
    {1, 1, 2, 2, "line"},          {2, 2, 3, 3, "triangle"},      {3, 2, 4, 0, "quadrangle"},
    {4, 3, 4, 4, "tetrahedron"},   {5, 3, 8, 0, "hexahedron"},    {6, 3, 6, 0, "prism"},
    {7, 3, 5, 0, "pyramid"},       {8, 1, 3, 2, "line"},          {9, 2, 6, 3, "triangle"},
    {10, 2, 9, 0, "quadrangle"},   {11, 3, 10, 4, "tetrahedron"}, {12, 3, 27, 0, "hexahedron"},
    {13, 3, 18, 0, "prism"},       {14, 3, 14, 0, "pyramid"},     {15, 0, 1, 1, "point"},
    {16, 2, 8, 0, "quadrangle"},   {17, 3, 20, 0, "hexahedron"},  {18, 3, 15, 0, "prism"},
    {19, 3, 13, 0, "pyramid"},     {20, 2, 9, 0, "triangle"},     {21, 2, 10, 0, "triangle"},
    {22, 2, 12, 0, "triangle"},    {23, 2, 15, 0, "triangle"},    {24, 2, 15, 0, "triangle"},
    {25, 2, 21, 0, "triangle"},    {26, 1, 4, 0, "line"},         {27, 1, 5, 0, "line"},
    {28, 1, 6, 0, "line"},         {29, 3, 20, 0, "tetrahedron"}, {30, 3, 35, 0, "tetrahedron"},
    {31, 3, 56, 0, "tetrahedron"}, {92, 3, 64, 0, "hexahedron"},  {93, 3, 125, 0, "hexahedron"}};

}  // namespace

const ElementType* find_element_type(int number) {
  const auto* found = std::find_if(std::begin(types), std::end(types),
                                   [number](const ElementType& type) { return type.number == number; });
  return found == std::end(types) ? nullptr : found;
}

std::string refusal(const ElementType& type, CellKind kind) {
  if (type.dimension != dimension_of(kind) || type.num_corners > 0) return {};
  constexpr const char* singular[] = {"point", "line", "triangle", "tetrahedron"};
  const std::string wanted = singular[index_of(kind)];
  const std::string what = "element type " + std::to_string(type.number) + " (" + std::to_string(type.num_nodes) +
                           "-node " + type.name + ")";
  if (type.name == wanted)
    return what + " is of too high an order; save the mesh first- or second-order (in Gmsh: -order 2)";
  return what + " is not a " + wanted + "; mesh the " + (kind == CellKind::triangle ? "surface" : "volume") + " with " +
         name_of(kind) + " only (in Gmsh: without recombination)";
}

}  // namespace diffsim::gmsh
