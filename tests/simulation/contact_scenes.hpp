// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Contact scenes, and a run that checks every step in exact arithmetic on the first rank.

#include <gmpxx.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "contact/contact_term.hpp"
#include "contact/embedded_surface.hpp"
#include "contact/exact_surface.hpp"
#include "contact/obstacles.hpp"
#include "contact_pieces.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/simulation/scene.hpp"
#include "mesh/elevate.hpp"

namespace diffsim::testing_scenes {

/// Prescribed motion of the vertices in a box, from the first step on.
struct Motion {
  BoxShape where;
  Place axis{0, 1, 0}, origin{};
  double angular_velocity = 0.0;
  Place velocity{};
};

struct Scene {
  std::string name;
  std::vector<Piece> pieces;
  ContactOptions contact;
  int steps = 100;
  double dt = 5e-4;  ///< s; explicit steps are divided into stable substeps
  Place gravity{};
  std::vector<Motion> motions = {};
  int order = 1;
  double youngs_modulus = 5e4;
  std::string model = "neo_hookean";
  std::string integrator = "symplectic_euler";
  double damping = 1.0;   ///< factor per substep
  bool may_stop = false;  ///< the run may also end with an error: a pair would pass through, or Newton failed
  double safety = 2.0;    ///< explicit substep ≤ stable substep / safety
};

/// Returns the mesh of a scene. The first rank has the whole mesh before the partition.
inline std::shared_ptr<TetrahedralMesh> make_mesh(const Scene& scene) {
  MeshData data;
  for (const Piece& piece : scene.pieces) {
    for (const std::int64_t v : piece.cells) data.cells.push_back(data.num_vertices + v);
    for (const Place& x : piece.places) data.coordinates.insert(data.coordinates.end(), x.begin(), x.end());
    data.num_vertices += static_cast<std::int64_t>(piece.places.size());
    data.num_cells += static_cast<std::int64_t>(piece.cells.size() / 4);
  }
  if (!is_first_rank(MPI_COMM_WORLD)) {
    data.cells.clear();
    data.coordinates.clear();
    data.first_vertex = data.num_vertices;
    data.first_cell = data.num_cells;
  }
  if (scene.order == 2) elevate(MPI_COMM_WORLD, data);
  return std::make_shared<TetrahedralMesh>(MPI_COMM_WORLD, std::move(data));
}

/// Returns the values of all owned entities in the order of the file, on every rank: [all, width]. Collective.
template <class T>
std::vector<T> on_all_ranks(const FileOrder& order, const std::vector<T>& local, int width, MPI_Datatype type) {
  std::vector<T> block;
  order.to_file(local, width, block);
  std::vector<T> all(static_cast<std::size_t>(order.num_global() * width), T{});
  std::copy(block.begin(), block.end(), all.begin() + static_cast<std::ptrdiff_t>(order.block_begin() * width));
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), type, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/// Vertices of all cells, as indices in the file's order. Collective.
inline std::vector<int> file_cells(const TetrahedralMesh& mesh) {
  std::vector<int> local;
  for (const int v : mesh.cells())
    local.push_back(static_cast<int>(mesh.vertex_order().file_index()[static_cast<std::size_t>(v)]));
  return on_all_ranks(mesh.cell_order(), local, mesh.nodes_per_cell(), MPI_INT);
}

/// Piece of each vertex, indexed in the file's order. The cells determine the pieces, since pieces share no vertices.
inline std::vector<int> pieces_of(const Scene& scene, const TetrahedralMesh& mesh, const std::vector<int>& cells) {
  std::vector<int> result(static_cast<std::size_t>(mesh.num_global_vertices()), 0);
  const auto nodes = static_cast<std::size_t>(mesh.nodes_per_cell());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    auto cell = static_cast<std::int64_t>(i / nodes);
    int piece = 0;
    while (cell >= static_cast<std::int64_t>(scene.pieces[static_cast<std::size_t>(piece)].cells.size() / 4))
      cell -= static_cast<std::int64_t>(scene.pieces[static_cast<std::size_t>(piece++)].cells.size() / 4);
    result[static_cast<std::size_t>(cells[i])] = piece;
  }
  return result;
}

inline DifferentiableScene make_solver(const Scene& scene) {
  const auto mesh = make_mesh(scene);
  const DifferentiableMaterial material{
      scene.model, {{"youngs_modulus", scene.youngs_modulus}, {"poisson_ratio", 0.3}, {"density", 1000.0}}, "all"};
  DifferentiableSolver options{.dt = scene.dt,
                               .substeps = 1,
                               .damping = scene.damping,
                               .gravity = scene.gravity,
                               .integrator = integrator_named(scene.integrator)};
  if (scene.integrator == "symplectic_euler") {
    const double stable = DifferentiableScene(mesh, {material}, options).stable_substep();
    options.substeps = std::max(1, static_cast<int>(std::ceil(scene.safety * scene.dt / stable)));
  }
  DifferentiableScene solver(mesh, {material}, options);
  for (std::size_t k = 0; k < scene.motions.size(); ++k) {
    const Motion& motion = scene.motions[k];
    const std::string region = "moved " + std::to_string(k);
    mesh->define_region(region, motion.where);
    solver.move(region, motion.axis, motion.origin, {motion.angular_velocity},
                {motion.velocity.begin(), motion.velocity.end()});
  }
  solver.add_contact(scene.contact);
  const std::vector<int> piece_of_vertex = pieces_of(scene, *mesh, file_cells(*mesh));
  std::vector<double> velocity;
  for (std::size_t v = 0; v < static_cast<std::size_t>(mesh->num_owned_vertices()); ++v) {
    const auto number = static_cast<std::size_t>(mesh->vertex_order().file_index()[v]);
    const Piece& piece = scene.pieces[static_cast<std::size_t>(piece_of_vertex[number])];
    const Place middle = piece.middle();
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t i = (c + 1) % 3, j = (c + 2) % 3;
      const double* const x = &mesh->rest_positions()[3 * v];
      velocity.push_back(piece.velocity[c] + piece.spin[i] * (x[j] - middle[j]) - piece.spin[j] * (x[i] - middle[i]));
    }
  }
  solver.set_initial_velocity(velocity);
  return solver;
}

/// Position at `time` of a point of an obstacle. With r = p - origin and the unit axis a, the rotation by the angle θ
/// is r ↦ (a·r) a + cos θ (r - (a·r) a) + sin θ a × r; the translation is time · velocity.
template <class Obstacle>
Place moved(const Obstacle& obstacle, double time, Place p) {
  const Rotation& rotation = obstacle.rotation;
  const Place& a = rotation.axis;
  const double length = std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), angle = time * rotation.angular_velocity;
  if (length > 0.0 && angle != 0.0) {
    Place r{}, turned{};
    double along = 0.0;
    for (std::size_t c = 0; c < 3; ++c) r[c] = p[c] - rotation.origin[c];
    for (std::size_t c = 0; c < 3; ++c) along += r[c] * a[c] / length;
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t i = (c + 1) % 3, j = (c + 2) % 3;
      const double part = along * a[c] / length, aside = (a[i] * r[j] - a[j] * r[i]) / length;
      turned[c] = part + std::cos(angle) * (r[c] - part) + std::sin(angle) * aside;
    }
    for (std::size_t c = 0; c < 3; ++c) p[c] = rotation.origin[c] + turned[c];
  }
  for (std::size_t c = 0; c < 3; ++c) p[c] += time * obstacle.velocity[c];
  return p;
}

/// Results of the checks of a run in exact arithmetic.
struct Verdict {
  int steps = 0;                                           ///< accepted and checked states, the initial one included
  int intersections = 0;                                   ///< pairs of triangles that meet; vertices not above planes
  int inverted = 0;                                        ///< inverted cells and triangles without area
  int swallowed = 0;                                       ///< pieces inside an obstacle
  std::int64_t active = 0;                                 ///< most active pairs in a step, counted by the library
  std::int64_t told = 0;                                   ///< intersections counted by the library
  double least = std::numeric_limits<double>::infinity();  ///< least distance, m, measured by the library
  std::string fault;                                       ///< first defect that was found
  std::string error;                                       ///< message of the error that ended the run
  std::size_t triangles = 0, cells = 0;
  double seconds = 0.0;
};

/// Checks states in exact arithmetic: intersections of the surface with itself and with obstacles, and orientations of
/// the cells. The surface is the boundary of the cells, or the own surface of the scene's only body if there is one.
class ExactWatch {
 public:
  ExactWatch(const Scene& scene, const TetrahedralMesh& mesh)
      : scene_(scene),
        mesh_(mesh),
        cells_(file_cells(mesh)),
        surface_(contact::exact::surface_of(cells_, mesh.nodes_per_cell())) {
    const std::vector<BodySurface>& own = scene.contact.surfaces;
    if (!own.empty()) {
      embedded_ = embed_surfaces(mesh, own);
      surface_ = own.at(0).mesh.triangles;
    }
    verdict_.triangles = surface_.size();
    verdict_.cells = static_cast<std::size_t>(mesh.num_global_cells());
    parts_ = parts_of(surface_);
  }

  void look(int n, double time, const State& state) {
    const Field& positions = state["positions"];
    const std::vector<Place> nodes = on_all_ranks_of(mesh_, positions);
    std::vector<Place> points = nodes;
    if (embedded_.map) {
      Field x("points", embedded_.map->points(), 3);
      embedded_.map->apply(positions, x);
      points = on_all_ranks_of(*embedded_.mesh, x);
    }
    ++verdict_.steps;
    if (is_first_rank(MPI_COMM_WORLD)) look_at(n, time, nodes, points);
    int sums[3] = {verdict_.intersections, verdict_.inverted, verdict_.swallowed};
    MPI_Bcast(sums, 3, MPI_INT, 0, MPI_COMM_WORLD);
    verdict_.intersections = sums[0];
    verdict_.inverted = sums[1];
    verdict_.swallowed = sums[2];
  }
  Verdict& verdict() { return verdict_; }

 private:
  /// Positions of all vertices in the order of the file, on every rank. Collective.
  static std::vector<Place> on_all_ranks_of(const TetrahedralMesh& mesh, const Field& positions) {
    std::vector<double> own = positions.to_host();
    own.resize(3 * static_cast<std::size_t>(mesh.num_owned_vertices()));
    const std::vector<double> x = on_all_ranks(mesh.vertex_order(), own, 3, MPI_DOUBLE);
    std::vector<Place> places;
    for (std::size_t i = 0; i + 2 < x.size(); i += 3) places.push_back({x[i], x[i + 1], x[i + 2]});
    return places;
  }
  /// Vertices of each connected part of a surface.
  static std::vector<std::vector<std::size_t>> parts_of(const std::vector<contact::exact::Corners>& triangles) {
    std::map<int, int> lower;  // maps a vertex to a vertex of its part with a lower number, or to itself
    const auto root = [&](int v) {
      while (lower.at(v) != v) v = lower.at(v);
      return v;
    };
    for (const auto& t : triangles) {
      for (const int v : t) lower.try_emplace(v, v);
      const int first = std::min({root(t[0]), root(t[1]), root(t[2])});
      for (const int v : t) lower[root(v)] = first;
    }
    std::map<int, std::vector<std::size_t>> parts;
    for (const auto& [vertex, any] : lower) parts[root(vertex)].push_back(static_cast<std::size_t>(vertex));
    std::vector<std::vector<std::size_t>> result;
    for (auto& [first, vertices] : parts) result.push_back(std::move(vertices));
    return result;
  }
  /// Position of the lowest of some vertices along y.
  static Place lowest_of(const std::vector<std::size_t>& vertices, const std::vector<Place>& points) {
    return points[*std::min_element(vertices.begin(), vertices.end(),
                                    [&](std::size_t a, std::size_t b) { return points[a][1] < points[b][1]; })];
  }
  /// Checks one state. `nodes`, `points`: positions of all vertices of the cells and of the surface, in the order of
  /// their files. Runs on the first rank only.
  void look_at(int n, double time, const std::vector<Place>& nodes, const std::vector<Place>& points) {
    contact::exact::TriangleSet all;
    all.places = points;
    all.triangles = surface_;
    note(n, contact::exact::inverted(nodes, cells_, mesh_.nodes_per_cell()), "inverted cells", verdict_.inverted);
    note(n, contact::exact::degenerate(all), "triangles without area", verdict_.inverted);
    for (const PlaneObstacle& plane : scene_.contact.planes)
      note(n, below(plane, time, all), "vertices below a plane", verdict_.intersections);
    const int body_triangles = static_cast<int>(surface_.size());
    for (const MeshObstacle& obstacle : scene_.contact.meshes) {
      contact::exact::TriangleSet set;
      set.triangles.assign(obstacle.mesh.triangles.begin(), obstacle.mesh.triangles.end());
      for (const Place& p : obstacle.mesh.vertices) set.places.push_back(moved(obstacle, time, p));
      if (is_closed(set))
        for (const std::vector<std::size_t>& part : parts_)
          note(n, contact::exact::winding(lowest_of(part, points), set) != 0, "pieces in an obstacle",
               verdict_.swallowed);
      all.append(set);
    }
    const auto found = contact::exact::intersections(all, body_triangles);
    int counted = 0;
    for (const auto& pair : found) {
      const bool with_obstacle = std::max(pair[0], pair[1]) >= body_triangles;
      counted += with_obstacle || scene_.contact.self;
    }
    note(n, counted, "pairs of triangles that meet", verdict_.intersections);
  }
  void note(int n, int count, const char* what, int& sum) {
    sum += count;
    if (count > 0 && verdict_.fault.empty())
      verdict_.fault = "step " + std::to_string(n) + ": " + std::to_string(count) + ' ' + what;
  }
  static int below(const PlaneObstacle& plane, double time, const contact::exact::TriangleSet& set) {
    const Place point = moved(plane, time, plane.point);
    PlaneObstacle turn = plane;
    turn.velocity = turn.rotation.origin = {};
    const Place normal = moved(turn, time, plane.normal);
    int count = 0;
    std::vector<char> used(set.places.size(), 0);
    for (const auto& t : set.triangles)
      for (const int v : t) used[static_cast<std::size_t>(v)] = 1;
    for (std::size_t v = 0; v < used.size(); ++v) {
      if (!used[v]) continue;
      mpq_class height = 0;
      for (std::size_t c = 0; c < 3; ++c)
        height += mpq_class(normal[c]) * (mpq_class(set.places[v][c]) - mpq_class(point[c]));
      count += sgn(height) <= 0;
    }
    return count;
  }
  static bool is_closed(const contact::exact::TriangleSet& set) {
    std::map<std::array<int, 2>, int> edges;
    for (const auto& t : set.triangles)
      for (std::size_t k = 0; k < 3; ++k) {
        const int a = t[k], b = t[(k + 1) % 3];
        edges[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
      }
    return std::all_of(edges.begin(), edges.end(), [](const auto& edge) { return edge.second == 0; });
  }

  const Scene& scene_;
  const TetrahedralMesh& mesh_;
  std::vector<int> cells_;
  EmbeddedSurface embedded_;  // empty in scenes without an own surface
  std::vector<contact::exact::Corners> surface_;
  std::vector<std::vector<std::size_t>> parts_;  // vertices of each connected part of the surface
  Verdict verdict_;
};

/// Runs a scene and checks every step.
inline Verdict run(const Scene& scene) {
  DifferentiableScene solver = make_solver(scene);
  ExactWatch watch(scene, *solver.mesh());
  solver.model().prepare();
  State state = solver.initial_state();
  watch.look(0, 0.0, state);
  Verdict& verdict = watch.verdict();
  const double begin = MPI_Wtime();
  try {
    solver.require_apart();
    for (int n = 0; n < scene.steps; ++n) {
      solver.step(n, state);
      watch.look(n + 1, (n + 1) * scene.dt, state);
      const ContactState told = solver.contact_state(n + 1, state);
      verdict.active = std::max(verdict.active, told.active_pairs);
      verdict.least = std::min(verdict.least, told.min_distance);
      verdict.told += told.intersections;
    }
  } catch (const std::exception& error) {
    verdict.error = error.what();
  }
  verdict.seconds = MPI_Wtime() - begin;
  return verdict;
}

}  // namespace diffsim::testing_scenes
