// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Parts of meshes that scenes of contact are made of.

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "data_folder.hpp"
#include "diffsim/io/read_mesh.hpp"
#include "diffsim/mesh/box.hpp"

namespace diffsim::testing_scenes {

using Place = std::array<double, 3>;

/// A part of the mesh, whole, with the velocity it begins with.
struct Piece {
  std::vector<Place> places;
  std::vector<std::int64_t> cells;
  Place velocity{}, spin{};  ///< m/s; rad/s about the piece's middle

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
  /// About an axis of the frame through the origin.
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
  /// So that its lowest place along an axis is there.
  Piece standing(std::size_t axis, double level) const {
    double low = std::numeric_limits<double>::infinity();
    for (const Place& x : places) low = std::min(low, x[axis]);
    Place by{};
    by[axis] = level - low;
    return moved(by);
  }
  /// Only the cells whose middle is wanted.
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

/// A box of tetrahedra about the origin.
inline Piece block(Place size, std::array<int, 3> cells) {
  return piece_of(box_mesh(size, cells, 0, 1)).moved({-0.5 * size[0], -0.5 * size[1], -0.5 * size[2]});
}

/// A mesh made elsewhere, about the origin and as large as said in its longest direction; none where it is absent.
inline std::optional<Piece> from_file(const std::string& name, double size) {
  const auto file = testing_data::meshes_folder() / (name + ".msh");
  if (!std::filesystem::exists(file)) return std::nullopt;
  // Vertices that no cell has are left out.
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

inline constexpr double quarter = 0.25 * std::numbers::pi;
/// The angle by which a cube stands on a corner, after an eighth turn.
inline const double corner = std::atan(std::sqrt(0.5));

inline Piece cube(int cells = 2) { return block({0.1, 0.1, 0.1}, {cells, cells, cells}); }
inline Piece slab() { return block({0.12, 0.04, 0.12}, {3, 1, 3}); }
inline Piece on_edge() { return cube().turned(2, quarter); }
inline Piece on_corner() { return cube().turned(0, quarter).turned(2, corner); }

}  // namespace diffsim::testing_scenes
