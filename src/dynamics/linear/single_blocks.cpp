// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/linear/single_blocks.hpp"

#include <numeric>

#include "core/to_index.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/impl/huge_pages.hpp"

namespace diffsim::dynamics {
namespace {

using HostRows = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<int>>;
}  // namespace

SingleBlocks make_single_blocks(const BlockRows& rows, const double* values, double scale) {
  SingleBlocks blocks;
  reserve_in_huge_pages(blocks.column, rows.column.size() * to_index(rows.height / 3));
  blocks.begin.push_back(0);
  for (const int i : rows.filled)
    for (int r = 0; r < rows.height / 3; ++r) {
      blocks.place.push_back(i * (rows.height / 3) + r);
      blocks.column.insert(blocks.column.end(), rows.column.begin() + rows.begin[to_index(i)],
                           rows.column.begin() + rows.begin[to_index(i) + 1]);
      blocks.begin.push_back(static_cast<int>(blocks.column.size()));
    }
  reserve_in_huge_pages(blocks.values, 9 * blocks.column.size() + 1);
  blocks.values.resize(9 * blocks.column.size() + 1);
  set_values(rows, values, scale, blocks);
  return blocks;
}

void set_values(const BlockRows& rows, const double* values, double scale, SingleBlocks& blocks) {
  const int triples = rows.height / 3;
  float* const copies = blocks.values.data();
  Kokkos::parallel_for("diffsim::dynamics::set_values", HostRows(0, blocks.size()), [=, &rows, &blocks](int row) {
    const int first = blocks.begin[to_index(row)], runs = blocks.begin[to_index(row) + 1] - first;
    // The values of a block row follow the values of all previous block rows.
    const std::ptrdiff_t begin = rows.begin[to_index(blocks.place[to_index(row)] / triples)];
    const double* const a =
        values + 3 * rows.height * begin + std::ptrdiff_t{9} * runs * (blocks.place[to_index(row)] % triples);
    float* to = copies + 9 * static_cast<std::ptrdiff_t>(first);
    for (int k = 0; k < runs; ++k, to += 9)
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) to[3 * c + r] = static_cast<float>(scale * a[3 * runs * r + 3 * k + c]);
  });
}

SingleBlocks transposed(const SingleBlocks& blocks, int rows) {
  std::vector<int> next(to_index(rows) + 1, 0);
  for (const int column : blocks.column) ++next[to_index(column / 3) + 1];
  SingleBlocks result;
  result.begin.push_back(0);
  for (int row = 0; row < rows; ++row) {
    const int count = next[to_index(row) + 1];
    next[to_index(row) + 1] += next[to_index(row)];
    if (count == 0) continue;
    result.place.push_back(row);
    result.begin.push_back(next[to_index(row) + 1]);
  }
  reserve_in_huge_pages(result.column, blocks.column.size());
  reserve_in_huge_pages(result.values, blocks.values.size());
  result.column.resize(blocks.column.size());
  result.values.resize(blocks.values.size());
  for (int row = 0; row < blocks.size(); ++row)
    for (int k = blocks.begin[to_index(row)]; k < blocks.begin[to_index(row) + 1]; ++k) {
      const int slot = next[to_index(blocks.column[to_index(k)] / 3)]++;
      result.column[to_index(slot)] = 3 * blocks.place[to_index(row)];
      for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r)
          result.values[9 * to_index(slot) + to_index(3 * r + c)] =
              blocks.values[9 * to_index(k) + to_index(3 * c + r)];
    }
  return result;
}

void add_product(const SingleBlocks& blocks, const double* x, double* y) {
  Kokkos::parallel_for("diffsim::dynamics::add_product", HostRows(0, blocks.size()), [=, &blocks](int row) {
    const auto sums = row_product(blocks, row, x);
    double* const target = y + 3 * static_cast<std::ptrdiff_t>(blocks.place[to_index(row)]);
    for (int c = 0; c < 3; ++c) target[c] += sums[c];
  });
}

}  // namespace diffsim::dynamics
