// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/cell_part.hpp"
#include "diffsim/core/cell_scatter.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/pack.hpp"
#include "diffsim/core/small_tensor.hpp"

namespace diffsim {

/// Target of a sweep over consecutive packs: device data, by value in kernels.
struct CellScatterPart {
  int first_pack = 0, num_packs = 0;
  int num_chunks = 0;            // host: one a thread
  DeviceArray<int> chunk_begin;  // [num_chunks + 1], packs of the mesh
  DeviceArray<int> redirect;     // [num_packs]: -1, or which row of `targets` says where a pack's nodes are added
  DeviceArray<int> targets;      // [redirected packs, pack_width, nodes]: a vertex, or num_vertices + slot
  DeviceArray<double> slots;     // [num_slots, 3], zero between sweeps
  // Sums of slots (host: of shared vertices; GPU: every vertex's cells) in a fixed order.
  DeviceArray<int> sum_vertex;  // [num_sums]
  DeviceArray<int> sum_begin;   // [num_sums + 1]
  DeviceArray<int> sum_slot;    // slots, grouped by vertex
};

struct CellScatter::Data {
  int num_packs = 0;
  DeviceArray<int> vertices;  // [num_packs, pack_width, nodes]: where a cell's nodes are read
  CellScatterPart shared;     // packs with a cell at a vertex that another rank has too
  CellScatterPart inner;
};

/// How far ahead memory is asked for.
inline constexpr int packs_ahead = 4;

/// The nodes' vectors of the cells of one pack: field[3 vertex + c].
template <int nodes>
DIFFSIM_FUNCTION void gather_nodes(const int* vertices, const double* field, Vec3<Pack> (&value)[nodes]) {
  for (int a = 0; a < nodes; ++a) gather_vectors<nodes>(field, vertices + a, value[a].v);
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

/// Adds the nodes' values of a pack, whose nodes are `vertices`, to them, or to slots where they are other chunks' too.
/// `slots`: the part's, or others as many.
template <int nodes>
DIFFSIM_FUNCTION void scatter_nodes(const CellScatterPart& part, double* slots, int pack, const int* vertices,
                                    int num_vertices, const Vec3<Pack> (&value)[nodes], double* out) {
  const int row = part.redirect(pack - part.first_pack);
  const int* const target = row < 0 ? vertices : &part.targets(nodes * pack_width * row);
  for (int a = 0; a < nodes; ++a) {
    const VectorLanes vectors(value[a].v);
    if (row < 0) {
      for (int i = 0; i < pack_width; ++i)
        vectors.add_to(out + 3 * static_cast<std::ptrdiff_t>(target[i * nodes + a]), i);
      continue;
    }
    for (int i = 0; i < pack_width; ++i) {
      const int t = target[i * nodes + a];
      vectors.add_to(t < num_vertices ? out + 3 * static_cast<std::ptrdiff_t>(t)
                                      : slots + 3 * static_cast<std::ptrdiff_t>(t - num_vertices),
                     i);
    }
  }
}

/// The body of a host's sweep behind one function, whatever the body's type: the sweep is compiled once for all bodies.
template <int nodes>
struct PackWork {
  const void* body;
  void (*function)(const void* body, int pack, const int* vertices, Vec3<Pack> (&value)[nodes]);
};

/// Host: a thread works its chunk of packs, and adds to vertices that are its own, or to private slots for shared ones.
/// For cells of 4 and of 10 nodes.
template <int nodes>
void scatter_by_chunks(const char* label, const CellScatterPart& part, const DeviceArray<int>& all, int num_vertices,
                       double* out, const PackWork<nodes>& work);

/// GPU: each cell writes its nodes' values to its own slots.
template <int nodes, class Body>
void scatter_to_slots(const char* label, const CellScatterPart& part, const DeviceArray<int>& all, const Body& body) {
  Kokkos::parallel_for(
      label, Range(0, part.num_packs), KOKKOS_LAMBDA(int i) {
        const int pack = part.first_pack + i;
        Vec3<Pack> value[nodes];
        body(pack, &all(nodes * pack), value);
        for (int a = 0; a < nodes; ++a)
          for (int c = 0; c < 3; ++c) part.slots(3 * (nodes * i + a) + c) = lane(value[a][c], 0);
      });
}

/// out[vertex] += Σ slots of the vertex, in a fixed order; host slots are zeroed for the next sweep. `slots`: the
/// part's, or others as many.
void sum_slots(const CellScatterPart& part, double* slots, double* out);

/// The one shape of a sweep over cells that adds to vertices: `body(pack, vertices, value)` computes the three
/// components at the nodes of each cell of a pack, [nodes] Vec3<Pack>; `out` [num_vertices, 3] gains their sums, in a
/// fixed order.
template <int nodes, class Body>
void for_each_cell(const char* label, const CellScatter& scatter, double* out, const Body& body,
                   CellPart which = CellPart::all) {
  const CellScatter::Data& data = scatter.data();
  const auto sweep = [&](const CellScatterPart& part) {
    if (part.num_packs == 0) return;
    if constexpr (kernels_on_host) {
      const auto function = [](const void* of, int pack, const int* vertices, Vec3<Pack>(&value)[nodes]) {
        (*static_cast<const Body*>(of))(pack, vertices, value);
      };
      scatter_by_chunks<nodes>(label, part, data.vertices, scatter.num_vertices(), out, {&body, function});
    } else {
      scatter_to_slots<nodes>(label, part, data.vertices, body);
    }
    sum_slots(part, part.slots.data(), out);
  };
  if (which != CellPart::inner) sweep(data.shared);
  if (which != CellPart::shared) sweep(data.inner);
  Kokkos::fence();
}

}  // namespace diffsim
