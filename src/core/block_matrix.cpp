// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/block_matrix.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/to_index.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/block_matrix_impl.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

std::uint64_t next_pattern() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// Calls visit(row, column) for all pairs of vertices of each element.
template <class Visit>
void for_each_pair(const Couplings& couplings, Visit&& visit) {
  for (const Couplings::Group& group : couplings.groups()) {
    const std::size_t nodes = to_index(group.nodes);
    for (std::size_t e = 0; e + nodes <= group.vertices.size(); e += nodes)
      for (std::size_t a = 0; a < nodes; ++a)
        for (std::size_t b = 0; b < nodes; ++b) visit(group.vertices[e + a], group.vertices[e + b]);
  }
}

/// Returns the array `elements`, [elements, nodes], as [packs, pack_width, nodes]. The last pack is filled with copies
/// of the last element.
std::vector<int> packed(const std::vector<int>& elements, int nodes) {
  const std::size_t per_pack = to_index(nodes) * pack_width;
  std::vector<int> result((elements.size() + per_pack - 1) / per_pack * per_pack);
  std::copy(elements.begin(), elements.end(), result.begin());
  for (std::size_t i = elements.size(); i < result.size(); ++i) result[i] = result[i - to_index(nodes)];
  return result;
}

/// Sets the members of `data` that list the slots of each block. `block_of_slot`: block of each slot. Slots of the same
/// block keep their order.
void group_slots(const std::vector<int>& block_of_slot, BlockScatterData& data) {
  std::vector<int> order(block_of_slot.size());
  for (std::size_t s = 0; s < order.size(); ++s) order[s] = static_cast<int>(s);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return block_of_slot[to_index(a)] < block_of_slot[to_index(b)]; });
  std::vector<int> blocks, begin;
  for (std::size_t s = 0; s < order.size(); ++s) {
    const int block = block_of_slot[to_index(order[s])];
    if (!blocks.empty() && blocks.back() == block) continue;
    blocks.push_back(block);
    begin.push_back(static_cast<int>(s));
  }
  begin.push_back(static_cast<int>(order.size()));
  data.sum_block = to_device("diffsim::core::sum_block", blocks);
  data.sum_begin = to_device("diffsim::core::sum_begin", begin);
  data.sum_slot = to_device("diffsim::core::sum_slot", order);
}

/// Adds a x_v I to the diagonal block of each vertex v, with the values x of `field`. If `field` has three components,
/// adds a diag(x_v).
void add_to_blocks(double a, const DeviceArray<int>& diagonal, const Field& field, double* values) {
  const double* const x = field.data();
  const int stride = field.components();
  Kokkos::parallel_for(
      "diffsim::core::add_to_diagonal", Range(0, static_cast<int>(field.extent())), KOKKOS_LAMBDA(int v) {
        for (int c = 0; c < 3; ++c)
          values[9 * static_cast<std::ptrdiff_t>(diagonal(v)) + 4 * c] += a * x[stride * v + (stride == 3 ? c : 0)];
      });
  Kokkos::fence();
}

/// Adds A x to y. Each thread computes one block row.
void multiply_rows(const BlockMatrix::Data& data, const double* x, double* y) {
  const DeviceArray<double> values = data.values;
  const DeviceArray<int> row_begin = data.row_begin, columns = data.columns;
  Kokkos::parallel_for(
      "diffsim::core::multiply_blocks", Range(0, static_cast<int>(row_begin.size()) - 1), KOKKOS_LAMBDA(int row) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int k = row_begin(row); k < row_begin(row + 1); ++k) {
          const double* const block = values.data() + 9 * static_cast<std::ptrdiff_t>(k);
          const double* const v = x + 3 * static_cast<std::ptrdiff_t>(columns(k));
          for (int r = 0; r < 3; ++r) sum[r] += block[3 * r] * v[0] + block[3 * r + 1] * v[1] + block[3 * r + 2] * v[2];
        }
        for (int r = 0; r < 3; ++r) y[3 * static_cast<std::ptrdiff_t>(row) + r] += sum[r];
      });
  Kokkos::fence();
}

}  // namespace

void Couplings::add(const std::vector<int>& vertices, int nodes) {
  if (nodes < 1 || vertices.size() % to_index(nodes) != 0)
    throw Error("couplings need all the vertices of each element");
  groups_.push_back({nodes, {}});
  if (!spare_.empty()) {
    groups_.back().vertices = std::move(spare_.back());
    spare_.pop_back();
  }
  groups_.back().vertices = vertices;
}

void Couplings::clear() {
  // The groups are stored in reverse order, so that each later group reuses the memory of the cleared group with the
  // same index.
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) spare_.push_back(std::move(group->vertices));
  groups_.clear();
  copies_.clear();
}

BlockMatrix::BlockMatrix(int num_vertices, const Couplings& couplings)
    : pattern_(next_pattern()), data_(std::make_unique<Data>()) {
  // The column indices of each row are counted (with repetitions), stored and sorted; then repetitions are removed.
  std::vector<int> count(to_index(num_vertices), 1);
  for_each_pair(couplings, [&](int row, int) { ++count[to_index(row)]; });
  std::vector<std::size_t> begin(to_index(num_vertices) + 1, 0);
  for (std::size_t v = 0; v < count.size(); ++v) begin[v + 1] = begin[v] + to_index(count[v]);
  std::vector<int> all(begin.back());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (int v = 0; v < num_vertices; ++v) all[next[to_index(v)]++] = v;
  for_each_pair(couplings, [&](int row, int column) { all[next[to_index(row)]++] = column; });
  row_begin_.assign(1, 0);
  for (std::size_t v = 0; v < count.size(); ++v) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin[v]);
    const auto last = all.begin() + static_cast<std::ptrdiff_t>(begin[v + 1]);
    std::sort(first, last);
    columns_.insert(columns_.end(), first, std::unique(first, last));
    row_begin_.push_back(static_cast<int>(columns_.size()));
  }
  data_->values = make_zeroed_device_array<double>("diffsim::core::blocks", 9 * columns_.size());
  data_->row_begin = to_device("diffsim::core::row_begin", row_begin_);
  data_->columns = to_device("diffsim::core::columns", columns_);
  std::vector<int> diagonal(to_index(num_vertices));
  for (int v = 0; v < num_vertices; ++v) diagonal[to_index(v)] = find(v, v);
  data_->diagonal = to_device("diffsim::core::diagonal", diagonal);
}

BlockMatrix::~BlockMatrix() = default;
BlockMatrix::BlockMatrix(BlockMatrix&&) noexcept = default;
BlockMatrix& BlockMatrix::operator=(BlockMatrix&&) noexcept = default;

int BlockMatrix::find(int row, int column) const {
  const auto first = columns_.begin() + row_begin_[to_index(row)],
             last = columns_.begin() + row_begin_[to_index(row) + 1];
  const auto found = std::lower_bound(first, last, column);
  return found == last || *found != column ? -1 : static_cast<int>(found - columns_.begin());
}

void BlockMatrix::zero() { Kokkos::deep_copy(data_->values, 0.0); }
void BlockMatrix::add_to_diagonal(double a, const Field& x) {
  add_to_blocks(a, data_->diagonal, x, data_->values.data());
}
void BlockMatrix::multiply(const Field& x, Field& y) const { multiply_rows(*data_, x.data(), y.data()); }
double* BlockMatrix::values() { return data_->values.data(); }
const double* BlockMatrix::values() const { return data_->values.data(); }

std::vector<double> BlockMatrix::to_host() const {
  std::vector<double> host(data_->values.size());
  Kokkos::deep_copy(
      Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(host.data(), host.size()),
      data_->values);
  return host;
}

BlockScatter::BlockScatter(const BlockMatrix& matrix, const std::vector<int>& elements, int nodes)
    : pattern_(matrix.pattern()), nodes_(nodes), data_(std::make_unique<Data>()) {
  Data& data = *data_;
  const std::vector<int> vertices = packed(elements, nodes);
  const std::size_t width = pack_width, n = to_index(nodes), per_pack = n * width;
  data.num_packs = static_cast<int>(vertices.size() / per_pack);
  data.vertices = to_device("diffsim::core::element_vertices", vertices);
  data.num_chunks = kernels_on_host ? std::max(1, std::min(concurrency(), data.num_packs)) : data.num_packs;
  std::vector<int> chunk_begin{0}, targets, block_of_slot;
  targets.reserve(to_index(data.num_packs) * n * per_pack);
  // On a host, the first chunk that adds to a block owns the block; each later chunk gets a slot for the block. On a
  // GPU, every element gets a slot for each of its blocks.
  std::vector<int> owner, slot;
  if (kernels_on_host) {
    owner.assign(to_index(matrix.num_blocks()), -1);
    slot.assign(to_index(matrix.num_blocks()), -1);
  }
  for (int chunk = 0; chunk < data.num_chunks; ++chunk) {
    chunk_begin.push_back(static_cast<int>(static_cast<long long>(data.num_packs) * (chunk + 1) / data.num_chunks));
    const int first_slot = static_cast<int>(block_of_slot.size());
    for (int pack = chunk_begin[to_index(chunk)]; pack < chunk_begin[to_index(chunk) + 1]; ++pack) {
      const int* const v = &vertices[to_index(pack) * per_pack];
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b)
          for (std::size_t i = 0; i < width; ++i) {
            const int block = matrix.find(v[i * n + a], v[i * n + b]);
            if (block < 0) throw Error("a term adds a block outside the sparsity pattern of its couplings");
            if (kernels_on_host) {
              if (owner[to_index(block)] < 0) owner[to_index(block)] = chunk;
              if (owner[to_index(block)] == chunk) {
                targets.push_back(block);
                continue;
              }
              if (slot[to_index(block)] >= first_slot) {
                targets.push_back(-1 - slot[to_index(block)]);
                continue;
              }
              slot[to_index(block)] = static_cast<int>(block_of_slot.size());
            }
            targets.push_back(-1 - static_cast<int>(block_of_slot.size()));
            block_of_slot.push_back(block);
          }
    }
  }
  data.chunk_begin = to_device("diffsim::core::chunk_begin", chunk_begin);
  data.targets = to_device("diffsim::core::targets", targets);
  data.slots = make_zeroed_device_array<double>("diffsim::core::block_slots", 9 * block_of_slot.size());
  group_slots(block_of_slot, data);
}

BlockScatter::~BlockScatter() = default;
BlockScatter::BlockScatter(BlockScatter&&) noexcept = default;
BlockScatter& BlockScatter::operator=(BlockScatter&&) noexcept = default;

void sweep_elements(const char* label, const ElementSweep<ElementWork>& sweep) {
  Kokkos::parallel_for(label, ThreadRange(0, sweep.data.num_chunks), sweep);
}

void sum_block_slots(const BlockScatterData& data, double* values) {
  Kokkos::parallel_for(
      "diffsim::core::sum_block_slots", Range(0, static_cast<int>(data.sum_block.size())), KOKKOS_LAMBDA(int i) {
        double* const block = values + 9 * static_cast<std::ptrdiff_t>(data.sum_block(i));
        for (int s = data.sum_begin(i); s < data.sum_begin(i + 1); ++s) {
          double* const slot = data.slots.data() + 9 * static_cast<std::ptrdiff_t>(data.sum_slot(s));
          for (int k = 0; k < 9; ++k) {
            block[k] += slot[k];
            slot[k] = 0.0;
          }
        }
      });
}

}  // namespace diffsim
