// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "diffsim/core/force_term.hpp"
#include "diffsim/core/impl/cell_scatter.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/pack.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim {

/// Data in device memory that assigns the results of a loop over consecutive packs of cells to vertices. Kernels
/// capture a copy of a CellScatterPart. A pack is a group of `pack_width` cells, and a chunk is a range of packs that
/// one thread processes. A slot is a temporary vector that is added to the value at a vertex after the loop over cells.
/// On a host, the values of a chunk of packs at a vertex are added to a slot if an earlier chunk contains the vertex.
/// On a GPU, each node of each cell has a separate slot.
struct CellScatterPart {
  int first_pack = 0, num_packs = 0;
  int num_chunks = 0;            // host: at most one per thread
  DeviceArray<int> chunk_begin;  // [num_chunks + 1]: first pack of each chunk, counted over all packs of the mesh
  DeviceArray<int> redirect;     // [num_packs]: row of `targets` for a pack; -1: the pack uses no slots
  DeviceArray<int> targets;      // [packs with slots, pack_width, nodes]: vertex, or num_vertices + slot
  DeviceArray<double> slots;     // [num_slots, 3], zero between loops over cells
  // Slots that are summed into vertices, in a fixed order. On a host, only vertices that several chunks contain have
  // slots; on a GPU, all vertices have slots.
  DeviceArray<int> sum_vertex;  // [num_sums]: vertex that receives a sum
  DeviceArray<int> sum_begin;   // [num_sums + 1]: first entry of `sum_slot` for each vertex
  DeviceArray<int> sum_slot;    // slots, grouped by vertex
};

struct CellScatter::Data {
  int num_packs = 0;
  DeviceArray<int> vertices;  // [num_packs, pack_width, nodes]: vertices that the cells read
  CellScatterPart shared;     // packs with a cell of `CellPart::shared`
  CellScatterPart inner;
};

/// Prefetch distance of loops over cells, as a number of packs.
inline constexpr int packs_ahead = 4;

/// Sets value[a] to the vectors of `field`, [vertices, 3], at node a of each cell of a pack.
template <int nodes>
DIFFSIM_FUNCTION void gather_nodes(const int* vertices, const double* field, Vec3<Pack> (&value)[nodes]) {
  for (int a = 0; a < nodes; ++a) gather_vectors<nodes>(field, vertices + a, value[a].v);
}

/// Returns values[cell] for each cell of a pack, one cell per SIMD lane. Returns 0 for the copies of the last cell that
/// fill the last pack, and for all cells if `values` is nullptr.
DIFFSIM_FUNCTION Pack gather_cells(const double* values, int pack, int num_cells) {
  Pack x = 0.0;
  if (!values) return x;
  for (int i = 0; i < pack_width; ++i)
    if (pack_width * pack + i < num_cells) set_lane(x, i, values[pack_width * pack + i]);
  return x;
}

/// Computes values[cell] += x for each cell of a pack, one cell per SIMD lane of x, except for the copies of the last
/// cell that fill the last pack.
DIFFSIM_FUNCTION void add_to_cells(const Pack& x, int pack, int num_cells, double* values) {
  for (int i = 0; i < pack_width; ++i)
    if (pack_width * pack + i < num_cells) values[pack_width * pack + i] += lane(x, i);
}

/// Adds the nodal values of a pack of cells to the array `out` at the pack's `vertices`. If an earlier chunk of packs
/// contains a vertex, the nodal value is added to a temporary vector in the array `slots` instead of `out`. `slots`:
/// the array `part.slots`, or another array of the size of `part.slots`.
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

/// Type-erased loop body: `function(body, pack, vertices, value)` calls `body`. Because PackWork is type-erased, the
/// loop over packs of cells on a host is compiled once for all loop bodies.
template <int nodes>
struct PackWork {
  const void* body;
  void (*function)(const void* body, int pack, const int* vertices, Vec3<Pack> (&value)[nodes]);
};

/// Runs a loop over packs of cells on a host. Each thread processes one chunk (range) of packs of cells, and a vertex
/// belongs to the first chunk that contains the vertex. Each thread adds directly to the values at vertices that belong
/// to its chunk of packs, and adds to private slots (temporary vectors) for all other vertices. `all`: vertices of the
/// cells of all packs (CellScatter::Data::vertices). `scatter_by_chunks` is instantiated for cells of 4 nodes and for
/// cells of 10 nodes.
template <int nodes>
void scatter_by_chunks(const char* label, const CellScatterPart& part, const DeviceArray<int>& all, int num_vertices,
                       double* out, const PackWork<nodes>& work);

/// Runs a loop over cells on a GPU: each cell writes its nodal values to its own slots, which are temporary vectors.
/// After the loop, `sum_slots` adds the slots (temporary vectors) of each vertex to the value at the vertex.
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

/// Adds to out[vertex] the sum of the slots (temporary vectors) of each vertex, in a fixed order, and sets the slots to
/// zero for the next loop over cells. `slots`: the array `part.slots`, or another array of the size of `part.slots`.
void sum_slots(const CellScatterPart& part, double* slots, double* out);

/// Loops over cells, and adds a vector for each node of each cell to the array `out`. `body(pack, vertices, value)`
/// computes the vectors `value` [nodes] at the nodes of each cell of a pack. The sum of the vectors at each vertex is
/// added to `out`, [num_vertices, 3], in a fixed order.
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

/// Adds `weights[a]` x_e to each component of `out[v]` for each node a of each cell e, where x_e is the value of cell e
/// in the array `x`, and v is the vertex of node a. `out`: [num_vertices, 3]. `x`: one value per cell, [packs,
/// pack_width]; must be 0 for the copies of the last cell that fill the last pack. `add_cell_values` adds the values at
/// each vertex in the same fixed order as `for_each_cell`. `add_cell_values` is instantiated for cells of 4 nodes and
/// for cells of 10 nodes.
template <int nodes>
void add_cell_values(const char* label, const CellScatter& scatter, const DeviceArray<double>& x,
                     const std::array<double, nodes>& weights, double* out);

}  // namespace diffsim
