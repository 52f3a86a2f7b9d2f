// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "io/hdf5_handles.hpp"

namespace diffsim {

/// Distribution of an array's rows over the ranks, for an HDF5 dataset that is stored in chunks of equal size. HDF5's
/// filters are applied to each chunk of a dataset separately. Each rank has at most `chunks_per_rank` consecutive
/// chunks of a dataset.
struct ChunkedRows {
  std::int64_t rows = 0;        ///< number of rows of the array
  std::int64_t chunk_rows = 0;  ///< number of rows of each chunk; the last chunk of the dataset is padded
  int chunks_per_rank = 0;

  /// Returns the distribution, over `ranks` ranks, of an array of `rows` rows of `row_bytes` bytes each.
  static ChunkedRows of(std::int64_t rows, std::int64_t row_bytes, int ranks);
  std::int64_t chunks() const { return chunk_rows > 0 ? (rows + chunk_rows - 1) / chunk_rows : 0; }
  /// Returns the index of the first row of the rank `rank`; returns `rows` if `rank` is the number of ranks.
  std::int64_t first_row(int rank) const;
};

/// Adds HDF5's filters for compressed datasets to a dataset creation property list: shuffle, which groups bytes of
/// equal significance, then deflate. Throws Error if the HDF5 library was built without deflate.
void set_filters(hid_t creation);
/// Returns the compressed bytes that a file stores for a chunk of `count` doubles, which are converted to the HDF5 type
/// `file_type` and compressed by the filters of set_filters(). The function `filtered` is serial, and writes no file to
/// the disk.
std::vector<char> filtered(const double* values, std::int64_t count, hid_t file_type);

}  // namespace diffsim
