// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>
#include <vector>

#include "core/point_map.hpp"
#include "core/to_index.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/device.hpp"

namespace diffsim {
namespace {

/// Contribution of one block of K, the matrix whose rows are points, to one block of Wᵀ K W, the matrix whose rows are
/// nodes. `factor` is w_k w_l.
struct Share {
  int target, source;
  double factor;
};

/// Calls visit(k, l) for all pairs of a node of the point `row` and a node of the point `column`. k and l are indices
/// in `stencils.nodes`.
template <class Visit>
void for_each_pair(const NumberedStencils& stencils, int row, int column, const Visit& visit) {
  for (int k = stencils.begin[to_index(row)]; k < stencils.begin[to_index(row) + 1]; ++k)
    for (int l = stencils.begin[to_index(column)]; l < stencils.begin[to_index(column) + 1]; ++l)
      visit(to_index(k), to_index(l));
}

/// Adds Σ_j factors(j) from[sources(j)] over j = begin(i), …, begin(i + 1) - 1 to the 3×3 block to[targets(i)], for all
/// i.
void add_blocks(const DeviceArray<int>& targets, const DeviceArray<int>& begin, const DeviceArray<int>& sources,
                const DeviceArray<double>& factors, const double* from, double* to) {
  Kokkos::parallel_for(
      "diffsim::core::map_blocks", Range(0, static_cast<int>(targets.size())), KOKKOS_LAMBDA(int i) {
        double sum[9] = {};
        for (int j = begin(i); j < begin(i + 1); ++j)
          for (int c = 0; c < 9; ++c) sum[c] += factors(j) * from[9 * static_cast<std::ptrdiff_t>(sources(j)) + c];
        for (int c = 0; c < 9; ++c) to[9 * static_cast<std::ptrdiff_t>(targets(i)) + c] += sum[c];
      });
  Kokkos::fence();
}

/// Returns the nodes of an element's points, without repetitions, ascending.
std::vector<int> nodes_of(const NumberedStencils& stencils, const int* points, int count) {
  std::vector<int> nodes;
  for (int a = 0; a < count; ++a)
    nodes.insert(nodes.end(), stencils.nodes.begin() + stencils.begin[to_index(points[a])],
                 stencils.nodes.begin() + stencils.begin[to_index(points[a]) + 1]);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

}  // namespace

struct PointMatrixMap::Device {
  DeviceArray<int> targets, begin;  // blocks of Wᵀ K W; first entry of `sources` for each of these blocks
  DeviceArray<int> sources;         // contributing blocks of K
  DeviceArray<double> factors;
};

PointMatrixMap::PointMatrixMap(const BlockMatrix& points, const NumberedStencils& stencils, const BlockMatrix& nodes)
    : of_points_(points.pattern()), of_nodes_(nodes.pattern()) {
  std::vector<Share> shares;
  for (int row = 0; row < points.num_vertices(); ++row)
    for (int block = points.row_begin()[to_index(row)]; block < points.row_begin()[to_index(row) + 1]; ++block)
      for_each_pair(stencils, row, points.columns()[to_index(block)], [&](std::size_t k, std::size_t l) {
        const int target = nodes.find(stencils.nodes[k], stencils.nodes[l]);
        if (target < 0) throw Error("PointMatrixMap: two nodes of coupled points are not coupled");
        shares.push_back({target, block, stencils.weights[k] * stencils.weights[l]});
      });
  std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.target < b.target; });
  std::vector<int> targets, begin, sources;
  std::vector<double> factors;
  for (const Share& share : shares) {
    if (targets.empty() || targets.back() != share.target) {
      targets.push_back(share.target);
      begin.push_back(static_cast<int>(sources.size()));
    }
    sources.push_back(share.source);
    factors.push_back(share.factor);
  }
  begin.push_back(static_cast<int>(sources.size()));
  device_ = std::make_unique<const Device>(
      Device{to_device("diffsim::core::targets", targets), to_device("diffsim::core::begin", begin),
             to_device("diffsim::core::sources", sources), to_device("diffsim::core::factors", factors)});
}

PointMatrixMap::~PointMatrixMap() = default;
PointMatrixMap::PointMatrixMap(PointMatrixMap&&) noexcept = default;
PointMatrixMap& PointMatrixMap::operator=(PointMatrixMap&&) noexcept = default;

void PointMatrixMap::add(const BlockMatrix& points, BlockMatrix& nodes) const {
  add_blocks(device_->targets, device_->begin, device_->sources, device_->factors, points.values(), nodes.values());
}

void add_couplings_of_points(const Couplings& of_points, const NumberedStencils& stencils, Couplings& couplings) {
  std::vector<std::vector<int>> elements;  // elements[n]: nodes of all elements of n nodes
  const auto add = [&](const int* points, int count) {
    const std::vector<int> nodes = nodes_of(stencils, points, count);
    if (nodes.size() < 2) return;
    if (elements.size() <= nodes.size()) elements.resize(nodes.size() + 1);
    elements[nodes.size()].insert(elements[nodes.size()].end(), nodes.begin(), nodes.end());
  };
  for (int point = 0; point < stencils.num_points(); ++point) add(&point, 1);
  for (const Couplings::Group& group : of_points.groups())
    for (std::size_t e = 0; e < group.vertices.size(); e += to_index(group.nodes)) add(&group.vertices[e], group.nodes);
  for (std::size_t count = 2; count < elements.size(); ++count)
    if (!elements[count].empty()) couplings.add(elements[count], static_cast<int>(count));
  couplings.set_copies(stencils.copies);
}

}  // namespace diffsim
