// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Affine bodies, quality and fingerprint of a TetrahedralMesh.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/file_order.hpp"
#include "core/mix_bits.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/mesh/construction.hpp"
#include "diffsim/mesh/impl/element.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "mesh/affine_body.hpp"
#include "mesh/bodies.hpp"

namespace diffsim {

const AffineBody* TetrahedralMesh::affine_body(int cell) const {
  if (bodies_.empty()) return nullptr;
  const std::int64_t number = cell_order_->file_index()[static_cast<std::size_t>(cell)];
  return bodies_[static_cast<std::size_t>(body_of_cell(bodies_, number))].affine.get();
}

std::vector<double> TetrahedralMesh::volume_factors(const std::vector<int>& cells) const {
  if (!has_affine_bodies(bodies_)) return {};
  std::vector<double> factors;
  const auto add = [&](int cell) {
    const AffineBody* const affine = affine_body(cell);
    factors.push_back(affine ? affine->volume_factor : 1.0);
  };
  for (const int cell : cells) add(cell);
  for (int cell = 0; cells.empty() && cell < num_cells_; ++cell) add(cell);
  return factors;
}

MeshQuality TetrahedralMesh::quality() const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double low[2] = {infinity, infinity};  // minima of edge length and mean ratio
  double high = 0.0;
  double sums[2] = {0.0, 0.0};  // sums of volume and mean ratio
  const auto width = static_cast<std::size_t>(nodes_per_cell());
  const std::vector<double> factors = volume_factors();
  for (std::size_t c = 0; c < static_cast<std::size_t>(num_cells_); ++c) {
    QuadraticCell x;
    for (std::size_t a = 0; a < width; ++a)
      std::copy_n(&positions_[3 * static_cast<std::size_t>(cells_[width * c + a])], 3, x[a].begin());
    double squares = 0.0;
    for (std::size_t a = 0; a < 4; ++a)
      for (std::size_t b = a + 1; b < 4; ++b) {
        const double length = std::hypot(x[a][0] - x[b][0], x[a][1] - x[b][1], x[a][2] - x[b][2]);
        squares += length * length;
        low[0] = std::min(low[0], length);
        high = std::max(high, length);
      }
    std::array<std::array<double, 3>, 3> e;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 3; ++k) e[i][k] = x[i + 1][k] - x[0][k];
    const double straight =
        (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
         e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
        6.0;
    const double ratio = 12.0 * std::cbrt(9.0 * straight * straight) / squares;
    low[1] = std::min(low[1], ratio);
    sums[0] += order_ == 2 ? volume(x) : straight * (factors.empty() ? 1.0 : factors[c]);
    sums[1] += ratio;
  }
  const auto add_edge = [&](int first, int second) {
    const double* const a = &positions_[3 * static_cast<std::size_t>(first)];
    const double* const b = &positions_[3 * static_cast<std::size_t>(second)];
    const double length = std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
    low[0] = std::min(low[0], length);
    high = std::max(high, length);
  };
  const std::vector<int>& ends = lower_cells(CellKind::segment).vertices;
  for (std::size_t s = 0; s < ends.size(); s += 2) add_edge(ends[s], ends[s + 1]);
  const std::vector<int>& corners = lower_cells(CellKind::triangle).vertices;
  for (std::size_t t = 0; t < corners.size(); ++t) add_edge(corners[t], corners[t % 3 == 2 ? t - 2 : t + 1]);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, low, 2, MPI_DOUBLE, MPI_MIN, comm_));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &high, 1, MPI_DOUBLE, MPI_MAX, comm_));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, comm_));
  if (num_global_cells() == 0) return {0.0, std::isfinite(low[0]) ? low[0] : 0.0, high, 0.0, 0.0};
  return {sums[0], low[0], high, low[1], sums[1] / static_cast<double>(num_global_cells())};
}

std::uint64_t TetrahedralMesh::fingerprint() const {
  std::uint64_t sum = 0;
  const auto add = [&](std::span<const int> cells, std::size_t width, const FileOrder& order, std::uint64_t kind) {
    for (std::size_t c = 0; width * c < cells.size(); ++c) {
      std::uint64_t hash = mix_bits(kind ^ static_cast<std::uint64_t>(order.file_index()[c]));
      for (std::size_t a = 0; a < width; ++a) {
        const auto v = static_cast<std::size_t>(cells[width * c + a]);
        hash = mix_bits(hash ^ static_cast<std::uint64_t>(vertex_order_->file_index()[v]));
        for (std::size_t k = 0; k < 3; ++k) {
          std::uint64_t bits = 0;
          std::memcpy(&bits, &positions_[3 * v + k], sizeof(bits));
          hash = mix_bits(hash ^ bits);
        }
      }
      sum += hash;
    }
  };
  add(cells(), static_cast<std::size_t>(nodes_per_cell()), *cell_order_, 0);
  for (const CellKind kind : lower_kinds) {
    const auto corners = static_cast<std::size_t>(corners_of(kind));
    add(lower_cells(kind).vertices, corners, *lower_cells(kind).order, static_cast<std::uint64_t>(corners) << 56);
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm_));
  return sum;
}

}  // namespace diffsim
