// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/place.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "mesh/bodies.hpp"

namespace diffsim::sensor {
namespace {

/// Returns the index in the mesh's list of bodies of the body with the given name, which may be empty if the mesh has
/// one body that is not a rotor. Throws Error (input) if the body does not exist, if the name is needed, and if the
/// body has no tetrahedra. `what`: name of the points for messages.
std::size_t find_body(const TetrahedralMesh& mesh, const std::string& name, const std::string& what) {
  const std::vector<MeshBody>& bodies = mesh.bodies();
  const auto is_no_rotor = [](const MeshBody& body) { return !is_rotor(body); };
  if (name.empty() && std::count_if(bodies.begin(), bodies.end(), is_no_rotor) > 1)
    throw Error(what + ": the mesh has several bodies; name the body", ErrorKind::input);
  const auto first = std::find_if(bodies.begin(), bodies.end(), is_no_rotor);
  const std::size_t body = !name.empty()           ? mesh.find_body(name)
                           : first == bodies.end() ? 0
                                                   : static_cast<std::size_t>(first - bodies.begin());
  if (mesh.num_global_cells() == 0 || (!bodies.empty() && bodies[body].kind != CellKind::tetrahedron))
    throw Error(what + ": the body has no tetrahedra; name a region or vertices instead", ErrorKind::input);
  return body;
}

/// Largest `LocatedPoint::outside` of a point that counts as inside a body.
constexpr double outside_tolerance = 1e-6;

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

std::vector<contact::LocatedPoint> locate_inside(const TetrahedralMesh& mesh, const std::string& body,
                                                 const std::vector<std::array<double, 3>>& points,
                                                 const std::function<std::string(std::size_t)>& name) {
  if (points.empty()) return {};
  const std::size_t index = find_body(mesh, body, name(0));
  const bool is_affine = !mesh.bodies().empty() && mesh.bodies()[index].affine;
  std::vector<contact::LocatedPoint> located = contact::locate_points(mesh, index, points, name);
  collectively(mesh.comm(), [&] {
    for (const contact::LocatedPoint& point : located)
      if (point.outside > outside_tolerance && !is_affine)
        throw Error(name(point.point) + " is outside the body; give the rest position of a point inside the body",
                    ErrorKind::input);
  });
  return located;
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
  std::vector<Sent> found;
  for (const contact::LocatedPoint& located :
       locate_inside(mesh, place.body, {*place.point}, [&](std::size_t) { return name_of(place); }))
    for (std::size_t k = 0; k < static_cast<std::size_t>(located.stencil.count); ++k)
      found.push_back({located.stencil.nodes[k], located.stencil.weights[k]});
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
