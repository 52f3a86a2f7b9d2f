// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "diffsim/sensor/sensor.hpp"

namespace diffsim::sensor {

/// Weight of an owned vertex in a weighted mean.
struct VertexWeight {
  int vertex;
  double weight;
};

/// Returns the owned vertices of a region without directors.
std::vector<int> owned_vertices(const TetrahedralMesh& mesh, const Region& region);

/// Returns the weights of this rank's vertices in the position of a place. A region's position is the mean over its
/// vertices; directors are left out. The weights of a point are the shape functions of the tetrahedron that contains
/// the point at rest. Throws Error (input) for an empty region, an unknown body, and a point that is not inside a
/// tetrahedron. Collective.
std::vector<VertexWeight> weights_of(const TetrahedralMesh& mesh, const SensorPlace& place);

/// Returns the name of a place for messages, for example "region 'foot'" or "point (0.1, 0, 2)".
std::string name_of(const SensorPlace& place);

}  // namespace diffsim::sensor
