// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause

// Search for bodies and obstacles that lie entirely inside another body or obstacle.

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "contact/inside.hpp"
#include "contact/surface_contact_data.hpp"
#include "core/file_order.hpp"
#include "core/on_all_ranks.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

using Place = std::array<double, 3>;
using Triangles = std::vector<std::array<int, 3>>;

Place place_in(const std::vector<double>& places, int vertex) {
  const auto i = 3 * static_cast<std::size_t>(vertex);
  return {places[i], places[i + 1], places[i + 2]};
}

/// Surfaces of the bodies, distributed over the ranks.
class BodySurfaces {
 public:
  /// Collects the triangles of each body, and finds the bodies with a closed surface. `prescribed`: indices of the
  /// bodies with prescribed motion, which do not touch each other. Collective.
  BodySurfaces(const TetrahedralMesh& mesh, const contact::Candidates& candidates, const std::vector<double>& x,
               const std::vector<std::size_t>& prescribed)
      : mesh_(mesh),
        x_(x),
        triangles_(body_names(mesh.bodies()).size()),
        closed_(triangles_.size(), 1),
        prescribed_(triangles_.size(), 0) {
    const auto& triangles = candidates.local_triangles();
    for (std::size_t t = 0; t < triangles.size(); ++t) {
      const auto body = static_cast<std::size_t>(body_of_vertex(mesh.bodies(), number(triangles[t][0])));
      triangles_[body].push_back(triangles[t]);
      // An edge shared by n triangles has the weight 1/n - 1. On a closed surface, n = 2 for every edge, and the weight
      // is -½. The boundary of tetrahedra is always closed.
      if (mesh.bodies().empty() ? mesh.num_global_cells() > 0 : mesh.bodies()[body].kind == CellKind::tetrahedron)
        continue;
      for (const double weight : candidates.surface().triangles[t].edge_weights)
        if (weight != -0.5) closed_[body] = 0;
    }
    DIFFSIM_MPI(
        MPI_Allreduce(MPI_IN_PLACE, closed_.data(), static_cast<int>(closed_.size()), MPI_INT, MPI_MIN, mesh.comm()));
    for (const std::size_t body : prescribed) prescribed_[body] = 1;
  }
  std::int64_t number(int vertex) const { return mesh_.vertex_order().file_index()[static_cast<std::size_t>(vertex)]; }
  /// Returns the index of the body that contains p, or -1 if no body contains p. p is a vertex of the body `of`, or of
  /// an obstacle if `of` is -1. The body `of` itself, and bodies for which `ignores(body)` is true, are not considered.
  /// If p belongs to a prescribed body or an obstacle, prescribed bodies are not considered either. Collective.
  template <class Ignores>
  int around(const Place& p, int of, const Ignores& ignores) const {
    std::vector<double> turns;
    for (std::size_t b = 0; b < triangles_.size(); ++b)
      turns.push_back(closed_[b] ? contact::winding(x_, triangles_[b], p) : 0.0);
    DIFFSIM_MPI(
        MPI_Allreduce(MPI_IN_PLACE, turns.data(), static_cast<int>(turns.size()), MPI_DOUBLE, MPI_SUM, mesh_.comm()));
    const bool is_prescribed = of < 0 || prescribed_[static_cast<std::size_t>(of)] != 0;
    for (std::size_t b = 0; b < turns.size(); ++b)
      if (static_cast<int>(b) != of && !(is_prescribed && prescribed_[b] != 0) && !ignores(b) &&
          std::abs(turns[b]) > 0.5)
        return static_cast<int>(b);
    return -1;
  }
  /// Name of a body for messages: "the body", or "body crate" if there are several bodies.
  std::string name_of(int body) const {
    const auto& bodies = mesh_.bodies();
    return bodies.size() < 2 ? "the body" : "body " + bodies[static_cast<std::size_t>(body)].name;
  }
  /// Returns text for an error message, which names a body that lies inside another body; the text is empty if no body
  /// lies inside another body. `parts`: vertices of this rank to test, one of each connected part of the bodies. Two
  /// bodies for which `ignores(one, other)` is true are not considered. Collective.
  template <class Ignores>
  std::string nested(const std::vector<int>& parts, const Ignores& ignores) const {
    if (mesh_.bodies().size() < 2) return {};
    std::vector<std::int64_t> numbers;
    std::vector<double> places;
    for (const int vertex : parts) {
      const Place place = place_in(x_, vertex);
      numbers.push_back(number(vertex));
      places.insert(places.end(), place.begin(), place.end());
    }
    numbers = on_all_ranks(mesh_.comm(), numbers);
    places = on_all_ranks(mesh_.comm(), places);
    std::string found;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Place place = place_in(places, static_cast<int>(i));
      const int body = body_of_vertex(mesh_.bodies(), numbers[i]);
      const int other = around(place, body, [&](std::size_t b) { return ignores(static_cast<std::size_t>(body), b); });
      if (other >= 0 && found.empty())
        found = "vertex " + vertex_name(mesh_.bodies(), numbers[i]) + " at " + contact::text_of(place) + " is inside " +
                name_of(other);
    }
    return found;
  }

 private:
  const TetrahedralMesh& mesh_;
  const std::vector<double>& x_;
  std::vector<Triangles> triangles_;  // triangles of each body on this rank
  std::vector<int> closed_, prescribed_;
};

}  // namespace

std::string SurfaceContact::enclosed(const Configuration& at, const ParameterSet& parameters) {
  const TetrahedralMesh& mesh = *data_->mesh;
  const std::vector<double> x = at.positions.to_host();
  const auto view = host_view(data_->obstacles_at(parameters, at.step, at.time));
  const std::vector<double> obstacles(view.data(), view.data() + view.size());
  const BodySurfaces surfaces(mesh, data_->candidates, x, data_->options.prescribed_bodies);
  // `parts` has one vertex of each connected part of the tetrahedra; `all_parts` also has one vertex of each connected
  // part of the triangles, segments and points.
  const std::vector<int> parts =
      contact::witnesses({mesh.cells().begin(), mesh.cells().end()}, mesh.nodes_per_cell(), mesh.num_vertices());
  std::vector<int> all_parts = parts;
  for (const CellKind kind : {CellKind::triangle, CellKind::segment, CellKind::point}) {
    const std::vector<int> lower =
        contact::witnesses(mesh.lower_cells(kind).vertices, corners_of(kind), mesh.num_vertices());
    std::copy_if(lower.begin(), lower.end(), std::back_inserter(all_parts), [&](int v) {
      return mesh.is_director().empty() || mesh.is_director()[static_cast<std::size_t>(v)] == 0;
    });
  }
  std::string found = surfaces.nested(all_parts, [&](std::size_t a, std::size_t b) {
    return data_->ignores(data_->group_of_body(a), data_->group_of_body(b));
  });
  for (std::size_t k = 0; k < data_->options.obstacles.size(); ++k) {
    const TriangleObstacle& obstacle = data_->options.obstacles[k];
    Triangles triangles = obstacle.mesh.triangles;
    for (auto& triangle : triangles)
      for (int& corner : triangle) corner += data_->motions[k].first;
    const auto ignores = [&](std::size_t body) {
      return data_->ignores(data_->group_of_body(body), data_->group_of_obstacle(k));
    };
    if (obstacle.solid)
      for (const int vertex : parts)
        if (found.empty() &&
            !ignores(static_cast<std::size_t>(body_of_vertex(mesh.bodies(), surfaces.number(vertex)))) &&
            std::abs(contact::winding(obstacles, triangles, place_in(x, vertex))) > 0.5)
          found = "vertex " + vertex_name(mesh.bodies(), surfaces.number(vertex)) + " at " +
                  contact::text_of(place_in(x, vertex)) + " is inside obstacle " + obstacle.label;
    std::vector<int> corners;
    for (const auto& triangle : triangles) corners.insert(corners.end(), triangle.begin(), triangle.end());
    for (const int vertex : contact::witnesses(corners, 3, static_cast<int>(data_->reference.size() / 3))) {
      const int body = surfaces.around(place_in(obstacles, vertex), -1, ignores);
      if (found.empty() && body >= 0)
        found = "obstacle " + obstacle.label + ", at " + contact::text_of(place_in(obstacles, vertex)) +
                ", is inside " + surfaces.name_of(body);
    }
  }
  return found;
}

}  // namespace diffsim
