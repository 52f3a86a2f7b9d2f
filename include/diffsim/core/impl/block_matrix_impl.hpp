// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "diffsim/core/impl/block_matrix.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/pack.hpp"
#include "diffsim/core/impl/small_tensor.hpp"

namespace diffsim {

struct BlockMatrix::Data {
  DeviceArray<double> values;  // [num_blocks, 3, 3]
  DeviceArray<int> row_begin;  // [num_vertices + 1]
  DeviceArray<int> columns;    // [num_blocks]
  DeviceArray<int> diagonal;   // [num_vertices]: block (v, v)
};

/// Data of a BlockScatter in device memory; kernels capture a copy of BlockScatterData. A pack is a group of
/// `pack_width` elements, and a chunk is a range of packs that one thread processes. A slot is a temporary 3×3 block
/// that is added to a block of the BlockMatrix after the loop over elements. On a host, if several chunks of packs
/// contribute to the same block of the matrix, the first of these chunks adds to the block, and each later chunk adds
/// to a slot. On a GPU, each block of each element is added to a separate slot.
struct BlockScatterData {
  int num_packs = 0;
  int num_chunks = 0;            // host: at most one per thread; GPU: one per pack
  DeviceArray<int> chunk_begin;  // [num_chunks + 1]: first pack of each chunk
  DeviceArray<int> vertices;     // [num_packs, pack_width, nodes]
  DeviceArray<int> targets;      // [num_packs, nodes, nodes, pack_width]: block index ≥ 0, or -1 - slot index
  DeviceArray<double> slots;     // [num_slots, 3, 3], zero between loops over elements
  // Slots that are summed into blocks, in a fixed order. On a host, only blocks to which several chunks add have slots;
  // on a GPU, all blocks have slots.
  DeviceArray<int> sum_block;  // [num_sums]: block that receives a sum
  DeviceArray<int> sum_begin;  // [num_sums + 1]: first entry of `sum_slot` for each block
  DeviceArray<int> sum_slot;   // slots, grouped by block
};

struct BlockScatter::Data : BlockScatterData {};

/// Destination of the blocks of the element matrices of one pack of elements. `for_each_element` passes a BlockSink to
/// its argument `body`.
struct BlockSink {
  const int* targets;  // [nodes, nodes, pack_width], of this pack
  int nodes;
  double* values;
  double* slots;

  /// Adds block (a, b) of the element matrices of a pack of elements to the BlockMatrix. Each SIMD lane of `block`
  /// contains the 3×3 block of one element. `a`, `b`: node numbers within an element.
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

/// Kernel that calls `body(pack, vertices, sink)` for each pack of elements in a chunk (range) of packs.
template <class Body>
struct ElementSweep {
  BlockScatterData data;
  int nodes;
  double* values;
  Body body;

  KOKKOS_INLINE_FUNCTION void operator()(int chunk) const {
    for (int pack = data.chunk_begin(chunk); pack < data.chunk_begin(chunk + 1); ++pack) {
      const BlockSink sink{data.targets.data() + static_cast<std::ptrdiff_t>(pack) * nodes * nodes * pack_width, nodes,
                           values, data.slots.data()};
      body(pack, &data.vertices(nodes * pack_width * pack), sink);
    }
  }
};

/// Type-erased loop body: `function(body, pack, vertices, sink)` calls `body`. Because ElementWork is type-erased, the
/// loop over elements on a host is compiled once for all loop bodies.
struct ElementWork {
  const void* body;
  void (*function)(const void* body, int pack, const int* vertices, const BlockSink& sink);
  KOKKOS_INLINE_FUNCTION void operator()(int pack, const int* vertices, const BlockSink& sink) const {
    function(body, pack, vertices, sink);
  }
};
void sweep_elements(const char* label, const ElementSweep<ElementWork>& sweep);

/// Adds to each block of the matrix the sum of the block's slots (temporary blocks, see BlockScatterData), in a fixed
/// order, and sets the slots to zero for the next loop over elements.
void sum_block_slots(const BlockScatterData& data, double* values);

/// Loops over elements and adds the element matrices to a BlockMatrix. `body(pack, vertices, sink)` computes the
/// 3×3 blocks of the element matrices of a pack and passes the blocks to `sink.add`.
template <class Body>
void for_each_element(const char* label, const BlockScatter& scatter, BlockMatrix& matrix, const Body& body) {
  const BlockScatterData& data = scatter.data();
  if constexpr (kernels_on_host) {
    const auto function = [](const void* of, int pack, const int* vertices, const BlockSink& sink) {
      (*static_cast<const Body*>(of))(pack, vertices, sink);
    };
    sweep_elements(label, {data, scatter.nodes(), matrix.values(), {&body, function}});
  } else {
    Kokkos::parallel_for(label, ThreadRange(0, data.num_chunks),
                         ElementSweep<Body>{data, scatter.nodes(), matrix.values(), body});
  }
  sum_block_slots(data, matrix.values());
  Kokkos::fence();
}

}  // namespace diffsim
