// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "mesh/directors.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "core/file_order.hpp"
#include "core/redistribute.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/impl/small_tensor.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {
namespace {

using Vector = Vec3<double>;

Vector times(double a, const Vector& x) { return {{a * x[0], a * x[1], a * x[2]}}; }
double length(const Vector& x) { return std::sqrt(dot(x, x)); }
Vector unit(const Vector& x) { return times(1.0 / length(x), x); }

/// Lines of connected segments, and computation of their directors.
class Lines {
 public:
  Lines(const std::vector<double>& x, const std::vector<std::int64_t>& ends)
      : x_(x), ends_(ends), num_(ends.size() / 2), of_vertex_(2 * x.size() / 3, none), is_done_(num_, 0), D_(num_) {
    for (std::size_t s = 0; s < num_; ++s)
      for (std::size_t end = 0; end < 2; ++end) {
        std::size_t* const of = &of_vertex_[2 * vertex(s, end)];
        if (of[1] != none)
          throw InputError("vertex " + std::to_string(ends[2 * s + end]) + " is an end of segments " +
                           std::to_string(of[0]) + ", " + std::to_string(of[1]) + " and " + std::to_string(s) +
                           "; a rod has no branches: use a rope, or separate bodies");
        of[of[0] == none ? 0 : 1] = s;
      }
  }

  /// Returns the directors of all segments, [segments, 3], each as long as its segment. `across`: see add_directors().
  std::vector<double> directors(const std::optional<std::array<double, 3>>& across) {
    if (across)
      for (std::size_t s = 0; s < num_; ++s) project(s, {{(*across)[0], (*across)[1], (*across)[2]}});
    else
      transport_all();
    std::vector<double> result;
    for (std::size_t s = 0; s < num_; ++s)
      for (int c = 0; c < 3; ++c) result.push_back(length(edge(s, 0)) * D_[s][c]);
    return result;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  std::size_t vertex(std::size_t s, std::size_t end) const { return static_cast<std::size_t>(ends_[2 * s + end]); }
  /// Returns the vector from end `from` of segment s to the other end.
  Vector edge(std::size_t s, std::size_t from) const {
    Vector e;
    for (int c = 0; c < 3; ++c)
      e[c] = x_[3 * vertex(s, 1 - from) + static_cast<std::size_t>(c)] -
             x_[3 * vertex(s, from) + static_cast<std::size_t>(c)];
    return e;
  }
  void project(std::size_t s, const Vector& vector) {
    const Vector t = unit(edge(s, 0)), across = vector - times(dot(vector, t), t);
    if (!(length(across) > 1e-6 * length(vector)))
      throw InputError("the director is along segment " + std::to_string(s) +
                       "; give a vector that is not parallel to any segment");
    D_[s] = unit(across);
  }

  /// Sets the directors of all lines by transport without twist. Transport starts at the lower-numbered end vertex of
  /// an open line, and at the lowest-numbered segment of a closed line.
  void transport_all() {
    for (std::size_t v = 0; 2 * v < of_vertex_.size(); ++v) {
      const std::size_t s = of_vertex_[2 * v];
      if (s != none && of_vertex_[2 * v + 1] == none && !is_done_[s]) transport(s, vertex(s, 0) == v ? 0 : 1);
    }
    for (std::size_t s = 0; s < num_; ++s)
      if (!is_done_[s]) transport(s, 0);
  }
  void transport(std::size_t first, std::size_t from) {
    Vector t = unit(edge(first, from));
    Vector axis{{0.0, 0.0, 0.0}};
    const double size[] = {std::abs(t[0]), std::abs(t[1]), std::abs(t[2])};
    axis[size[2] <= size[0] && size[2] <= size[1] ? 2 : size[1] <= size[0] ? 1 : 0] = 1.0;
    project(first, axis);
    is_done_[first] = 1;
    std::vector<std::size_t> line{first};
    std::vector<Vector> tangents{t};
    Vector D = D_[first];
    for (std::size_t s = first, start = from;;) {
      const std::size_t v = vertex(s, 1 - start),
                        next = of_vertex_[2 * v] == s ? of_vertex_[2 * v + 1] : of_vertex_[2 * v];
      if (next == none) return;
      start = vertex(next, 0) == v ? 0 : 1;
      const Vector u = unit(edge(next, start));
      const double sum = 1.0 + dot(t, u);
      if (!(sum > 1e-9))
        throw InputError("segments " + std::to_string(s) + " and " + std::to_string(next) + " turn back on each other");
      D = unit(D - times(dot(u, D) / sum, t + u));
      t = u;
      s = next;
      if (next == first) break;
      is_done_[s] = 1;
      D_[s] = D;
      line.push_back(s);
      tangents.push_back(t);
    }
    // Closed line: angle from the first director to the director transported once around the line.
    const double angle = std::atan2(dot(cross(D_[first], D), tangents[0]), dot(D_[first], D));
    for (std::size_t i = 1; i < line.size(); ++i) {
      const double turn = -angle * static_cast<double>(i) / static_cast<double>(line.size());
      const Vector& d = D_[line[i]];
      D_[line[i]] = times(std::cos(turn), d) + times(std::sin(turn), cross(tangents[i], d));
    }
  }

  const std::vector<double>& x_;
  const std::vector<std::int64_t>& ends_;
  std::size_t num_;
  std::vector<std::size_t> of_vertex_;  // indices of the segments at each vertex, or `none`: [vertices, 2]
  std::vector<char> is_done_;
  std::vector<Vector> D_;  // unit vectors
};

}  // namespace

// Without `across`, the first director of each line of connected segments has the direction of a coordinate axis,
// projected onto the plane perpendicular to the line's first segment. Of the three coordinate axes, the axis is
// projected that is most nearly perpendicular to the line's first segment. The other directors of a line are found by
// parallel transport of the line's first director, without twist. On a closed line of segments, parallel transport once
// around the line ends at an angle to the first director; this angle is distributed evenly over the segments.
void add_directors(MPI_Comm comm, MeshData& mesh, const std::optional<std::array<double, 3>>& across) {
  const ProfilingRegion region("diffsim::mesh::add_directors");
  MeshData::LowerCells& segments = mesh.lower(CellKind::segment);
  if (mesh.kind() != CellKind::segment || mesh.num_of(CellKind::segment) == 0)
    throw InputError("directors belong to segments, but the cells of the mesh are " +
                     std::string(name_of(mesh.kind())) + "; give a mesh of segments");
  if (segments.num_directors > 0) throw InputError("the mesh has directors already; add directors once");
  const auto to_first = [](auto) { return 0; };
  const std::vector<double> x = redistribute(comm, mesh.coordinates, to_first);
  const std::vector<std::int64_t> ends = redistribute(comm, segments.nodes, to_first);
  std::vector<double> directors;
  collectively(comm, [&] {
    if (is_first_rank(comm)) directors = Lines(x, ends).directors(across);
  });
  // Directors are the last vertices, so they belong to the last rank's block.
  directors = redistribute(comm, directors, [last = num_ranks(comm) - 1](double) { return last; });
  mesh.coordinates.insert(mesh.coordinates.end(), directors.begin(), directors.end());
  for (std::int64_t c = 0; c < mesh.block_of(CellKind::segment); ++c)
    segments.directors.push_back(mesh.num_vertices + segments.first + c);
  segments.num_directors = segments.num;
  mesh.num_vertices += segments.num;
  if (mesh.bodies.empty()) {
    MeshBody body;
    body.name = unnamed_body;
    body.kind = CellKind::segment;
    mesh.bodies.push_back(body);
  }
  mesh.bodies.front().num_directors = segments.num;
}

void turn_directors(const TetrahedralMesh& mesh, std::vector<double>& positions) {
  const LowerCellSet& segments = mesh.lower_cells(CellKind::segment);
  const auto vector = [](const std::vector<double>& x, int vertex) {
    const double* const at = &x[3 * static_cast<std::size_t>(vertex)];
    return Vector{{at[0], at[1], at[2]}};
  };
  collectively(mesh.comm(), [&] {
    for (std::size_t s = 0; s < segments.directors.size(); ++s) {
      const int director = segments.directors[s];
      if (director < 0) continue;
      const int a = segments.vertices[2 * s], b = segments.vertices[2 * s + 1];
      const Vector t = unit(vector(mesh.rest_positions(), b) - vector(mesh.rest_positions(), a));
      const Vector u = unit(vector(positions, b) - vector(positions, a)), D = vector(mesh.rest_positions(), director);
      const double sum = 1.0 + dot(t, u);
      if (!(sum > 1e-9))
        throw InputError(
            "segment " + cell_name(mesh.bodies(), segments.order->file_index()[s], CellKind::segment) +
            " of the initial shape has reversed its direction; the rotation of its director is not unique");
      // D after the smallest rotation that takes t to u. The rotation axis is perpendicular to t and u.
      const Vector moved = D - times(dot(t + u, D) / sum, t + u) + times(2.0 * dot(t, D), u);
      for (std::size_t c = 0; c < 3; ++c)
        positions[3 * static_cast<std::size_t>(director) + c] += moved[static_cast<int>(c)] - D[static_cast<int>(c)];
    }
  });
}

}  // namespace diffsim
