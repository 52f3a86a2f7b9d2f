// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "contact/locate_points.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "contact/box_tree_impl.hpp"
#include "contact/pair_kernels.hpp"
#include "core/file_order.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/impl/element.hpp"
#include "mesh/bodies.hpp"

namespace diffsim::contact {
namespace {

using Barycentric = std::array<double, 4>;
using Place = std::array<double, 3>;

/// Largest absolute weight that counts as a rounding error. A node with such a weight is omitted from the stencil. The
/// stencil of a surface vertex at a vertex of a cell then contains only this vertex of the cell.
constexpr double negligible = 1e-12;

/// Computes the shape functions N_a of linear and second-order cells, and their derivatives ∂N_a/∂λ_k (`slope`).
void shape_functions(int nodes, const Barycentric& l, double* N, double (*slope)[4]) {
  for (std::size_t a = 0; a < 4; ++a) {
    N[a] = nodes == 4 ? l[a] : l[a] * (2.0 * l[a] - 1.0);
    for (std::size_t k = 0; k < 4; ++k) slope[a][k] = k != a ? 0.0 : nodes == 4 ? 1.0 : 4.0 * l[a] - 1.0;
  }
  for (int e = 0; e < nodes - 4; ++e) {
    const auto a = static_cast<std::size_t>(edge_corners[e][0]), b = static_cast<std::size_t>(edge_corners[e][1]);
    N[4 + e] = 4.0 * l[a] * l[b];
    for (std::size_t k = 0; k < 4; ++k) slope[4 + e][k] = k == a ? 4.0 * l[b] : k == b ? 4.0 * l[a] : 0.0;
  }
}

double determinant(const Place& a, const Place& b, const Place& c) {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/// Cell, given by the rest positions of its nodes.
class Cell {
 public:
  Cell(const TetrahedralMesh& mesh, int cell) : nodes_(mesh.nodes_per_cell()) {
    for (int a = 0; a < nodes_; ++a) {
      const auto v = 3 * static_cast<std::size_t>(mesh.cells()[static_cast<std::size_t>(nodes_ * cell + a)]);
      for (std::size_t c = 0; c < 3; ++c) x_[static_cast<std::size_t>(a)][c] = mesh.rest_positions()[v + c];
    }
  }
  /// Barycentric coordinates λ with Σ_a N_a(λ) x_a = p, computed by Newton's method. One Newton step is exact for
  /// linear cells.
  Barycentric coordinates(const Place& p) const {
    Barycentric l{0.25, 0.25, 0.25, 0.25};
    const int steps = nodes_ == 4 ? 1 : 20;
    for (int step = 0; step < steps; ++step) {
      double N[PointStencil::most], slope[PointStencil::most][4];
      shape_functions(nodes_, l, N, slope);
      Place rest = p;
      std::array<Place, 3> columns{};  // columns[k] = ∂x/∂λ_{k+1} - ∂x/∂λ_0
      for (std::size_t a = 0; a < static_cast<std::size_t>(nodes_); ++a)
        for (std::size_t c = 0; c < 3; ++c) {
          rest[c] -= N[a] * x_[a][c];
          for (std::size_t k = 0; k < 3; ++k) columns[k][c] += (slope[a][k + 1] - slope[a][0]) * x_[a][c];
        }
      const double det = determinant(columns[0], columns[1], columns[2]);
      double change = 0.0;
      for (std::size_t k = 0; k < 3; ++k) {
        std::array<Place, 3> replaced = columns;
        replaced[k] = rest;
        const double d = determinant(replaced[0], replaced[1], replaced[2]) / det;
        l[k + 1] += d;
        l[0] -= d;
        change = std::max(change, std::abs(d));
      }
      if (change < 1e-15) break;
    }
    return l;
  }
  int nodes() const { return nodes_; }

 private:
  int nodes_;
  std::array<Place, PointStencil::most> x_{};
};

/// Returns -min λ for a point outside a cell: the distance of the point from a face's plane, as a fraction of the
/// cell's height above this face. Returns 0 for a point inside the cell, and infinity if λ is not finite.
double outside(const Barycentric& l) {
  const double least = *std::min_element(l.begin(), l.end());
  if (!(std::isfinite(l[0]) && std::isfinite(l[1]) && std::isfinite(l[2]) && std::isfinite(l[3])))
    return std::numeric_limits<double>::infinity();
  return least > -negligible ? 0.0 : -least;
}

/// Cell of this rank that is chosen for a point, with the barycentric coordinates λ of the point in the cell.
struct Choice {
  double outside = std::numeric_limits<double>::infinity();
  std::int64_t number = std::numeric_limits<std::int64_t>::max();  // number of the cell in the file
  int cell = -1;
  Barycentric lambda{};
};

Box box_around(const Place& p, double reach) {
  return {{p[0] - reach, p[1] - reach, p[2] - reach}, {p[0] + reach, p[1] + reach, p[2] + reach}};
}

/// Predicate that selects all pairs of a query and a box.
struct KeepAll {
  KOKKOS_INLINE_FUNCTION bool operator()(int, int) const { return true; }
};

class Search {
 public:
  Search(const TetrahedralMesh& mesh, std::size_t body, const std::vector<Place>& points)
      : mesh_(mesh), points_(points), choices_(points.size()) {
    std::vector<Box> boxes;
    const auto nodes = static_cast<std::size_t>(mesh.nodes_per_cell());
    for (int c = 0; c < mesh.num_cells(); ++c) {
      const std::int64_t number = mesh.cell_order().file_index()[static_cast<std::size_t>(c)];
      if (static_cast<std::size_t>(body_of_cell(mesh.bodies(), number)) != body) continue;
      cells_.push_back(c);
      constexpr double big = std::numeric_limits<double>::max();
      Box box = {{big, big, big}, {-big, -big, -big}};
      for (std::size_t a = 0; a < nodes; ++a) {
        const auto v = 3 * static_cast<std::size_t>(mesh.cells()[nodes * static_cast<std::size_t>(c) + a]);
        const double* const x = &mesh.rest_positions()[v];
        box.include({{x[0], x[1], x[2]}, {x[0], x[1], x[2]}});
      }
      boxes.push_back(box);
    }
    boxes_ = to_device("diffsim::contact::cell_boxes", boxes);
  }
  /// Chooses the cell with the smallest value of `outside` for each point that is not inside a cell found before. The
  /// candidates are the cells whose bounding boxes are within `reach` (m) of the point.
  void look(double reach) {
    std::vector<Box> queries;
    std::vector<std::size_t> asked;
    for (std::size_t p = 0; p < points_.size(); ++p) {
      if (choices_[p].outside == 0.0) continue;
      queries.push_back(box_around(points_[p], reach));
      asked.push_back(p);
    }
    const auto pairs = host_view(find_pairs(BoxTree(boxes_), to_device("diffsim::contact::point_boxes", queries),
                                            KeepAll(), std::int64_t{1} << 28, "surface points and cells"));
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::size_t p = asked[static_cast<std::size_t>(pairs(i).query)];
      const int cell = cells_[static_cast<std::size_t>(pairs(i).leaf)];
      const Barycentric lambda = Cell(mesh_, cell).coordinates(points_[p]);
      const std::int64_t number = mesh_.cell_order().file_index()[static_cast<std::size_t>(cell)];
      const double out = outside(lambda);
      if (std::pair(out, number) < std::pair(choices_[p].outside, choices_[p].number))
        choices_[p] = {out, number, cell, lambda};
    }
  }
  /// Selects, for each point, the cell with the smallest value of `outside` among the cells that the ranks have chosen.
  /// If several cells have this value, the cell with the lowest number is selected. The rank of the selected cell keeps
  /// its `cell`; the other ranks set `cell` to -1. All ranks set `outside` and `number` to the values of the selected
  /// cell. Collective.
  void agree() {
    std::vector<double> least;
    std::vector<std::int64_t> numbers;
    for (const Choice& choice : choices_) least.push_back(choice.outside);
    const int count = static_cast<int>(least.size());
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, least.data(), count, MPI_DOUBLE, MPI_MIN, mesh_.comm()));
    for (std::size_t p = 0; p < least.size(); ++p)
      numbers.push_back(choices_[p].outside == least[p] ? choices_[p].number
                                                        : std::numeric_limits<std::int64_t>::max());
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), count, MPI_INT64_T, MPI_MIN, mesh_.comm()));
    for (std::size_t p = 0; p < least.size(); ++p) {
      if (choices_[p].number != numbers[p]) choices_[p].cell = -1;
      choices_[p].outside = least[p];
      choices_[p].number = numbers[p];
    }
  }
  const std::vector<Choice>& choices() const { return choices_; }

 private:
  const TetrahedralMesh& mesh_;
  const std::vector<Place>& points_;
  std::vector<Choice> choices_;
  std::vector<int> cells_;
  DeviceArray<Box> boxes_;
};

/// Stencil of a point in its chosen cell. `places`: owner of each local vertex, and index of the vertex on the owner.
/// `all_nodes`: true if nodes with negligible weights are not omitted.
PointStencil stencil_of(const TetrahedralMesh& mesh, const Choice& choice, const std::vector<VertexLocation>& places,
                        bool all_nodes) {
  double N[PointStencil::most], slope[PointStencil::most][4];
  const int nodes = mesh.nodes_per_cell();
  shape_functions(nodes, choice.lambda, N, slope);
  PointStencil stencil;
  double sum = 0.0;
  std::size_t largest = 0;
  for (int a = 0; a < nodes; ++a) {
    if (!all_nodes && std::abs(N[a]) <= negligible) continue;
    const auto k = static_cast<std::size_t>(stencil.count++);
    const int vertex = mesh.cells()[static_cast<std::size_t>(nodes * choice.cell + a)];
    stencil.nodes[k] = places[static_cast<std::size_t>(vertex)];
    stencil.weights[k] = N[a];
    sum += N[a];
    if (std::abs(N[a]) > std::abs(stencil.weights[largest])) largest = k;
  }
  // The weights must sum to 1, so that a translation of the body also translates the point.
  stencil.weights[largest] += 1.0 - sum;
  return stencil;
}

}  // namespace

std::vector<LocatedPoint> locate_points(const TetrahedralMesh& mesh, std::size_t body,
                                        const std::vector<std::array<double, 3>>& points,
                                        const std::function<std::string(std::size_t)>& name, bool all_nodes) {
  Search search(mesh, body, points);
  const double longest = mesh.quality().max_edge;
  const bool affine = !mesh.bodies().empty() && mesh.bodies()[body].affine;
  constexpr double anywhere = 1e150;  // an affine body has one cell, which is used at any distance
  for (const double reach : {1e-9 * longest, affine ? anywhere : longest}) {
    collectively(mesh.comm(), [&] { search.look(reach); });
    search.agree();
  }
  std::vector<VertexLocation> places(static_cast<std::size_t>(mesh.num_vertices()));
  for (std::size_t v = 0; v < places.size(); ++v) places[v] = {rank_of(mesh.comm()), static_cast<int>(v)};
  mesh.vertex_exchange().copy_to_ghosts(places);
  std::vector<LocatedPoint> located;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const Choice& choice = search.choices()[p];
    if (!std::isfinite(choice.outside))
      throw Error(name(p) + " is farther from all cells of the body than the longest edge, " + std::to_string(longest) +
                      " m; check the scale and position of the mesh or point",
                  ErrorKind::input);
    if (choice.cell >= 0) located.push_back({p, stencil_of(mesh, choice, places, all_nodes), choice.outside});
  }
  return located;
}

}  // namespace diffsim::contact
