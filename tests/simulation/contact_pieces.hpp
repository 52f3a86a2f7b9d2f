// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Parts of meshes for contact scenes.

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "contact/exact_surface.hpp"
#include "data_folder.hpp"
#include "diffsim/io/read_mesh.hpp"
#include "diffsim/mesh/construction.hpp"

namespace diffsim::testing_scenes {

using Place = std::array<double, 3>;

/// Part of the mesh, complete on every rank, and its initial velocity.
struct Piece {
  std::vector<Place> places;
  std::vector<std::int64_t> cells;
  Place velocity{}, spin{};  ///< m/s; rad/s about `middle()`

  Place middle() const {
    Place sum{};
    for (const Place& x : places)
      for (std::size_t c = 0; c < 3; ++c) sum[c] += x[c] / static_cast<double>(places.size());
    return sum;
  }
  double shortest_edge() const {
    double squared = std::numeric_limits<double>::infinity();
    for (std::size_t begin = 0; begin < cells.size(); begin += 4)
      for (std::size_t a = 0; a < 4; ++a)
        for (std::size_t b = a + 1; b < 4; ++b) {
          double sum = 0.0;
          for (std::size_t c = 0; c < 3; ++c)
            sum += std::pow(places[static_cast<std::size_t>(cells[begin + a])][c] -
                                places[static_cast<std::size_t>(cells[begin + b])][c],
                            2);
          squared = std::min(squared, sum);
        }
    return std::sqrt(squared);
  }
  Piece moved(Place by) const {
    Piece result = *this;
    for (Place& x : result.places)
      for (std::size_t c = 0; c < 3; ++c) x[c] += by[c];
    return result;
  }
  /// Returns the piece rotated by `angle` about a coordinate axis through the origin.
  Piece turned(std::size_t axis, double angle) const {
    Piece result = *this;
    const std::size_t i = (axis + 1) % 3, j = (axis + 2) % 3;
    for (Place& x : result.places) {
      const double a = x[i], b = x[j];
      x[i] = std::cos(angle) * a - std::sin(angle) * b;
      x[j] = std::sin(angle) * a + std::cos(angle) * b;
    }
    return result;
  }
  Piece thrown(Place v, Place turning = {}) const {
    Piece result = *this;
    result.velocity = v;
    result.spin = turning;
    return result;
  }
  /// Returns the piece moved along an axis so that its lowest coordinate is `level`.
  Piece standing(std::size_t axis, double level) const {
    double low = std::numeric_limits<double>::infinity();
    for (const Place& x : places) low = std::min(low, x[axis]);
    Place by{};
    by[axis] = level - low;
    return moved(by);
  }
  /// Returns the cells whose centroids satisfy `wanted`.
  Piece cut(const std::function<bool(const Place&)>& wanted) const {
    Piece result;
    std::vector<std::int64_t> renamed(places.size(), -1);
    for (std::size_t begin = 0; begin < cells.size(); begin += 4) {
      Place m{};
      for (std::size_t k = 0; k < 4; ++k)
        for (std::size_t c = 0; c < 3; ++c) m[c] += places[static_cast<std::size_t>(cells[begin + k])][c] / 4.0;
      if (!wanted(m)) continue;
      for (std::size_t k = 0; k < 4; ++k) {
        std::int64_t& name = renamed[static_cast<std::size_t>(cells[begin + k])];
        if (name < 0) {
          name = static_cast<std::int64_t>(result.places.size());
          result.places.push_back(places[static_cast<std::size_t>(cells[begin + k])]);
        }
        result.cells.push_back(name);
      }
    }
    return result;
  }
};

inline Piece piece_of(const MeshData& data) {
  Piece piece;
  for (std::size_t i = 0; i < data.coordinates.size(); i += 3)
    piece.places.push_back({data.coordinates[i], data.coordinates[i + 1], data.coordinates[i + 2]});
  piece.cells = data.cells;
  return piece;
}

/// Box of tetrahedra, centred at the origin.
inline Piece block(Place size, std::array<int, 3> cells) {
  return piece_of(box_mesh(size, cells, 0, 1)).moved({-0.5 * size[0], -0.5 * size[1], -0.5 * size[2]});
}

/// Reads a mesh produced by another program, centres its bounding box at the origin and scales its longest extent to
/// `size`. Returns nullopt if the file does not exist.
inline std::optional<Piece> from_file(const std::string& name, double size) {
  const auto file = testing_data::meshes_folder() / (name + ".msh");
  if (!std::filesystem::exists(file)) return std::nullopt;
  // This call removes the vertices that belong to no cell.
  Piece piece = piece_of(read_mesh_data(MPI_COMM_SELF, file.string())).cut([](const Place&) { return true; });
  Place low = piece.places[0], high = low;
  for (const Place& x : piece.places)
    for (std::size_t c = 0; c < 3; ++c) {
      low[c] = std::min(low[c], x[c]);
      high[c] = std::max(high[c], x[c]);
    }
  const double scale = size / std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  for (Place& x : piece.places)
    for (std::size_t c = 0; c < 3; ++c) x[c] = scale * (x[c] - 0.5 * (low[c] + high[c]));
  return piece;
}

/// Boundary of the pieces, each scaled by `factor` about its middle. Each triangle is divided into four.
inline TriangleMesh divided_boundary(const std::vector<Piece>& pieces, double factor) {
  TriangleMesh result;
  for (const Piece& piece : pieces) {
    const std::vector<int> cells(piece.cells.begin(), piece.cells.end());
    const Place middle = piece.middle();
    std::map<std::array<int, 2>, int> numbers;  // {a, b}: index of the edge's midpoint; {a, a}: of corner a
    const auto vertex_of = [&](int a, int b) {
      const auto next = static_cast<int>(result.vertices.size());
      const auto [found, is_new] = numbers.try_emplace({std::min(a, b), std::max(a, b)}, next);
      if (is_new) {
        const Place &p = piece.places[static_cast<std::size_t>(a)], &q = piece.places[static_cast<std::size_t>(b)];
        Place& x = result.vertices.emplace_back();
        for (std::size_t c = 0; c < 3; ++c) x[c] = middle[c] + factor * (0.5 * (p[c] + q[c]) - middle[c]);
      }
      return found->second;
    };
    for (const auto& [a, b, c] : contact::exact::surface_of(cells, 4)) {
      const int ab = vertex_of(a, b), bc = vertex_of(b, c), ca = vertex_of(c, a);
      for (const std::array<int, 3>& part : {std::array{vertex_of(a, a), ab, ca}, std::array{ab, vertex_of(b, b), bc},
                                             std::array{ca, bc, vertex_of(c, c)}, std::array{ab, bc, ca}})
        result.triangles.push_back(part);
    }
  }
  return result;
}

inline constexpr double quarter = 0.25 * std::numbers::pi;
/// Second rotation angle of a cube that stands on a corner; the first rotation is an eighth of a turn.
inline const double corner = std::atan(std::sqrt(0.5));

inline Piece cube(int cells = 2) { return block({0.1, 0.1, 0.1}, {cells, cells, cells}); }
inline Piece slab() { return block({0.12, 0.04, 0.12}, {3, 1, 3}); }
inline Piece on_edge() { return cube().turned(2, quarter); }
inline Piece on_corner() { return cube().turned(0, quarter).turned(2, corner); }

}  // namespace diffsim::testing_scenes
