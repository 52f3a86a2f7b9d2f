// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/embedded_surface.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "contact/locate_points.hpp"
#include "contact/parameters.hpp"
#include "contact/surface_groups.hpp"
#include "core/exchange.hpp"
#include "core/file_order.hpp"
#include "core/nearest_word.hpp"
#include "core/redistribute.hpp"
#include "core/to_index.hpp"
#include "diffsim/contact/impl/surface_areas.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/construction.hpp"
#include "mesh/affine_body.hpp"
#include "mesh/bodies.hpp"
#include "mesh/triangle_blocks.hpp"

namespace diffsim {
namespace {

using contact::SurfacePiece;

/// Returns the surfaces `given`, followed by the surfaces of the affine bodies.
std::vector<BodySurface> with_affine_bodies(const TetrahedralMesh& mesh, std::vector<BodySurface> given) {
  for (const MeshBody& body : mesh.bodies())
    if (body.affine && !body.affine->surface.triangles.empty()) given.push_back({body.name, body.affine->surface});
  return given;
}

/// Separate surface of each body of the mesh; nullptr for a body without a separate surface.
std::vector<const BodySurface*> surfaces_by_body(const TetrahedralMesh& mesh,
                                                 const std::vector<BodySurface>& surfaces) {
  const std::vector<std::string> names = body_names(mesh.bodies());
  std::vector<const BodySurface*> result(names.size(), nullptr);
  for (const BodySurface& surface : surfaces) {
    const auto k = static_cast<std::size_t>(std::find(names.begin(), names.end(), surface.body) - names.begin());
    const std::string title = "surface of body '" + surface.body + "': ";
    if (k == names.size()) {
      const std::string near = nearest(surface.body, names);
      throw Error(title + "there is no such body" + (near.empty() ? "" : "; did you mean '" + near + "'?"),
                  ErrorKind::input);
    }
    if (result[k]) throw Error(title + "the body already has a surface; give only one", ErrorKind::input);
    if (mesh.bodies().empty() ? mesh.num_global_cells() == 0 : mesh.bodies()[k].kind != CellKind::tetrahedron)
      throw Error(title + "the body has no tetrahedra; its own cells are its contact surface; remove this surface",
                  ErrorKind::input);
    result[k] = &surface;
  }
  return result;
}

void require_triangles(const BodySurface& surface) {
  const std::string title = "surface of body '" + surface.body + "': ";
  const auto count = static_cast<int>(surface.mesh.vertices.size());
  if (surface.mesh.triangles.empty()) throw Error(title + "there is no triangle", ErrorKind::input);
  std::vector<double> x;
  for (const auto& vertex : surface.mesh.vertices) x.insert(x.end(), vertex.begin(), vertex.end());
  for (const SurfacePiece& triangle : surface.mesh.triangles) {
    const std::string text = "triangle " + std::to_string(triangle[0]) + ", " + std::to_string(triangle[1]) + ", " +
                             std::to_string(triangle[2]);
    for (const int v : triangle)
      if (v < 0 || v >= count)
        throw Error(
            title + text + " has a vertex that does not exist; the number of vertices is " + std::to_string(count),
            ErrorKind::input);
    if (!(contact::corner_measure(x, triangle) > 0.0)) throw Error(title + text + " has no area", ErrorKind::input);
  }
}

/// Range of the numbers of a body's vertices in a mesh: from `first` up to, but not including, `end`.
struct NumberRange {
  std::int64_t first, end;
  std::int64_t size() const { return end - first; }
};

NumberRange vertices_of_body(const TetrahedralMesh& mesh, std::size_t body) {
  const auto& bodies = mesh.bodies();
  if (bodies.empty()) return {0, mesh.num_global_vertices()};
  return {bodies[body].first_vertex,
          body + 1 < bodies.size() ? bodies[body + 1].first_vertex : mesh.num_global_vertices()};
}

/// Pieces of this rank's surface, and the group of each piece. The first groups are the regions, in the given order;
/// the next groups are the bodies.
struct Pieces {
  std::vector<SurfacePiece> corners;
  std::vector<int> groups;
};

/// Surface mesh of a body whose contact surface is the boundary of its cells. Each rank has a block of consecutive
/// vertices, in the order of the file. Collective.
MeshData blocks_of(const TetrahedralMesh& mesh, std::size_t body, const Pieces& pieces,
                   const std::vector<std::string>& regions) {
  const NumberRange range = vertices_of_body(mesh, body);
  const auto& numbers = mesh.vertex_order().file_index();
  MeshData data;
  data.num_vertices = range.size();
  // The part of this rank's block of vertices that belongs to the body.
  const std::int64_t begin = mesh.vertex_order().block_begin(), end = begin + mesh.vertex_order().block_size();
  const std::int64_t from = std::clamp(range.first, begin, end), to = std::clamp(range.end, begin, end);
  const std::vector<double> x = mesh.file_positions();
  data.coordinates.assign(x.begin() + 3 * (from - begin), x.begin() + 3 * (to - begin));
  data.first_vertex = from - range.first;
  const std::string prefix = mesh.bodies().empty() ? "" : mesh.bodies()[body].name + "/";
  std::vector<std::int32_t> region_of(regions.size(), -1);
  for (std::size_t r = 0; r < regions.size(); ++r) {
    if (!regions[r].starts_with(prefix)) continue;
    region_of[r] = static_cast<std::int32_t>(data.regions.size());
    data.regions.push_back({regions[r].substr(prefix.size()), 2, 0});
  }
  std::vector<PetscInt> marks(static_cast<std::size_t>(mesh.num_vertices()), 0);
  for (std::size_t p = 0; p < pieces.corners.size(); ++p) {
    const SurfacePiece& piece = pieces.corners[p];
    const std::int64_t number = numbers[static_cast<std::size_t>(piece[0])];
    if (number < range.first || number >= range.end) continue;
    const int dimension = contact::dimension_of(piece);
    MeshData::LowerCells& cells = data.lower(static_cast<CellKind>(dimension));
    const auto group = static_cast<std::size_t>(pieces.groups[p]);
    if (group < regions.size())
      cells.regions.push_back({static_cast<std::int64_t>(cells.nodes.size()) / (dimension + 1), region_of[group]});
    for (std::size_t k = 0; k <= static_cast<std::size_t>(dimension); ++k) {
      marks[static_cast<std::size_t>(piece[k])] = 1;
      cells.nodes.push_back(numbers[static_cast<std::size_t>(piece[k])] - range.first);
    }
  }
  for (const CellKind kind : lower_kinds) {
    MeshData::LowerCells& cells = data.lower(kind);
    const std::int64_t mine = data.block_of(kind);
    DIFFSIM_MPI(MPI_Exscan(&mine, &cells.first, 1, MPI_INT64_T, MPI_SUM, mesh.comm()));
    if (is_first_rank(mesh.comm())) cells.first = 0;
    DIFFSIM_MPI(MPI_Allreduce(&mine, &cells.num, 1, MPI_INT64_T, MPI_SUM, mesh.comm()));
    for (auto& entry : cells.regions) entry.cell += cells.first;
  }
  mesh.vertex_exchange().add_to_owners(marks);
  const auto owned = marks.begin() + mesh.num_owned_vertices();
  const std::int64_t used = std::count_if(marks.begin(), owned, [](PetscInt mark) { return mark > 0; });
  data.num_unused_vertices = range.size() - sum_over_ranks(used, mesh.comm());
  return data;
}

/// Stencil (nodes and weights) of a point, with the number of the point in the surface mesh.
struct NumberedStencil {
  std::int64_t number;
  ScaledStencil stencil;
};

/// Returns the number of the scale of each body of the mesh; -1 for a body without a scale.
std::vector<int> scales_by_body(const TetrahedralMesh& mesh, const std::vector<SurfaceScale>& scales) {
  const std::vector<std::string> names = body_names(mesh.bodies());
  std::vector<int> result(names.size(), -1);
  for (std::size_t k = 0; k < scales.size(); ++k) {
    const std::string title = "surface_scale of body '" + scales[k].body + "': ";
    const auto b = static_cast<std::size_t>(std::find(names.begin(), names.end(), scales[k].body) - names.begin());
    if (b == names.size()) {
      const std::string near = nearest(scales[k].body, names);
      throw Error(title + "there is no such body" + (near.empty() ? "" : "; did you mean '" + near + "'?"),
                  ErrorKind::input);
    }
    if (mesh.bodies().empty() || !mesh.bodies()[b].affine)
      throw Error(title + "the body is neither affine nor rigid; change `rest_positions` of deformable bodies",
                  ErrorKind::input);
    if (mesh.bodies()[b].affine->surface.triangles.empty())
      throw Error(title + "the body has no surface", ErrorKind::input);
    if (result[b] >= 0) throw Error(title + "the body already has a scale; give only one", ErrorKind::input);
    result[b] = static_cast<int>(k);
  }
  return result;
}

/// Stencil of the centre of scaling of a body, on the rank that has the body's cell; no nodes on other ranks.
/// Collective.
PointStencil centre_of(const TetrahedralMesh& mesh, std::size_t body, const SurfaceScale& scale,
                       const PointStencil& of_cell) {
  if (!scale.centre) {
    PointStencil centre = of_cell;
    for (std::size_t k = 0; k < to_index(centre.count); ++k) centre.weights[k] = 1.0 / centre.count;
    return centre;
  }
  const auto name = [&](std::size_t) { return "centre of the scale of body '" + scale.body + "'"; };
  const auto located = contact::locate_points(mesh, body, {*scale.centre}, name, true);
  return located.empty() ? PointStencil() : located.front().stencil;
}

/// Stencils of all points of the surface; each stencil is returned on one rank. Collective.
std::vector<NumberedStencil> find_stencils(const TetrahedralMesh& mesh, const std::vector<const BodySurface*>& surfaces,
                                           const TetrahedralMesh& surface, const std::vector<SurfaceScale>& scales) {
  const std::vector<int> scale_of = scales_by_body(mesh, scales);
  std::vector<NumberedStencil> found;
  for (std::size_t b = 0; b < surfaces.size(); ++b) {
    const std::int64_t first = vertices_of_body(surface, b).first;
    if (surfaces[b]) {
      const auto name = [&](std::size_t v) {
        const std::array<double, 3>& X = surfaces[b]->mesh.vertices[v];
        return fmt::format("surface of body '{}': vertex {} at ({:g}, {:g}, {:g})", body_names(mesh.bodies())[b], v,
                           X[0], X[1], X[2]);
      };
      const auto located = contact::locate_points(mesh, b, surfaces[b]->mesh.vertices, name, scale_of[b] >= 0);
      PointStencil centre;
      if (scale_of[b] >= 0)
        centre = centre_of(mesh, b, scales[to_index(scale_of[b])],
                           located.empty() ? PointStencil() : located.front().stencil);
      for (const auto& [point, stencil, outside] : located) {
        NumberedStencil one{first + static_cast<std::int64_t>(point), {stencil, {}, scale_of[b]}};
        // An affine body has one cell, so that the stencils of all points have the same nodes in the same order.
        if (scale_of[b] >= 0) {
          one.stencil.change = stencil;
          for (std::size_t k = 0; k < to_index(stencil.count); ++k) one.stencil.change.weights[k] -= centre.weights[k];
        }
        found.push_back(one);
      }
      continue;
    }
    const NumberRange range = vertices_of_body(mesh, b);
    for (int v = 0; v < mesh.num_owned_vertices(); ++v) {
      const std::int64_t number = mesh.vertex_order().file_index()[static_cast<std::size_t>(v)];
      if (number < range.first || number >= range.end) continue;
      found.push_back({first + number - range.first, {PointStencil::of_node({rank_of(mesh.comm()), v})}});
    }
  }
  return found;
}

/// Stencils of this rank's points of the surface, in local order. Collective.
std::vector<ScaledStencil> stencils_of(const TetrahedralMesh& surface, const std::vector<NumberedStencil>& found) {
  const FileOrder& order = surface.vertex_order();
  std::vector<std::int64_t> numbers;
  std::vector<ScaledStencil> stencils;
  for (const NumberedStencil& point : found) {
    numbers.push_back(point.number);
    stencils.push_back(point.stencil);
  }
  std::vector<ScaledStencil> block;
  FileOrder(surface.comm(), surface.num_global_vertices(), numbers, static_cast<int>(numbers.size()),
            static_cast<int>(order.block_size()))
      .to_file(stencils, 1, block);
  return order.from_file(block, 1);
}

}  // namespace

EmbeddedSurface embed_surfaces(const TetrahedralMesh& mesh, const std::vector<BodySurface>& given,
                               const std::vector<std::string>& regions, const std::vector<SurfaceScale>& scales) {
  const std::vector<BodySurface> surfaces = with_affine_bodies(mesh, given);
  const std::vector<const BodySurface*> own = surfaces_by_body(mesh, surfaces);
  for (const BodySurface& surface : surfaces) require_triangles(surface);
  const std::vector<std::string> names = body_names(mesh.bodies());
  for (const std::string& region : regions)
    for (std::size_t b = 0; b < own.size(); ++b)
      if (own[b] && (own.size() == 1 || region.starts_with(names[b] + "/")))
        throw Error("region '" + region + "' belongs to the boundary of body '" + names[b] +
                        "', which has a separate contact surface; name the body instead",
                    ErrorKind::input);
  const Pieces pieces = {contact::surface_pieces(mesh), contact::surface_groups(mesh, regions).triangles};
  const Pieces none;  // an affine body without a surface takes no part in contact
  std::vector<NamedMesh> parts;
  for (std::size_t b = 0; b < own.size(); ++b) {
    const bool has_no_surface = !own[b] && !mesh.bodies().empty() && mesh.bodies()[b].affine;
    parts.push_back({names[b], own[b] ? triangle_blocks(mesh.comm(), own[b]->mesh)
                                      : blocks_of(mesh, b, has_no_surface ? none : pieces, regions)});
  }
  MeshData data = mesh.bodies().empty() ? std::move(parts.front().data) : join_bodies(mesh.comm(), std::move(parts));
  EmbeddedSurface result;
  result.mesh = std::make_shared<const TetrahedralMesh>(mesh.comm(), std::move(data));
  const std::vector<ScaledStencil> scaled = stencils_of(*result.mesh, find_stencils(mesh, own, *result.mesh, scales));
  std::vector<PointStencil> stencils;
  for (const ScaledStencil& point : scaled) stencils.push_back(point.stencil);
  const auto nodes = mesh.owned_vertex_entities(), points = result.mesh->vertex_entities();
  result.map = std::make_shared<const PointMap>(nodes, points, std::move(stencils));
  if (scales.empty()) return result;
  std::vector<std::string> parameters;
  for (const SurfaceScale& scale : scales)
    parameters.push_back(std::string(ContactParameters::surface_scale.name) + ':' + scale.body);
  result.scaling = std::make_shared<const SurfaceScaling>(std::move(parameters), nodes, points, scaled);
  return result;
}

}  // namespace diffsim
