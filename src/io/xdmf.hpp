// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace diffsim {

/// Contents of an XDMF file that describes a trajectory.
struct XdmfTrajectory {
  struct Field {
    std::string name;
    int components;
  };
  struct Body {
    /// Name of the body and of the body's XDMF grid; not used if the mesh is a single body without a name.
    std::string name;
    std::string group;  ///< group of the body's HDF5 datasets, "/bodies/NAME"; "" (the root) for a body without a name
    std::int64_t num_vertices = 0;
    std::int64_t num_cells = 0;
    /// Number of nodes per cell: 4 or 10 (tetrahedra; 10 nodes in the order of element.hpp), 3 (triangles), 2
    /// (segments) or 1 (points).
    int nodes_per_cell = 4;
  };
  std::string file;  ///< path of the HDF5 file relative to the XDMF file
  std::vector<Body> bodies;
  std::vector<std::int64_t> steps;
  std::vector<double> times;
  std::vector<Field> fields;
};

/// Returns the text of an XDMF 3 file that describes a time series of a mesh and of the mesh's fields at the vertices.
/// Each named body is a separate XDMF grid. The geometry of an XDMF grid is the dataset `positions` of the body's group
/// if the trajectory contains the field `positions`, otherwise the dataset `mesh/vertices` of the body's group.
std::string xdmf_text(const XdmfTrajectory& trajectory);

}  // namespace diffsim
