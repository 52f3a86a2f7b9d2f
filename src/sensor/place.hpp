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

/// Returns the local indices of those vertices of a region that this rank owns, without the vertices that represent
/// directors of rods.
std::vector<int> owned_vertices(const TetrahedralMesh& mesh, const Region& region);

/// Returns the weights w_i that define the position Σ_i w_i x_i of the region or material point `place`, for those
/// vertices i that have a weight and that this rank owns. The vectors x_i are vertex positions, and the sum is over the
/// vertices of all ranks. The position of a region is the mean of the positions of the region's vertices, without
/// directors of rods. The weights of a material point are the values of the shape functions of the tetrahedron that
/// contains the point in the rest shape. Throws Error (input) for an empty region, and the same Errors as
/// `locate_inside` for a material point. Collective.
std::vector<VertexWeight> weights_of(const TetrahedralMesh& mesh, const SensorPlace& place);

/// Returns, for each point whose tetrahedron is stored on this rank, the nodes of the tetrahedron and their weights in
/// the position of the point (values of the shape functions). Each point is returned on exactly one rank. `points`:
/// rest positions (m) of the points, the same on every rank. `body`: name of the body that contains the points; the
/// name may be empty if all other bodies of the mesh represent motor rotors of joints (`Joint::armature`). `name(i)`:
/// name of point i for error messages. Throws Error (input) for an unknown body, a body without tetrahedra, and a point
/// outside the body. Points of an affine body, which a single tetrahedron represents, may be outside the tetrahedron.
/// Collective.
std::vector<contact::LocatedPoint> locate_inside(const TetrahedralMesh& mesh, const std::string& body,
                                                 const std::vector<std::array<double, 3>>& points,
                                                 const std::function<std::string(std::size_t)>& name);

/// Returns the name of a region or point for error messages, for example "region 'foot'" or "point (0.1, 0, 2)".
std::string name_of(const SensorPlace& place);

}  // namespace diffsim::sensor
