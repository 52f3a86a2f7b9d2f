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
    std::string group;  ///< of its datasets in the HDF5 file: "/bodies/NAME"; empty for a body without a name
    std::int64_t num_vertices = 0;
    std::int64_t num_cells = 0;
  };
  std::string file;  ///< the HDF5 file as seen from the XDMF file
  std::vector<Body> bodies;
  int nodes_per_cell = 4;  ///< 4 or 10, in the order of element.hpp
  std::vector<std::int64_t> steps;
  std::vector<double> times;
  std::vector<Field> fields;
};

/// The text of an XDMF 3 file: a series in time of the mesh, one grid for each body where these have names, with its
/// fields at the vertices. Vertices stand where `/positions` says, else at `/mesh/vertices`.
std::string xdmf_text(const XdmfTrajectory& trajectory);

}  // namespace diffsim
