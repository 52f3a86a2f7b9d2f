// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/readers/exodus_elements.hpp"

namespace diffsim::exodus {
namespace {

/// Element type, identified by a prefix of its name and by the number of nodes. Mid-edge nodes are in the order of
/// element.hpp.
struct ElementType {
  const char* prefix;
  ElementShape shape;
};
constexpr ElementType types[] = {{"SPHERE", {0, 1, 1, "sphere"}},
                                 {"CIRCLE", {0, 1, 1, "circle"}},
                                 {"POINT", {0, 1, 1, "point"}},
                                 {"NODE", {0, 1, 1, "node"}},
                                 {"BAR", {1, 2, 2, "bar"}},
                                 {"BAR", {1, 3, 2, "bar of 3 nodes"}},
                                 {"BEAM", {1, 2, 2, "beam"}},
                                 {"BEAM", {1, 3, 2, "beam of 3 nodes"}},
                                 {"TRUSS", {1, 2, 2, "truss"}},
                                 {"TRUSS", {1, 3, 2, "truss of 3 nodes"}},
                                 {"EDGE", {1, 2, 2, "edge"}},
                                 {"EDGE", {1, 3, 2, "edge of 3 nodes"}},
                                 {"TRI", {2, 3, 3, "triangle"}},
                                 {"TRI", {2, 6, 3, "triangle of 6 nodes"}},
                                 {"TRI", {2, 0, 0, "triangle of other nodes"}},
                                 {"SHELL", {2, 3, 3, "shell"}},
                                 {"SHELL", {2, 6, 3, "shell of 6 nodes"}},
                                 {"SHELL", {2, 0, 0, "shell of four sides"}},
                                 {"QUAD", {2, 0, 0, "quadrilateral"}},
                                 {"TET", {3, 4, 4, "tetrahedron"}},
                                 {"TET", {3, 10, 4, "tetrahedron of 10 nodes"}},
                                 {"TET", {3, 0, 0, "tetrahedron of other nodes"}},
                                 {"HEX", {3, 0, 0, "hexahedron"}},
                                 {"WEDGE", {3, 0, 0, "wedge"}},
                                 {"PYR", {3, 0, 0, "pyramid"}}};

}  // namespace

const ElementShape* find_shape(const std::string& type, std::size_t nodes) {
  for (const ElementType& known : types)
    if (type.rfind(known.prefix, 0) == 0 &&
        (known.shape.num_nodes == 0 || static_cast<std::size_t>(known.shape.num_nodes) == nodes))
      return &known.shape;
  return nullptr;
}

}  // namespace diffsim::exodus
