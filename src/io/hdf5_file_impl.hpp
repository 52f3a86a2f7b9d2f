// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "io/hdf5_file.hpp"
#include "io/hdf5_handles.hpp"

namespace diffsim {

/// Owner of a duplicate, without process topology, of an MPI communicator; the destructor of OwnedComm frees the
/// duplicate.
class OwnedComm {
 public:
  explicit OwnedComm(MPI_Comm comm);
  ~OwnedComm();
  OwnedComm(const OwnedComm&) = delete;
  OwnedComm& operator=(const OwnedComm&) = delete;
  operator MPI_Comm() const { return comm_; }  // NOLINT

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// HDF5 types of values of the C++ type T, in memory (memory_type()) and in files (file_type()).
template <class T>
hid_t memory_type();
template <class T>
hid_t file_type();
template <>
inline hid_t memory_type<double>() {
  return H5T_NATIVE_DOUBLE;
}
template <>
inline hid_t file_type<double>() {
  return H5T_IEEE_F64LE;
}
template <>
inline hid_t memory_type<std::int64_t>() {
  return H5T_NATIVE_INT64;
}
template <>
inline hid_t file_type<std::int64_t>() {
  return H5T_STD_I64LE;
}

struct Hdf5File::Impl {
  /// Series that is being written: a dataset to which frames are appended.
  struct Series {
    Shape frame_shape;
    std::vector<std::uint64_t> checksums;  // [frames]
  };
  /// Rows of a dataset that belong to this rank: rows along the first dimension of the dataset or, if `frame` is not
  /// negative, rows of this frame of a series, along the second dimension of the dataset.
  struct Part {
    std::int64_t frame = -1;  // -1: rows along the first dimension
    std::int64_t first = 0;
    std::int64_t rows = 0;
  };

  /// Initialises the members of Hdf5File::Impl, without opening the HDF5 file. `files`: system calls that write the
  /// file; nullptr if the file is only read.
  Impl(MPI_Comm comm, std::string path, FileSystem* files, bool alone = false);
  ~Impl();

  std::string partial_path() const { return path + ".partial"; }
  /// Runs the function `body`, which calls HDF5, on every rank. If `body` throws on one rank, all ranks throw the same
  /// Error. If `body` makes a collective call, no earlier call in `body` may fail on only some ranks, because the other
  /// ranks would wait in the collective call.
  void agree(const std::function<void()>& body) const;
  /// Throws an error if the HDF5 return code `code` is negative; `what` describes the failed operation in the error
  /// message, for example "open dataset /x". The function check() must be called only in a function that is passed to
  /// agree().
  void check(long long code, const std::string& what) const;
  /// Throws InputError for an error in the contents of the HDF5 file that is being read.
  [[noreturn]] void fail(const std::string& dataset, const std::string& what) const;
  void require_writing(const std::string& dataset) const;

  Hdf5Properties access() const;
  /// Reserves disk space for `bytes` more bytes, and throws Error on every rank if the disk has no space. The caller
  /// must call reserve() before any operation that makes the HDF5 file longer, because HDF5 and MPI-IO do not handle a
  /// full disk: ranks may wait for each other forever, or crash when HDF5 shuts down. `is_frame`: true if the disk
  /// space is for a frame, the values of one output step that are appended to a dataset. After a frame, more of the
  /// reserved disk space must remain free than after other data, so that a file on a full disk can still be completed.
  void reserve(std::uint64_t bytes, bool is_frame);
  void flush();
  /// Increments `changes`, the number of datasets created or extended since the last flush; flushes the file after 1024
  /// changes. Does nothing if only one rank writes the file (member `alone`). The caller must call count_change()
  /// before each creation or extension of a dataset. Collective.
  void count_change();
  std::int64_t first_row(std::int64_t rows, std::int64_t& total) const;
  std::uint64_t sum(std::uint64_t share) const;

  DatasetInfo info(const std::string& dataset) const;
  /// Returns the value type and the shape of a dataset. Throws InputError if the values of the dataset are not of the
  /// kind `kind`; integers are accepted where real values are expected.
  DatasetInfo info(const std::string& dataset, DatasetInfo::Kind kind) const;
  Hdf5Dataset open_dataset(const std::string& dataset) const;
  /// Creates a dataset. For a compressed dataset, the argument `compressed_rows` is the number of rows of each chunk,
  /// and the caller must have reserved disk space for the chunks; for other datasets, `compressed_rows` is 0.
  Hdf5Dataset create_dataset(const std::string& dataset, hid_t type, const Shape& shape, const std::string& units,
                             bool series, std::int64_t compressed_rows = 0);
  void put_attribute(hid_t object, const std::string& name, const AttributeValue& value);
  void put_checksum(hid_t object, std::uint64_t value);
  /// Throws InputError if the dataset has a checksum attribute that differs from `found`, the checksum of the values
  /// that were read.
  void verify(const std::string& dataset, std::uint64_t found) const;
  /// Reads or writes the rows `part` of a dataset of the given shape, in collective HDF5 calls of at most
  /// `transfer_limit` bytes per rank. All ranks make the same number of collective HDF5 calls.
  void transfer(hid_t dataset, const std::string& name, hid_t type, const Shape& shape, const Part& part, void* data,
                bool write) const;
  template <class T>
  std::vector<T> read(const std::string& dataset, const DatasetInfo& info, const Part& part, std::uint64_t first_index,
                      std::uint64_t& found) const;
  void write_series_checksums(Hdf5File& owner);
  void broadcast(void* data, std::size_t bytes) const;

  OwnedComm comm;
  int rank = 0;
  std::string path;
  FileSystem* files;
  bool writing;
  bool alone;  // true: one rank writes the file without MPI-IO, whose flush would wait for the disk
  bool published = false;
  std::uint64_t length = 0;    // estimated upper bound of the file's length, without room_for_metadata
  int changes = 0;             // number of datasets created or extended since the last flush
  std::uint64_t reserved = 0;  // file length up to which disk space is reserved
  std::size_t transfer_limit = std::size_t{1} << 30;
  std::map<std::string, Series> series;
  // Checksums of the frames of each series that is read.
  mutable std::map<std::string, std::vector<std::int64_t>> frame_checksums;
  Hdf5Properties collective;  // transfer properties of collective reads and writes
  Hdf5FileId file;
};

/// Bytes that `Hdf5File::Impl::reserve` reserves for HDF5's metadata, in addition to the estimated length of the file
/// (`Hdf5File::Impl::length`).
inline constexpr std::uint64_t room_for_metadata = 1 << 20;

/// Product of the extents of `shape` after the first `leading` dimensions. For `leading` = 1, values_behind() returns
/// the number of values of a row.
std::int64_t values_behind(const Shape& shape, std::size_t leading);
/// Name of the dataset that contains the checksums of the frames of the series `dataset`.
inline std::string checksums_name(const std::string& dataset) { return "/checksums" + dataset; }

}  // namespace diffsim
