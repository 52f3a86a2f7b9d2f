// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/device.hpp"
#include "diffsim/core/pack.hpp"
#include "diffsim/core/small_tensor.hpp"
#include "diffsim/mesh/cell_scatter.hpp"

namespace diffsim {

/// Device data of a CellScatter, by value in kernels.
struct CellScatterData {
  int num_packs = 0;
  int num_chunks = 0;            // host: one a thread
  DeviceArray<int> chunk_begin;  // [num_chunks + 1], packs
  DeviceArray<int> vertices;     // [num_packs, nodes, pack_width]: where a cell's nodes are read
  DeviceArray<int> redirect;     // [num_packs]: -1, or which row of `targets` says where they are added
  DeviceArray<int> targets;      // [redirected packs, nodes, pack_width]: a vertex, or num_vertices + slot
  DeviceArray<double> slots;     // [num_slots, 3], zero between sweeps
  // Sums of slots (host: of shared vertices; GPU: every vertex's cells) in a fixed order.
  DeviceArray<int> sum_vertex;  // [num_sums]
  DeviceArray<int> sum_begin;   // [num_sums + 1]
  DeviceArray<int> sum_slot;    // slots, grouped by vertex
};

struct CellScatter::Data : CellScatterData {};

/// How far ahead memory is asked for.
inline constexpr int packs_ahead = 4;

/// The nodes' vectors of the cells of one pack: field[3 vertex + c].
template <int nodes>
DIFFSIM_FUNCTION void gather_nodes(const int* vertices, const double* field, Vec3<Pack> (&value)[nodes]) {
  for (int a = 0; a < nodes; ++a) gather_vectors(field, vertices + a * pack_width, value[a].v);
}

/// One number a cell, values[cell], in a pack's lanes; 0 for the copies that fill the last pack, and where `values` is
/// nullptr.
DIFFSIM_FUNCTION Pack gather_cells(const double* values, int pack, int num_cells) {
  Pack x = 0.0;
  if (!values) return x;
  for (int i = 0; i < pack_width; ++i)
    if (pack_width * pack + i < num_cells) set_lane(x, i, values[pack_width * pack + i]);
  return x;
}

/// values[cell] += x, lane by lane; nothing for the copies that fill the last pack.
DIFFSIM_FUNCTION void add_to_cells(const Pack& x, int pack, int num_cells, double* values) {
  for (int i = 0; i < pack_width; ++i)
    if (pack_width * pack + i < num_cells) values[pack_width * pack + i] += lane(x, i);
}

/// Adds the nodes' values of a pack to the vertices of its cells, or to slots where they are shared with other chunks.
template <int nodes>
DIFFSIM_FUNCTION void scatter_nodes(const CellScatterData& data, int pack, int num_vertices,
                                    const Vec3<Pack> (&value)[nodes], double* out) {
  const int row = data.redirect(pack);
  const int* const target =
      row < 0 ? &data.vertices(nodes * pack_width * pack) : &data.targets(nodes * pack_width * row);
  for (int a = 0; a < nodes; ++a) {
    const VectorLanes vectors(value[a].v);
    if (row < 0) {
      for (int i = 0; i < pack_width; ++i)
        vectors.add_to(out + 3 * static_cast<std::ptrdiff_t>(target[a * pack_width + i]), i);
      continue;
    }
    for (int i = 0; i < pack_width; ++i) {
      const int t = target[a * pack_width + i];
      vectors.add_to(t < num_vertices ? out + 3 * static_cast<std::ptrdiff_t>(t)
                                      : data.slots.data() + 3 * static_cast<std::ptrdiff_t>(t - num_vertices),
                     i);
    }
  }
}

/// Host: a thread works its chunk of packs, and adds to vertices that are its own, or to private slots for shared ones.
/// A pack is added while the next is worked: the two do not wait for each other.
template <int nodes, class Body>
void scatter_by_chunks(const char* label, const CellScatterData& data, int num_vertices, double* out,
                       const Body& body) {
  Kokkos::parallel_for(
      label, ThreadRange(0, data.num_chunks), KOKKOS_LAMBDA(int chunk) {
        const int begin = data.chunk_begin(chunk), end = data.chunk_begin(chunk + 1);
        Vec3<Pack> value[2][nodes];
        for (int pack = begin; pack < end; ++pack) {
          const int* const vertices = &data.vertices(nodes * pack_width * pack);
          prefetch<nodes * pack_width>(vertices + packs_ahead * nodes * pack_width);
          body(pack, vertices, value[pack % 2]);
          if (pack > begin) scatter_nodes<nodes>(data, pack - 1, num_vertices, value[(pack - 1) % 2], out);
        }
        if (end > begin) scatter_nodes<nodes>(data, end - 1, num_vertices, value[(end - 1) % 2], out);
      });
}

/// GPU: each cell writes its nodes' values to its own slots.
template <int nodes, class Body>
void scatter_to_slots(const char* label, const CellScatterData& data, const Body& body) {
  Kokkos::parallel_for(
      label, Range(0, data.num_packs), KOKKOS_LAMBDA(int pack) {
        Vec3<Pack> value[nodes];
        body(pack, &data.vertices(nodes * pack), value);
        for (int a = 0; a < nodes; ++a)
          for (int c = 0; c < 3; ++c) data.slots(3 * (nodes * pack + a) + c) = lane(value[a][c], 0);
      });
}

/// out[vertex] += Σ slots of the vertex, in a fixed order; host slots are zeroed for the next sweep.
inline void sum_slots(const CellScatterData& data, double* out) {
  Kokkos::parallel_for(
      "diffsim::mesh::sum_slots", Range(0, static_cast<int>(data.sum_vertex.size())), KOKKOS_LAMBDA(int i) {
        double* const y = out + 3 * static_cast<std::ptrdiff_t>(data.sum_vertex(i));
        for (int s = data.sum_begin(i); s < data.sum_begin(i + 1); ++s) {
          double* const slot = &data.slots(3 * data.sum_slot(s));
          for (int c = 0; c < 3; ++c) {
            y[c] += slot[c];
            slot[c] = 0.0;
          }
        }
      });
}

/// The one shape of a sweep over cells that adds to vertices: `body(pack, vertices, value)` computes the three
/// components at the nodes of each cell of a pack, [nodes] Vec3<Pack>; `out` [num_vertices, 3] gains their sums, in a
/// fixed order.
template <int nodes, class Body>
void for_each_cell(const char* label, const CellScatter& scatter, double* out, const Body& body) {
  const CellScatterData& data = scatter.data();
  if constexpr (kernels_on_host)
    scatter_by_chunks<nodes>(label, data, scatter.num_vertices(), out, body);
  else
    scatter_to_slots<nodes>(label, data, body);
  sum_slots(data, out);
  Kokkos::fence();
}

}  // namespace diffsim
