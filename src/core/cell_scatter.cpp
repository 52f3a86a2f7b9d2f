// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/cell_scatter.hpp"

#include <algorithm>

#include "core/to_index.hpp"
#include "diffsim/core/impl/cell_scatter_impl.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

/// Sets the members of `data` that list the slots of each vertex. `vertex_of_slot`: vertex of each slot. Slots of the
/// same vertex keep their order.
void group_slots(const std::vector<int>& vertex_of_slot, int num_vertices, CellScatterPart& data) {
  std::vector<int> count(to_index(num_vertices) + 1, 0);
  for (const int v : vertex_of_slot) ++count[to_index(v)];
  std::vector<int> vertices, begin, place(to_index(num_vertices), -1);
  int sum = 0;
  for (int v = 0; v < num_vertices; ++v) {
    if (count[to_index(v)] == 0) continue;
    place[to_index(v)] = sum;
    vertices.push_back(v);
    begin.push_back(sum);
    sum += count[to_index(v)];
  }
  begin.push_back(sum);
  std::vector<int> slots(vertex_of_slot.size());
  for (std::size_t s = 0; s < slots.size(); ++s)
    slots[static_cast<std::size_t>(place[to_index(vertex_of_slot[s])]++)] = static_cast<int>(s);
  data.sum_vertex = to_device("diffsim::sum_vertex", vertices);
  data.sum_begin = to_device("diffsim::sum_begin", begin);
  data.sum_slot = to_device("diffsim::sum_slot", slots);
}

/// Returns the destinations of a sweep over the packs first ≤ pack < last. `vertices`: vertices of the cells of all
/// packs of the mesh, [packs, per_pack].
CellScatterPart make_part(const std::vector<int>& vertices, int per_pack, int first, int last, int num_vertices) {
  CellScatterPart part;
  part.first_pack = first;
  part.num_packs = last - first;
  if (part.num_packs == 0) return part;
  std::vector<int> vertex_of_slot, chunk_begin{first}, redirect(to_index(part.num_packs), -1), targets;
  if constexpr (kernels_on_host) {
    part.num_chunks = std::max(1, std::min(concurrency(), part.num_packs));
    for (int chunk = 1; chunk <= part.num_chunks; ++chunk)
      chunk_begin.push_back(first + static_cast<int>(static_cast<long long>(part.num_packs) * chunk / part.num_chunks));
    // The first chunk that contains a vertex owns the vertex; each later chunk gets a slot for the vertex.
    std::vector<int> owner(to_index(num_vertices), -1);
    // Last slot of each vertex. A slot with a number ≥ `first_slot` belongs to the current chunk.
    std::vector<int> slot(to_index(num_vertices), -1);
    for (int chunk = 0; chunk < part.num_chunks; ++chunk) {
      const int first_slot = static_cast<int>(vertex_of_slot.size());
      for (int pack = chunk_begin[to_index(chunk)]; pack < chunk_begin[to_index(chunk) + 1]; ++pack) {
        const int* v = &vertices[to_index(pack) * to_index(per_pack)];
        bool foreign = false;
        for (int i = 0; i < per_pack; ++i) {
          int& owned_by = owner[to_index(v[i])];
          if (owned_by < 0) owned_by = chunk;
          foreign = foreign || owned_by != chunk;
        }
        if (!foreign) continue;
        redirect[to_index(pack - first)] = static_cast<int>(targets.size()) / per_pack;
        for (int i = 0; i < per_pack; ++i) {
          if (owner[to_index(v[i])] == chunk) {
            targets.push_back(v[i]);
            continue;
          }
          int& s = slot[to_index(v[i])];
          if (s < first_slot) {
            s = static_cast<int>(vertex_of_slot.size());
            vertex_of_slot.push_back(v[i]);
          }
          targets.push_back(num_vertices + s);
        }
      }
    }
  } else {
    // Each node of each cell has one slot, in the order of the cells. Packs have one lane here, so the last pack
    // contains no copies of a cell.
    vertex_of_slot.assign(vertices.begin() + first * per_pack, vertices.begin() + last * per_pack);
  }
  part.chunk_begin = to_device("diffsim::chunk_begin", chunk_begin);
  part.redirect = to_device("diffsim::redirect", redirect);
  part.targets = to_device("diffsim::targets", targets);
  part.slots = make_zeroed_device_array<double>("diffsim::slots", 3 * vertex_of_slot.size());
  group_slots(vertex_of_slot, num_vertices, part);
  return part;
}

/// Sweep over the packs of a chunk. The values of a pack are added to the vertices after the values of the next pack
/// have been computed, so that the processor can overlap these two independent operations.
template <int nodes>
struct ChunkSweep {
  CellScatterPart part;
  DeviceArray<int> all;
  int num_vertices;
  double* out;
  PackWork<nodes> work;

  KOKKOS_INLINE_FUNCTION void operator()(int chunk) const {
    const int begin = part.chunk_begin(chunk), end = part.chunk_begin(chunk + 1);
    constexpr int entries = nodes * pack_width;
    Vec3<Pack> value[2][nodes];
    for (int pack = begin; pack < end; ++pack) {
      const int* const vertices = &all(entries * pack);
      prefetch<entries>(vertices + packs_ahead * entries);
      work.function(work.body, pack, vertices, value[pack % 2]);
      if (pack > begin)
        scatter_nodes<nodes>(part, part.slots.data(), pack - 1, vertices - entries, num_vertices, value[(pack - 1) % 2],
                             out);
    }
    if (end > begin)
      scatter_nodes<nodes>(part, part.slots.data(), end - 1, &all(entries * (end - 1)), num_vertices,
                           value[(end - 1) % 2], out);
  }
};

}  // namespace

template <int nodes>
void scatter_by_chunks(const char* label, const CellScatterPart& part, const DeviceArray<int>& all, int num_vertices,
                       double* out, const PackWork<nodes>& work) {
  Kokkos::parallel_for(label, ThreadRange(0, part.num_chunks), ChunkSweep<nodes>{part, all, num_vertices, out, work});
}
template void scatter_by_chunks(const char*, const CellScatterPart&, const DeviceArray<int>&, int, double*,
                                const PackWork<4>&);
template void scatter_by_chunks(const char*, const CellScatterPart&, const DeviceArray<int>&, int, double*,
                                const PackWork<10>&);

/// Kernel of `add_cell_values`: value_a = w_a x_e.
template <int nodes>
struct WeightedCellValue {
  DeviceArray<double> x;
  std::array<double, nodes> weights;

  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int*, Vec3<Pack> (&value)[nodes]) const {
    const Pack of_cells = load(&x(pack_width * pack));
    for (int a = 0; a < nodes; ++a)
      for (int c = 0; c < 3; ++c) value[a][c] = Pack(weights[static_cast<std::size_t>(a)]) * of_cells;
  }
};

template <int nodes>
void add_cell_values(const char* label, const CellScatter& scatter, const DeviceArray<double>& x,
                     const std::array<double, nodes>& weights, double* out) {
  for_each_cell<nodes>(label, scatter, out, WeightedCellValue<nodes>{x, weights});
}
template void add_cell_values<4>(const char*, const CellScatter&, const DeviceArray<double>&,
                                 const std::array<double, 4>&, double*);
template void add_cell_values<10>(const char*, const CellScatter&, const DeviceArray<double>&,
                                  const std::array<double, 10>&, double*);

void sum_slots(const CellScatterPart& part, double* slots, double* out) {
  Kokkos::parallel_for(
      "diffsim::core::sum_slots", Range(0, static_cast<int>(part.sum_vertex.size())), KOKKOS_LAMBDA(int i) {
        double* const y = out + 3 * static_cast<std::ptrdiff_t>(part.sum_vertex(i));
        for (int s = part.sum_begin(i); s < part.sum_begin(i + 1); ++s) {
          double* const slot = slots + 3 * static_cast<std::ptrdiff_t>(part.sum_slot(s));
          for (int c = 0; c < 3; ++c) {
            y[c] += slot[c];
            slot[c] = 0.0;
          }
        }
      });
}

int CellScatter::num_padded(int num_cells) { return (num_cells + pack_width - 1) / pack_width * pack_width; }

CellScatter::CellScatter(std::span<const int> cells, int num_shared, int nodes, int num_vertices)
    : num_cells_(static_cast<int>(cells.size()) / nodes), num_vertices_(num_vertices), data_(std::make_unique<Data>()) {
  std::vector<int> padded(static_cast<std::size_t>(nodes) * static_cast<std::size_t>(num_padded(num_cells_)));
  std::copy(cells.begin(), cells.end(), padded.begin());
  fill_up(padded, num_cells_, nodes);
  data_->vertices = to_device("diffsim::cell_vertices", padded);
  distribute(padded, num_shared, nodes);
}

CellScatter::CellScatter(std::vector<int>& padded, int num_cells, int num_shared, int nodes, int num_vertices)
    : num_cells_(num_cells), num_vertices_(num_vertices), data_(std::make_unique<Data>()) {
  if constexpr (kernels_on_host)
    data_->vertices = DeviceArray<int>(padded.data(), padded.size());
  else
    data_->vertices = to_device("diffsim::cell_vertices", padded);
  distribute(padded, num_shared, nodes);
}

void CellScatter::fill_up(std::vector<int>& padded, int num_cells, int nodes) {
  const auto width = static_cast<std::size_t>(nodes);
  for (std::size_t i = width * static_cast<std::size_t>(num_cells); i < padded.size(); ++i)
    padded[i] = padded[i - width];
}

void CellScatter::distribute(const std::vector<int>& vertices, int num_shared, int nodes) {
  const int per_pack = nodes * pack_width;
  data_->num_packs = static_cast<int>(vertices.size()) / per_pack;
  // A pack with both shared and inner cells counts as shared.
  const int shared = (num_shared + pack_width - 1) / pack_width;
  data_->shared = make_part(vertices, per_pack, 0, shared, num_vertices_);
  data_->inner = make_part(vertices, per_pack, shared, data_->num_packs, num_vertices_);
}

CellScatter::~CellScatter() = default;
CellScatter::CellScatter(CellScatter&&) noexcept = default;
CellScatter& CellScatter::operator=(CellScatter&&) noexcept = default;

int CellScatter::num_packs() const { return data_->num_packs; }

}  // namespace diffsim
