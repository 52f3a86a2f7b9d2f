// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// Slack of the lists of candidate pairs: the distance that vertices may move before the lists are built again.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "contact/candidates.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"

namespace diffsim::contact {
namespace {

/// Returns the largest distance (m), along a coordinate axis, by which any vertex is outside its box. `boxes` has one
/// box for each mesh vertex in `vertices`, then one box for each vertex of `obstacles`.
double farthest(const DeviceArray<int>& vertices, const DeviceArray<Box>& boxes, const double* x,
                const Vectors& obstacles) {
  const int mesh_vertices = static_cast<int>(vertices.size());
  const double infinity = std::numeric_limits<double>::infinity();
  double most = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::contact::farthest", Range(0, static_cast<int>(boxes.size())),
      KOKKOS_LAMBDA(int i, double& far) {
        for (int c = 0; c < 3; ++c) {
          const double at = i < mesh_vertices ? x[3 * vertices(i) + c] : obstacles(3 * (i - mesh_vertices) + c);
          const double out = at < boxes(i).low[c] ? boxes(i).low[c] - at : at - boxes(i).high[c];
          if (!(out <= far)) far = out > far ? out : infinity;  // infinity for NaN
        }
      },
      Kokkos::Max<double>(most));
  return most;
}

}  // namespace

double Candidates::farthest_out(const Field& at, const Vectors& obstacles) const {
  return farthest(watched_, watched_at_, at.data(), obstacles);
}

double Candidates::crowding() const {
  const auto pairs = static_cast<double>(pairs_.size());
  const auto primitives = static_cast<double>(pairs_.points.size() + pairs_.edges.size() / 2);
  return std::max(pairs / std::max(primitives, 1.0), 20.0 * pairs / static_cast<double>(max_pairs_));
}

double Candidates::new_slack(double range, double moved, double crowding) const {
  // With a larger slack, the lists contain more pairs, and are built less often. Building the lists takes time in
  // proportion to the number of primitives. The slack therefore increases only while there are fewer pairs.
  constexpr double wanted_calls = 64.0;
  const double least = 0.5 * range;
  if (!std::isfinite(moved) || calls_ == 0) return least;
  const double most = std::min(0.5 * mean_edge_, crowding > 1.0 ? 0.5 * slack_ : 2.0 * slack_);
  return std::max(least, std::min(wanted_calls * moved / calls_, most));
}

double Candidates::mean_edge(const std::vector<double>& x) const {
  double sums[2] = {0.0, static_cast<double>(local_edges_.size())};
  for (const std::array<int, 2>& edge : local_edges_) {
    const std::size_t a = 3 * static_cast<std::size_t>(edge[0]), b = 3 * static_cast<std::size_t>(edge[1]);
    sums[0] += std::hypot(x[a] - x[b], x[a + 1] - x[b + 1], x[a + 2] - x[b + 2]);
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE, MPI_SUM, mesh_->comm()));
  return sums[1] > 0.0 ? sums[0] / sums[1] : 0.0;
}

}  // namespace diffsim::contact
