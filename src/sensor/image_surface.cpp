// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "sensor/image_surface.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "contact/embedded_surface.hpp"
#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "mesh/affine_body.hpp"
#include "mesh/bodies.hpp"
#include "sensor/evaluation.hpp"

namespace diffsim::sensor {
namespace {

/// Returns the separate surface mesh of a mesh with affine bodies. If `region` is a region of a single body, this
/// region is also a region of the surface mesh. Collective.
EmbeddedSurface embedded_surface(const TetrahedralMesh& mesh, const std::string& region) {
  mesh.region(region);  // throws Error (input) if the region does not exist
  const std::vector<MeshBody>& bodies = mesh.bodies();
  const auto is_whole = [&](const MeshBody& body) { return region == body.name + "/all"; };
  if (region == "all" || std::any_of(bodies.begin(), bodies.end(), is_whole)) return embed_surfaces(mesh, {});
  const auto is_owner = [&](const MeshBody& body) { return region.starts_with(body.name + "/"); };
  const auto owner = std::find_if(bodies.begin(), bodies.end(), is_owner);
  if (owner == bodies.end() || owner->affine)
    throw Error("region '" + region + "' cannot be in an image, because the mesh has affine bodies; give all, " +
                    "BODY/all, or a region BODY/REGION of a body that is not affine",
                ErrorKind::input);
  return embed_surfaces(mesh, {}, {region});
}
/// Returns true if a vertex of the separate surface mesh `surface` belongs to a body of tetrahedra of `mesh`.
bool is_of_solid(const TetrahedralMesh& mesh, const TetrahedralMesh& surface, int vertex) {
  if (surface.bodies().empty()) return mesh.bodies()[0].kind == CellKind::tetrahedron;
  const std::int64_t number = surface.vertex_order().file_index()[static_cast<std::size_t>(vertex)];
  const MeshBody& body = surface.bodies()[static_cast<std::size_t>(body_of_vertex(surface.bodies(), number))];
  return mesh.bodies()[mesh.find_body(body.name)].kind == CellKind::tetrahedron;
}

}  // namespace

ImageSurface::ImageSurface(const TetrahedralMesh& mesh, const std::string& region) {
  EmbeddedSurface embedded;
  if (has_affine_bodies(mesh.bodies())) embedded = embedded_surface(mesh, region);
  map_ = embedded.map;
  const TetrahedralMesh& surface = embedded.mesh ? *embedded.mesh : mesh;
  vertices_ = map_ ? map_->points() : surface.vertex_entities();
  for (const Face& face : surface.faces(region)) contact::add_triangles_of(face, triangles_);
  is_one_sided_.assign(triangles_.size(), true);
  const std::vector<int>& cells = surface.lower_cells(CellKind::triangle).vertices;
  for (const int cell : surface.region(region).lower_cells[index_of(CellKind::triangle)]) {
    const auto first = 3 * static_cast<std::size_t>(cell);
    triangles_.push_back({cells[first], cells[first + 1], cells[first + 2]});
    is_one_sided_.push_back(map_ && is_of_solid(mesh, surface, cells[first]));
  }
  if (sum_over_ranks(static_cast<std::int64_t>(triangles_.size()), mesh.comm()) == 0)
    throw Error("region '" + region + "' has no faces and no triangles, so it has no image", ErrorKind::input);
}

std::vector<double> ImageSurface::positions(const State& state) const {
  const Field& nodes = state["positions"];
  if (!map_) return nodes.to_host();
  Field points("image_points", vertices_, 3);
  map_->apply(nodes, points);
  return points.to_host();
}

void ImageSurface::add_adjoint(const std::vector<double>& bar, State& adjoint) const {
  Field points("image_adjoint", vertices_, 3);
  points.from_host(bar);
  if (map_) return map_->add_transpose(points, adjoint["positions"]);
  vertices_->exchange()->add_to_owners(points);
  add_owned(points, adjoint["positions"]);
}

void require_in_front(const CameraView& view, const SpacePoint<double>& vertex, const char* what) {
  if (!std::isfinite(vertex[0] + vertex[1] + vertex[2]))
    throw Error(std::string("a vertex of ") + what + " has a position that is not finite", ErrorKind::run);
  if (!view.sees(vertex))
    throw Error(fmt::format("the vertex at ({:g}, {:g}, {:g}) is behind the camera of {}; move the camera back",
                            vertex[0], vertex[1], vertex[2], what),
                ErrorKind::run);
}

}  // namespace diffsim::sensor
