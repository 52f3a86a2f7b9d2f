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
    std::string name;   ///< name of the body's grid, if bodies have names
    std::string group;  ///< HDF5 group of the body's datasets, "/bodies/NAME"; empty for a body without a name
    std::int64_t num_vertices = 0;
    std::int64_t num_cells = 0;
    int nodes_per_cell = 4;  ///< tetrahedra: 4, or 10 in the order of element.hpp; triangles: 3; segments: 2; points: 1
  };
  std::string file;  ///< path of the HDF5 file relative to the XDMF file
  std::vector<Body> bodies;
  std::vector<std::int64_t> steps;
  std::vector<double> times;
  std::vector<Field> fields;
};

/// Returns the text of an XDMF 3 file that describes a time series of the mesh and its fields at the vertices. Each
/// named body is a separate XDMF grid. The geometry is `/positions` if this field is written, otherwise
/// `/mesh/vertices`.
std::string xdmf_text(const XdmfTrajectory& trajectory);

}  // namespace diffsim
