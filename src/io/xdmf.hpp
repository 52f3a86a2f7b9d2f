// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace diffsim {

/// Contents of an XDMF file about a trajectory.
struct XdmfTrajectory {
  struct Field {
    std::string name;
    int components;
  };
  struct Body {
    std::string name;   ///< of its grid, where bodies have names
    std::string group;  ///< of its datasets in the HDF5 file: "/bodies/NAME"; empty for a body without a name
    std::int64_t num_vertices = 0;
    std::int64_t num_cells = 0;
    int nodes_per_cell =
        4;  ///< 10, in the order of element.hpp, or 4: tetrahedra; 3: triangles, 2: segments, 1: points
  };
  std::string file;  ///< the HDF5 file as seen from the XDMF file
  std::vector<Body> bodies;
  std::vector<std::int64_t> steps;
  std::vector<double> times;
  std::vector<Field> fields;
};

/// The text of an XDMF 3 file: a series in time of the mesh, one grid for each body where these have names, with its
/// fields at the vertices. Vertices stand where `/positions` says, else at `/mesh/vertices`.
std::string xdmf_text(const XdmfTrajectory& trajectory);

}  // namespace diffsim
