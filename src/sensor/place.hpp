// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "contact/locate_points.hpp"
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
/// the point at rest. Throws Error (input) for an empty region, and the same Errors as `locate_inside`.
/// Collective.
std::vector<VertexWeight> weights_of(const TetrahedralMesh& mesh, const SensorPlace& place);

/// Returns those points of a body whose tetrahedra are on this rank. `points`: rest positions (m), the same on every
/// rank. `body`: name of the body, which may be empty if the mesh has one body. `name(i)`: name of point i for
/// messages. Throws Error (input) for an unknown body, a body without tetrahedra, and a point outside the body. Points
/// may be outside the tetrahedron of an affine body. Collective.
std::vector<contact::LocatedPoint> locate_inside(const TetrahedralMesh& mesh, const std::string& body,
                                                 const std::vector<std::array<double, 3>>& points,
                                                 const std::function<std::string(std::size_t)>& name);

/// Returns the name of a place for messages, for example "region 'foot'" or "point (0.1, 0, 2)".
std::string name_of(const SensorPlace& place);

}  // namespace diffsim::sensor
