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

/// Local index of an owned vertex, and the weight of the vertex in a weighted mean.
struct VertexWeight {
  int vertex;
  double weight;
};

/// Returns the local indices of this rank's owned vertices of a region, without directors of rods.
std::vector<int> owned_vertices(const TetrahedralMesh& mesh, const Region& region);

/// Returns the weights w_i of this rank's owned vertices i. The position of `place`, a region or a material point, is
/// Σ_i w_i x_i, summed over all ranks. The position of a region is the mean over the region's vertices without
/// directors. The weights of a point are the values of the shape functions of the tetrahedron that contains the point
/// in the rest shape. Throws Error (input) for an empty region, and the same Errors as `locate_inside`. Collective.
std::vector<VertexWeight> weights_of(const TetrahedralMesh& mesh, const SensorPlace& place);

/// Returns the locations of those points whose tetrahedra are on this rank: tetrahedra with barycentric coordinates.
/// `points`: rest positions (m), the same on every rank. `body`: name of the body; the name may be empty if the mesh
/// has one body. `name(i)`: name of point i for messages. Throws Error (input) for an unknown body, a body without
/// tetrahedra, and a point outside the body. Points of a body that one tetrahedron represents (affine body) may be
/// outside the tetrahedron. Collective.
std::vector<contact::LocatedPoint> locate_inside(const TetrahedralMesh& mesh, const std::string& body,
                                                 const std::vector<std::array<double, 3>>& points,
                                                 const std::function<std::string(std::size_t)>& name);

/// Returns the name of a region or point for messages, for example "region 'foot'" or "point (0.1, 0, 2)".
std::string name_of(const SensorPlace& place);

}  // namespace diffsim::sensor
