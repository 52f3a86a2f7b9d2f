// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/point_map.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "core/exchange.hpp"
#include "core/node_vectors.hpp"
#include "core/to_index.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

bool before(const VertexLocation& a, const VertexLocation& b) {
  return std::tie(a.rank, a.index) < std::tie(b.rank, b.index);
}

/// Sparse matrix of scalars in device memory, stored in compressed row format (CSR).
struct Rows {
  DeviceArray<int> begin, columns;
  DeviceArray<double> values;

  int size() const { return static_cast<int>(begin.size()) - 1; }
};

/// Returns Wᵀ, where W is the matrix whose rows are the stencils `rows`. `nodes`: number of local nodes, the number of
/// rows of Wᵀ.
Rows transposed(const NumberedStencils& rows, int nodes) {
  std::vector<int> begin(to_index(nodes) + 1, 0), columns(rows.nodes.size());
  std::vector<double> values(rows.nodes.size());
  for (const int node : rows.nodes) ++begin[to_index(node) + 1];
  for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
  std::vector<int> next(begin.begin(), begin.end() - 1);
  for (int p = 0; p < rows.num_points(); ++p)
    for (int i = rows.begin[to_index(p)]; i < rows.begin[to_index(p) + 1]; ++i) {
      const std::size_t place = to_index(next[to_index(rows.nodes[to_index(i)])]++);
      columns[place] = p;
      values[place] = rows.weights[to_index(i)];
    }
  return {to_device("diffsim::core::begin", begin), to_device("diffsim::core::points", columns),
          to_device("diffsim::core::weights", values)};
}

/// Computes y_i += Σ_j a_ij x_j, where x_j and y_i are vectors of three components.
void add_products(const Rows& rows, const double* x, double* y) {
  const DeviceArray<int> begin = rows.begin, columns = rows.columns;
  const DeviceArray<double> values = rows.values;
  Kokkos::parallel_for(
      "diffsim::core::map_points", Range(0, rows.size()), KOKKOS_LAMBDA(int row) {
        double sum[3] = {};
        for (int i = begin(row); i < begin(row + 1); ++i)
          for (int c = 0; c < 3; ++c) sum[c] += values(i) * x[3 * columns(i) + c];
        for (int c = 0; c < 3; ++c) y[3 * row + c] += sum[c];
      });
  Kokkos::fence();
}

}  // namespace

void copy_vectors(const double* from, double* to, std::size_t nodes) {
  Kokkos::parallel_for(
      "diffsim::core::copy_nodes", Range(0, static_cast<int>(3 * nodes)), KOKKOS_LAMBDA(int i) { to[i] = from[i]; });
  Kokkos::fence();
}

void add_vectors(const double* from, double* to, std::size_t nodes) {
  Kokkos::parallel_for(
      "diffsim::core::add_nodes", Range(0, static_cast<int>(3 * nodes)), KOKKOS_LAMBDA(int i) { to[i] += from[i]; });
  Kokkos::fence();
}

std::shared_ptr<const Entities> with_copies(const Entities& owned, const std::vector<VertexLocation>& copies) {
  std::vector<PetscInt> ranks, places;
  for (const VertexLocation& copy : copies) {
    ranks.push_back(copy.rank);
    places.push_back(copy.index);
  }
  return with_copies(owned, ranks, places);
}

NumberedStencils::NumberedStencils(const std::vector<PointStencil>& stencils, int rank, int owned) : begin(1, 0) {
  for (const PointStencil& point : stencils)
    for (std::size_t k = 0; k < to_index(point.count); ++k)
      if (point.nodes[k].rank != rank) copies.push_back(point.nodes[k]);
  std::sort(copies.begin(), copies.end(), before);
  copies.erase(std::unique(copies.begin(), copies.end()), copies.end());
  for (const PointStencil& point : stencils) {
    for (std::size_t k = 0; k < to_index(point.count); ++k) {
      const VertexLocation& node = point.nodes[k];
      const auto copy = std::lower_bound(copies.begin(), copies.end(), node, before);
      nodes.push_back(node.rank == rank ? node.index : owned + static_cast<int>(copy - copies.begin()));
      weights.push_back(point.weights[k]);
    }
    begin.push_back(static_cast<int>(nodes.size()));
  }
}

struct PointMap::Device {
  Rows rows, columns;  // rows of W, and of Wᵀ
};

PointMap::PointMap(std::shared_ptr<const Entities> nodes, std::shared_ptr<const Entities> points,
                   std::vector<PointStencil> stencils)
    : nodes_(std::move(nodes)), points_(std::move(points)), stencils_(std::move(stencils)) {
  collectively(nodes_->comm(), [&] {
    if (stencils_.size() != points_->local())
      throw Error("PointMap: there are " + std::to_string(stencils_.size()) + " stencils for " +
                  std::to_string(points_->local()) + " points");
  });
  const NumberedStencils numbered(stencils_, rank_of(nodes_->comm()), static_cast<int>(nodes_->owned()));
  near_ = with_copies(*nodes_, numbered.copies);
  device_ = std::make_unique<const Device>(
      Device{{to_device("diffsim::core::begin", numbered.begin), to_device("diffsim::core::nodes", numbered.nodes),
              to_device("diffsim::core::weights", numbered.weights)},
             transposed(numbered, static_cast<int>(near_->local()))});
}

PointMap::~PointMap() = default;

void PointMap::apply(const Field& q, Field& x) const {
  Field all = pool_->take("nodes", near_, 3);
  copy_vectors(q.data(), all.data(), nodes_->owned());
  near_->exchange()->copy_to_ghosts(all);
  x.fill(0.0);
  add_products(device_->rows, all.data(), x.data());
}

void PointMap::add_transpose(const Field& x_bar, Field& q_bar) const {
  Field all = pool_->take("nodes", near_, 3);
  add_products(device_->columns, x_bar.data(), all.data());
  near_->exchange()->add_to_owners(all);
  add_vectors(all.data(), q_bar.data(), nodes_->owned());
}

}  // namespace diffsim
