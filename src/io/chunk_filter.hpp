// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "io/hdf5_handles.hpp"

namespace diffsim {

/// Distribution of an array's rows over the ranks, for an HDF5 dataset in chunks of equal size. HDF5's filters are
/// applied to each chunk. Each rank has at most `chunks_per_rank` consecutive chunks.
struct ChunkedRows {
  std::int64_t rows = 0;        ///< number of rows of the array
  std::int64_t chunk_rows = 0;  ///< number of rows of each chunk; the last chunk is padded
  int chunks_per_rank = 0;

  /// Returns the distribution, over `ranks` ranks, of an array of `rows` rows of `row_bytes` bytes each.
  static ChunkedRows of(std::int64_t rows, std::int64_t row_bytes, int ranks);
  std::int64_t chunks() const { return chunk_rows > 0 ? (rows + chunk_rows - 1) / chunk_rows : 0; }
  /// Returns the first row of a rank, and `rows` for the rank after the last one.
  std::int64_t first_row(int rank) const;
};

/// Sets HDF5's filters for snapshots on a dataset creation property list: shuffle, which groups bytes of equal
/// significance, then deflate. Throws Error if the HDF5 library was built without deflate.
void set_filters(hid_t creation);
/// Returns the bytes that a file stores for a chunk of `count` values. The values are passed as doubles and stored as
/// `file_type`. Serial; writes no file to the disk.
std::vector<char> filtered(const double* values, std::int64_t count, hid_t file_type);

}  // namespace diffsim
