// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/block_matrix.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/pack.hpp"
#include "diffsim/core/small_tensor.hpp"

namespace diffsim {

struct BlockMatrix::Data {
  DeviceArray<double> values;  // [num_blocks, 3, 3]
  DeviceArray<int> row_begin;  // [num_vertices + 1]
  DeviceArray<int> columns;    // [num_blocks]
  DeviceArray<int> diagonal;   // [num_vertices]: block (v, v)
};

/// Device data of a BlockScatter, by value in kernels.
struct BlockScatterData {
  int num_packs = 0;
  int num_chunks = 0;            // host: one a thread
  DeviceArray<int> chunk_begin;  // [num_chunks + 1], packs
  DeviceArray<int> vertices;     // [num_packs, pack_width, nodes]
  DeviceArray<int> targets;      // [num_packs, nodes, nodes, pack_width]: a block, or -1 - slot
  DeviceArray<double> slots;     // [num_slots, 3, 3], zero between sweeps
  // Sums of slots (host: of blocks that several chunks touch; GPU: of every block) in a fixed order.
  DeviceArray<int> sum_block;  // [num_sums]
  DeviceArray<int> sum_begin;  // [num_sums + 1]
  DeviceArray<int> sum_slot;   // slots, grouped by block
};

struct BlockScatter::Data : BlockScatterData {};

/// Where a sweep's body puts the blocks of the elements of one pack.
struct BlockSink {
  const int* targets;  // of the pack, [nodes, nodes, pack_width]
  int nodes;
  double* values;
  double* slots;

  /// K_ab += block, for all elements of the pack.
  DIFFSIM_FUNCTION void add(int a, int b, const Mat3<Pack>& block) const {
    const int* const target = targets + (a * nodes + b) * pack_width;
    for (int r = 0; r < 3; ++r) {
      const VectorLanes row(block.m[r]);
      for (int i = 0; i < pack_width; ++i) {
        const std::ptrdiff_t t = target[i];
        row.add_to((t >= 0 ? values + 9 * t : slots + 9 * (-1 - t)) + 3 * r, i);
      }
    }
  }
};

/// block += Σ slots of the block, in a fixed order; slots are zeroed for the next sweep.
inline void sum_block_slots(const BlockScatterData& data, double* values) {
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

/// The shape of a sweep over elements that adds to a BlockMatrix: `body(pack, vertices, sink)` computes the blocks of
/// the elements of a pack and gives them to `sink.add`.
template <class Body>
void for_each_element(const char* label, const BlockScatter& scatter, BlockMatrix& matrix, const Body& body) {
  const BlockScatterData data = scatter.data();
  const int nodes = scatter.nodes();
  double* const values = matrix.values();
  Kokkos::parallel_for(
      label, ThreadRange(0, data.num_chunks), KOKKOS_LAMBDA(int chunk) {
        for (int pack = data.chunk_begin(chunk); pack < data.chunk_begin(chunk + 1); ++pack) {
          const BlockSink sink{data.targets.data() + static_cast<std::ptrdiff_t>(pack) * nodes * nodes * pack_width,
                               nodes, values, data.slots.data()};
          body(pack, &data.vertices(nodes * pack_width * pack), sink);
        }
      });
  sum_block_slots(data, values);
  Kokkos::fence();
}

}  // namespace diffsim
