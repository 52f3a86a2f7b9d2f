// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/mesh/cell_scatter.hpp"

#include <algorithm>

#include "diffsim/core/runtime.hpp"
#include "diffsim/mesh/cell_scatter_impl.hpp"

namespace diffsim {
namespace {

/// [packs, nodes, width] from [cells, nodes]; the last pack repeats the last cell.
std::vector<int> packed(const std::vector<int>& cells, std::size_t nodes) {
  const std::size_t n = cells.size() / nodes;
  const std::size_t width = pack_width;
  const std::size_t packs = (n + width - 1) / width;
  std::vector<int> result(nodes * width * packs);
  for (std::size_t i = 0; i < width * packs; ++i)
    for (std::size_t a = 0; a < nodes; ++a)
      result[nodes * width * (i / width) + a * width + i % width] = cells[nodes * std::min(i, n - 1) + a];
  return result;
}

/// Slots grouped by the vertex they are summed into, the order within a vertex being that of the slots.
void group_slots(const std::vector<int>& vertex_of_slot, int num_vertices, CellScatterData& data) {
  std::vector<int> count(static_cast<std::size_t>(num_vertices) + 1, 0);
  for (const int v : vertex_of_slot) ++count[static_cast<std::size_t>(v)];
  std::vector<int> vertices, begin, place(static_cast<std::size_t>(num_vertices), -1);
  int sum = 0;
  for (int v = 0; v < num_vertices; ++v) {
    if (count[static_cast<std::size_t>(v)] == 0) continue;
    place[static_cast<std::size_t>(v)] = sum;
    vertices.push_back(v);
    begin.push_back(sum);
    sum += count[static_cast<std::size_t>(v)];
  }
  begin.push_back(sum);
  std::vector<int> slots(vertex_of_slot.size());
  for (std::size_t s = 0; s < slots.size(); ++s)
    slots[static_cast<std::size_t>(place[static_cast<std::size_t>(vertex_of_slot[s])]++)] = static_cast<int>(s);
  data.sum_vertex = to_device("diffsim::sum_vertex", vertices);
  data.sum_begin = to_device("diffsim::sum_begin", begin);
  data.sum_slot = to_device("diffsim::sum_slot", slots);
}

}  // namespace

CellScatter::CellScatter(const std::vector<int>& cells, int nodes, int num_vertices)
    : num_cells_(static_cast<int>(cells.size()) / nodes),
      num_vertices_(num_vertices),
      data_(std::make_unique<Data>()) {
  Data& data = *data_;
  const std::vector<int> vertices = packed(cells, static_cast<std::size_t>(nodes));
  const int per_pack = nodes * pack_width;
  data.num_packs = static_cast<int>(vertices.size()) / per_pack;
  data.vertices = to_device("diffsim::cell_vertices", vertices);

  std::vector<int> vertex_of_slot, chunk_begin{0}, redirect(static_cast<std::size_t>(data.num_packs), -1), targets;
  if constexpr (kernels_on_host) {
    data.num_chunks = std::max(1, std::min(concurrency(), data.num_packs));
    for (int chunk = 1; chunk <= data.num_chunks; ++chunk)
      chunk_begin.push_back(static_cast<int>(static_cast<long long>(data.num_packs) * chunk / data.num_chunks));
    // The first chunk that touches a vertex owns it; each later one gets a slot for it.
    std::vector<int> owner(static_cast<std::size_t>(num_vertices), -1);
    std::vector<int> slot(static_cast<std::size_t>(num_vertices), -1);  // of the chunk at hand, once it is not the owner
    for (int chunk = 0; chunk < data.num_chunks; ++chunk) {
      const int first_slot = static_cast<int>(vertex_of_slot.size());
      for (int pack = chunk_begin[static_cast<std::size_t>(chunk)]; pack < chunk_begin[static_cast<std::size_t>(chunk) + 1];
           ++pack) {
        const int* v = &vertices[static_cast<std::size_t>(pack) * static_cast<std::size_t>(per_pack)];
        bool foreign = false;
        for (int i = 0; i < per_pack; ++i) {
          int& owned_by = owner[static_cast<std::size_t>(v[i])];
          if (owned_by < 0) owned_by = chunk;
          foreign = foreign || owned_by != chunk;
        }
        if (!foreign) continue;
        redirect[static_cast<std::size_t>(pack)] = static_cast<int>(targets.size()) / per_pack;
        for (int i = 0; i < per_pack; ++i) {
          if (owner[static_cast<std::size_t>(v[i])] == chunk) {
            targets.push_back(v[i]);
            continue;
          }
          int& s = slot[static_cast<std::size_t>(v[i])];
          if (s < first_slot) {
            s = static_cast<int>(vertex_of_slot.size());
            vertex_of_slot.push_back(v[i]);
          }
          targets.push_back(num_vertices + s);
        }
      }
    }
  } else {
    // Slots in the order of the cells' nodes; the copies that fill the last pack do not occur at width 1.
    vertex_of_slot = vertices;
  }
  data.chunk_begin = to_device("diffsim::chunk_begin", chunk_begin);
  data.redirect = to_device("diffsim::redirect", redirect);
  data.targets = to_device("diffsim::targets", targets);
  data.slots = DeviceArray<double>("diffsim::slots", 3 * vertex_of_slot.size());
  group_slots(vertex_of_slot, num_vertices, data);
}

CellScatter::~CellScatter() = default;
CellScatter::CellScatter(CellScatter&&) noexcept = default;
CellScatter& CellScatter::operator=(CellScatter&&) noexcept = default;

int CellScatter::num_packs() const { return data_->num_packs; }

}  // namespace diffsim
