// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/place.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "contact/locate_points.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim::sensor {
namespace {

/// Returns the index in the mesh's list of bodies of the body that contains a point. Throws Error (input) if the body
/// does not exist, if the place names no body of several, and if the body has no tetrahedra.
std::size_t body_of(const TetrahedralMesh& mesh, const SensorPlace& place) {
  const std::vector<MeshBody>& bodies = mesh.bodies();
  if (place.body.empty() && bodies.size() > 1)
    throw Error(name_of(place) + ": the mesh has several bodies; name the body that contains the point",
                ErrorKind::input);
  const std::size_t body = place.body.empty() ? 0 : mesh.find_body(place.body);
  if (mesh.num_global_cells() == 0 || (!bodies.empty() && bodies[body].kind != CellKind::tetrahedron))
    throw Error(name_of(place) + ": the body has no tetrahedra; give a region instead", ErrorKind::input);
  return body;
}

/// Weight of a vertex that another rank may own.
struct Sent {
  VertexLocation vertex;
  double weight;
};

}  // namespace

std::vector<int> owned_vertices(const TetrahedralMesh& mesh, const Region& region) {
  std::vector<int> owned;
  for (const int v : region.vertices)
    if (v < mesh.num_owned_vertices() &&
        (mesh.is_director().empty() || mesh.is_director()[static_cast<std::size_t>(v)] == 0))
      owned.push_back(v);
  return owned;
}

std::vector<VertexWeight> weights_of(const TetrahedralMesh& mesh, const SensorPlace& place) {
  std::vector<VertexWeight> weights;
  if (!place.point) {
    const std::vector<int> owned = owned_vertices(mesh, mesh.region(place.region));
    const std::int64_t count = sum_over_ranks(static_cast<std::int64_t>(owned.size()), mesh.comm());
    if (count == 0) throw Error("region '" + place.region + "' has no vertices", ErrorKind::input);
    for (const int v : owned) weights.push_back({v, 1.0 / static_cast<double>(count)});
    return weights;
  }
  const std::size_t body = body_of(mesh, place);
  const bool is_affine = !mesh.bodies().empty() && mesh.bodies()[body].affine;
  std::vector<Sent> found;
  collectively(mesh.comm(), [&] {
    for (const contact::LocatedPoint& located :
         contact::locate_points(mesh, body, {*place.point}, [&](std::size_t) { return name_of(place); })) {
      if (located.outside > contact::outside_tolerance && !is_affine)
        throw Error(name_of(place) + " is outside the body; give a point inside the body at rest", ErrorKind::input);
      for (std::size_t k = 0; k < static_cast<std::size_t>(located.stencil.count); ++k)
        found.push_back({located.stencil.nodes[k], located.stencil.weights[k]});
    }
  });
  for (const Sent& sent : redistribute(mesh.comm(), found, [](const Sent& one) { return one.vertex.rank; }))
    weights.push_back({sent.vertex.index, sent.weight});
  std::sort(weights.begin(), weights.end(),
            [](const VertexWeight& a, const VertexWeight& b) { return a.vertex < b.vertex; });
  return weights;
}

std::string name_of(const SensorPlace& place) {
  if (!place.point) return "region '" + place.region + "'";
  const std::array<double, 3>& X = *place.point;
  return fmt::format("point ({:g}, {:g}, {:g})", X[0], X[1], X[2]);
}

}  // namespace diffsim::sensor
