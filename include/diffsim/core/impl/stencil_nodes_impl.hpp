// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "diffsim/core/impl/cell_scatter_impl.hpp"
#include "diffsim/core/impl/stencil_kernels_impl.hpp"

namespace diffsim::stencil {

/// Fields, [local vertices, 3], to which derivatives with respect to the positions x, velocities v and rest positions X
/// are added. A member of VectorSums is nullptr if the member's derivatives are not requested.
struct VectorSums {
  double* x = nullptr;
  double* v = nullptr;
  double* X = nullptr;
};

/// Nodes of the stencils of a force F. The class Nodes adds nodal vectors to fields without data races and in a fixed
/// order. On a host, each thread processes a range of packs, which are groups of `pack_width` stencils, and adds nodal
/// vectors to fields by CellScatter. On a GPU, the nodal vectors of each stencil are written to a separate row of an
/// array, and are then summed for each vertex. Runs with the same inputs and the same number of threads give bitwise
/// identical results.
template <class F>
class Nodes {
  using Of = Inputs<F>;
  static constexpr int N = F::num_nodes, P = F::num_values;
  static constexpr int num_blocks = Of::first_value / Of::block;  // number of nodal inputs: x, and v and X if used

 public:
  /// Sets the nodes of all stencils to the local vertices in `vertices`, [stencils, N].
  void set(const std::vector<int>& vertices) {
    const auto count = vertices.size() / N;
    if constexpr (kernels_on_host) {
      const int size = vertices.empty() ? 0 : *std::max_element(vertices.begin(), vertices.end()) + 1;
      scatter_.emplace(vertices, 0, N, size);
      vertices_ = scatter_->data().vertices;
      const CellScatterPart& part = scatter_->data().inner;
      slots_ = make_zeroed_device_array<double>("diffsim::core::stencil_slots", (num_blocks - 1) * part.slots.size());
      sums_.assign(static_cast<std::size_t>(part.num_chunks), {});
    } else {
      vertices_ = to_device("diffsim::core::stencil_vertices", vertices);
      rows_ = make_zeroed_device_array<double>("diffsim::core::stencil_vectors", Of::first_value * count);
      by_vertex_ = grouped(vertices);
    }
  }
  /// Returns the local vertices of the stencils, [stencils, N]. On a host, the array is padded with copies of the last
  /// stencil to a whole number of packs.
  const DeviceArray<int>& vertices() const { return vertices_; }

  /// Calls `each(sweep, group, values, row)` for every group of active stencils, to compute vectors at the nodes of the
  /// stencils, and adds these vectors to the field `to`, [local vertices, 3].
  template <class Each>
  void add_vectors(const char* label, const Sweep<F>& sweep, const Each& each, double* to) {
    if (sweep.count == 0) return;
    if constexpr (kernels_on_host) {
      const auto work = [&](const CellScatterPart& part, int, int pack, const int* at) DIFFSIM_INLINED {
        Pack row[Of::block];
        set_rows(sweep, pack, each, row);
        add_block(part, part.slots.data(), pack, at, row, to);
      };
      for_each_pack(label, work);
      sum_slots(scatter_->data().inner, scatter_->data().inner.slots.data(), to);
    } else {
      set_vectors(label, sweep, rows_.data(), each);
      stencil::add_vectors(by_vertex_, rows_.data(), to);
    }
  }

  /// Calls `each(sweep, group, values, row)` for every group of active stencils; each call sets `row` to the
  /// derivatives of a scalar with respect to all inputs of the force, in the order of the class Inputs. Adds the
  /// derivatives with respect to the positions x, velocities v and rest positions X of the nodes to the fields in `to`.
  /// Derivatives with respect to the parameter values p are stored and returned in the same way as by the function
  /// `set_derivatives`.
  template <class Each>
  point::Sums<P> add_derivatives(const char* label, const Sweep<F>& sweep, const Each& each, const VectorSums& to,
                                 const point::ParameterNumbers<P, double>& to_numbers, double* numbers) {
    point::Sums<P> sums;
    if (sweep.count == 0) return sums;
    const VectorSums fields{to.x, uses_velocities<F>() ? to.v : nullptr, uses_rest<F>() ? to.X : nullptr};
    if constexpr (kernels_on_host) {
      const CellScatterPart& part = scatter_->data().inner;
      double* const slots_of_v = slots_.data();
      double* const slots_of_X = slots_.data() + (uses_velocities<F>() ? part.slots.size() : 0);
      for (auto& of_chunk : sums_) of_chunk = {};
      const auto work = [&](const CellScatterPart& in, int chunk, int pack, const int* at) DIFFSIM_INLINED {
        Pack row[Of::count];
        repeat<Of::count>([&](int k) DIFFSIM_INLINED { row[k] = 0.0; });
        set_rows(sweep, pack, each, row);
        if (fields.x) add_block(in, in.slots.data(), pack, at, row, fields.x);
        if constexpr (uses_velocities<F>())
          if (fields.v) add_block(in, slots_of_v, pack, at, row + Of::velocities, fields.v);
        if constexpr (uses_rest<F>())
          if (fields.X) add_block(in, slots_of_X, pack, at, row + Of::rest, fields.X);
        for (int l = 0; l < pack_width && pack_width * pack + l < sweep.count; ++l)
          put_numbers(sweep, pack_width * pack + l, row + Of::first_value, l, to_numbers, numbers,
                      sums_[static_cast<std::size_t>(chunk)]);
      };
      for_each_pack(label, work);
      if (fields.x) sum_slots(part, part.slots.data(), fields.x);
      if (fields.v) sum_slots(part, slots_of_v, fields.v);
      if (fields.X) sum_slots(part, slots_of_X, fields.X);
      for (const auto& of_chunk : sums_) sums += of_chunk;
    } else {
      const auto block = [&](const double* wanted, int k) {
        return wanted ? rows_.data() + k * static_cast<std::ptrdiff_t>(Of::block) * sweep.count : nullptr;
      };
      const VectorDerivatives rows{block(fields.x, 0), block(fields.v, 1), block(fields.X, num_blocks - 1)};
      sums = set_derivatives(label, sweep, each, rows, to_numbers, numbers);
      if (rows.x) stencil::add_vectors(by_vertex_, rows.x, fields.x);
      if (rows.v) stencil::add_vectors(by_vertex_, rows.v, fields.v);
      if (rows.X) stencil::add_vectors(by_vertex_, rows.X, fields.X);
    }
    return sums;
  }

 private:
  /// Sets `row` to the values that the callback `each` computes for the stencils of a pack; each SIMD lane contains the
  /// values of one stencil. SIMD lanes of inactive stencils, and lanes without a stencil, are set to zero.
  template <class Each, int count>
  static DIFFSIM_FUNCTION void set_rows(const Sweep<F>& sweep, int pack, const Each& each, Pack (&row)[count]) {
    if constexpr (takes_packs<F>()) {
      each(sweep, pack, read(sweep, sweep.at, pack), row);
      for (int l = sweep.num_of_group(pack); l < pack_width; ++l)
        for (int k = 0; k < count; ++k) set_lane(row[k], l, 0.0);
    } else {
      for (int k = 0; k < count; ++k) row[k] = 0.0;
      for (int l = 0; l < pack_width && pack_width * pack + l < sweep.count; ++l) {
        const Values<F> at = read(sweep, sweep.at, pack_width * pack + l);
        if (!is_active(sweep.force, at)) continue;
        double one[count] = {};
        each(sweep, pack_width * pack + l, at, one);
        for (int k = 0; k < count; ++k) set_lane(row[k], l, one[k]);
      }
    }
  }
  /// Adds the vectors `block` at the nodes of a pack's stencils to the field `to`.
  DIFFSIM_FUNCTION void add_block(const CellScatterPart& part, double* slots, int pack, const int* at,
                                  const Pack* block, double* to) const {
    Vec3<Pack> value[N];
    for (int k = 0; k < Of::block; ++k) value[k / 3][k % 3] = block[k];
    scatter_nodes<N>(part, slots, pack, at, scatter_->num_vertices(), value, to);
  }
  template <class Work>
  void for_each_pack(const char* label, const Work& work) const {
    const CellScatterPart& part = scatter_->data().inner;
    const auto of_chunk = [&](int chunk) {
      for (int pack = part.chunk_begin(chunk); pack < part.chunk_begin(chunk + 1); ++pack)
        work(part, chunk, pack, &vertices_(N * pack_width * pack));
    };
    Kokkos::parallel_for(label, ThreadRange(0, part.num_chunks), of_chunk);
  }

  DeviceArray<int> vertices_;
  std::optional<CellScatter> scatter_;  // host only
  DeviceArray<double> slots_;           // host only: slots for v and for X; for each, as many as `scatter_` has
  std::vector<point::Sums<P>> sums_;    // host only: one per chunk
  DeviceArray<double> rows_;            // GPU only: [num_blocks, count, N, 3]
  Grouped by_vertex_;                   // GPU only
};

}  // namespace diffsim::stencil
