// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Loads and attachments of a DifferentiableScene.
#include "attach/attachment.hpp"
#include "attach/parameters.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/simulation/scene.hpp"
#include "load/nodal_load.hpp"
#include "load/parameters.hpp"
#include "load/segment_moment.hpp"
#include "load/surface_flow.hpp"
#include "load/surface_traction.hpp"
#include "simulation/control_steps.hpp"

namespace diffsim {
namespace {

/// Returns the boundary faces of tetrahedra in a region, and the region's triangles. Throws Error (input) if the region
/// has neither boundary faces nor triangles, or if a face belongs to an affine body. Collective.
std::vector<Face> faces_and_triangles(const TetrahedralMesh& mesh, const std::string& region) {
  std::vector<Face> faces = mesh.faces(region);
  collectively(mesh.comm(), [&] {
    for (const Face& face : faces)
      if (mesh.affine_body(face.cell))
        throw Error("region '" + region +
                        "' has faces of an affine body, for which surface loads are not supported; use nodal_load",
                    ErrorKind::input);
  });
  const std::vector<int>& corners = mesh.lower_cells(CellKind::triangle).vertices;
  for (const int triangle : mesh.region(region).cells_of(CellKind::triangle)) {
    const auto first = 3 * static_cast<std::size_t>(triangle);
    faces.push_back({triangle, {corners[first], corners[first + 1], corners[first + 2]}});
  }
  if (sum_over_ranks(static_cast<std::int64_t>(faces.size()), mesh.comm()) == 0)
    throw Error("region '" + region + "' has no faces; name a surface, or a body of triangles", ErrorKind::input);
  return faces;
}

}  // namespace

std::string DifferentiableScene::add_traction(const std::string& region, const std::vector<double>& traction) {
  const std::string name = std::string(LoadParameters::traction.name) + ":" + region;
  const int steps = steps_of(traction, 3, "the traction");
  std::vector<Face> faces = faces_and_triangles(*mesh_, region);
  parameters()
      .add(LoadParameters::traction, Entities::one_for_all(mesh_->comm()), steps, region)
      .field.from_host(traction);
  system().add_term(make_surface_traction(name, std::move(faces)));
  return name;
}

std::string DifferentiableScene::add_pressure(const std::string& region, const std::vector<double>& pressure) {
  const std::string name = std::string(LoadParameters::pressure.name) + ":" + region;
  const int steps = steps_of(pressure, 1, "the pressure");
  const std::vector<Face> faces = faces_and_triangles(*mesh_, region);
  parameters()
      .add(LoadParameters::pressure, Entities::one_for_all(mesh_->comm()), steps, region)
      .field.from_host(pressure);
  collectively(mesh_->comm(), [&] { system().add_term(make_surface_pressure(name, faces)); });
  return name;
}

std::string DifferentiableScene::add_wind(const std::string& region, const std::vector<double>& wind, double drag) {
  const std::string name = std::string(LoadParameters::wind.name) + ":" + region,
                    drag_name = std::string(LoadParameters::wind_drag.name) + ":" + region;
  const int steps = steps_of(wind, 3, "the wind");
  const std::vector<Face> faces = faces_and_triangles(*mesh_, region);
  const auto one = Entities::one_for_all(mesh_->comm());
  parameters().add(LoadParameters::wind, one, steps, region).field.from_host(wind);
  parameters().add(LoadParameters::wind_drag, one, 1, region).field.from_host({drag});
  collectively(mesh_->comm(), [&] { system().add_term(make_wind(name, drag_name, faces)); });
  return name;
}

std::string DifferentiableScene::add_moment(const std::string& region, const std::vector<double>& moment) {
  const std::string name = std::string(LoadParameters::moment.name) + ":" + region;
  const int steps = steps_of(moment, 3, "the moment");
  const LowerCellSet& all = mesh_->lower_cells(CellKind::segment);
  std::vector<int> vertices;
  for (const int segment : mesh_->region(region).cells_of(CellKind::segment)) {
    const auto s = static_cast<std::size_t>(segment);
    if (all.directors.empty() || all.directors[s] < 0) continue;
    vertices.insert(vertices.end(), {all.vertices[2 * s], all.vertices[2 * s + 1], all.directors[s]});
  }
  if (sum_over_ranks(static_cast<std::int64_t>(vertices.size()), mesh_->comm()) == 0)
    throw Error("region '" + region + "' has no rod segment; name a region that contains both ends of a segment",
                ErrorKind::input);
  parameters().add(LoadParameters::moment, Entities::one_for_all(mesh_->comm()), steps, region).field.from_host(moment);
  system().add_term(make_segment_moment(name, std::move(vertices)));
  return name;
}

std::string DifferentiableScene::attach(const std::string& region, const std::string& to, double stiffness) {
  using Attachment = AttachmentParameters;
  const std::string name = std::string(Attachment::stiffness.name) + ":" + region,
                    place = std::string(Attachment::place.name) + ":" + region;
  const Anchors anchors = find_anchors(*mesh_, region, to);
  parameters().add(Attachment::stiffness, Entities::one_for_all(mesh_->comm()), 1, region).field.from_host({stiffness});
  std::vector<double> places(3 * static_cast<std::size_t>(mesh_->num_owned_vertices()), 0.0);
  for (std::size_t i = 0; i < anchors.vertices.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c)
      places[3 * static_cast<std::size_t>(anchors.vertices[i]) + c] = anchors.places[3 * i + c];
  parameters().add(Attachment::place, mesh_->owned_vertex_entities(), 1, region).field.from_host(places);
  system().add_term(make_attachment(*mesh_, anchors, name, place));
  return name;
}

std::string DifferentiableScene::add_nodal_load(const std::vector<double>& load) {
  const auto owned = static_cast<std::size_t>(mesh_->num_owned_vertices());
  int steps = steps_of(load, 3 * owned, "the nodal load");
  // A rank without vertices uses the number of steps of the other ranks.
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &steps, 1, MPI_INT, MPI_MAX, mesh_->comm()));
  parameters().add(LoadParameters::nodal_load, mesh_->owned_vertex_entities(), steps).field.from_host(load);
  system().add_term(make_nodal_load(mesh_->num_owned_vertices()));
  return std::string(LoadParameters::nodal_load.name);
}

}  // namespace diffsim
