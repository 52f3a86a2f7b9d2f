// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "hdf5_handles.hpp"

namespace diffsim {

/// Rows of an array, in chunks of equal size that the ranks have in turn: what HDF5's filters work on.
struct ChunkedRows {
  std::int64_t rows = 0;        ///< of the array
  std::int64_t chunk_rows = 0;  ///< of each chunk; the last one is filled up
  int chunks_per_rank = 0;

  /// For an array whose rows take `row_bytes` each, on so many ranks.
  static ChunkedRows of(std::int64_t rows, std::int64_t row_bytes, int ranks);
  std::int64_t chunks() const { return chunk_rows > 0 ? (rows + chunk_rows - 1) / chunk_rows : 0; }
  /// The first row of a rank; that of the rank after the last is `rows`.
  std::int64_t first_row(int rank) const;
};

/// HDF5's filters for snapshots: bytes of equal significance together, then deflate. Throws Error where this HDF5 has
/// no deflate.
void set_filters(hid_t creation);
/// Bytes that stand in a file for a chunk of `values` numbers of `file_type`, given as doubles. Serial, without a file.
std::vector<char> filtered(const double* values, std::int64_t count, hid_t file_type);

}  // namespace diffsim
