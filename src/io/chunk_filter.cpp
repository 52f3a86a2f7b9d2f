// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/chunk_filter.hpp"

#include <algorithm>

#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

constexpr std::int64_t most_bytes_of_chunk = 16 << 20;
constexpr unsigned deflate_level = 1;  // higher levels compress floating-point values only slightly better

}  // namespace

ChunkedRows ChunkedRows::of(std::int64_t rows, std::int64_t row_bytes, int ranks) {
  ChunkedRows result;
  result.rows = rows;
  const std::int64_t share = (rows + ranks - 1) / ranks;
  const std::int64_t chunks =
      std::max<std::int64_t>((share * row_bytes + most_bytes_of_chunk - 1) / most_bytes_of_chunk, 1);
  result.chunks_per_rank = static_cast<int>(chunks);
  result.chunk_rows = std::max<std::int64_t>((share + chunks - 1) / chunks, 1);
  return result;
}

std::int64_t ChunkedRows::first_row(int rank) const { return std::min(rows, rank * chunks_per_rank * chunk_rows); }

void set_filters(hid_t creation) {
  if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) <= 0)
    throw Error("this HDF5 was built without deflate; use checkpoint.compression: none", ErrorKind::input);
  DIFFSIM_HDF5(H5Pset_shuffle(creation));
  DIFFSIM_HDF5(H5Pset_deflate(creation, deflate_level));
}

std::vector<char> filtered(const double* values, std::int64_t count, hid_t file_type) {
  const Hdf5Properties access(H5Pcreate(H5P_FILE_ACCESS)), creation(H5Pcreate(H5P_DATASET_CREATE));
  DIFFSIM_HDF5(access);
  DIFFSIM_HDF5(creation);
  constexpr std::size_t increment = 1 << 20;
  DIFFSIM_HDF5(H5Pset_fapl_core(access, increment, false));
  const auto size = static_cast<hsize_t>(count);
  DIFFSIM_HDF5(H5Pset_chunk(creation, 1, &size));
  DIFFSIM_HDF5(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER));
  set_filters(creation);
  const Hdf5FileId file(H5Fcreate("diffsim.chunk", H5F_ACC_TRUNC, H5P_DEFAULT, access));
  DIFFSIM_HDF5(file);
  const Hdf5Space space(H5Screate_simple(1, &size, nullptr));
  DIFFSIM_HDF5(space);
  const Hdf5Dataset dataset(H5Dcreate2(file, "chunk", file_type, space, H5P_DEFAULT, creation, H5P_DEFAULT));
  DIFFSIM_HDF5(dataset);
  DIFFSIM_HDF5(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  DIFFSIM_HDF5(H5Dflush(dataset));
  const hsize_t first = 0;
  hsize_t bytes = 0;
  DIFFSIM_HDF5(H5Dget_chunk_storage_size(dataset, &first, &bytes));
  std::vector<char> result(bytes);
  std::uint32_t skipped = 0;  // bit mask of filters that were not applied
  DIFFSIM_HDF5(H5Dread_chunk(dataset, H5P_DEFAULT, &first, &skipped, result.data()));
  if (skipped != 0) throw Error("HDF5 has not compressed a chunk");
  return result;
}

}  // namespace diffsim
