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

/// Private duplicate of a communicator, freed by the destructor.
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

/// HDF5 types of T in memory and in files.
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
  /// Series (dataset to which frames are appended) that is being written.
  struct Series {
    Shape frame_shape;
    std::vector<std::uint64_t> checksums;  // [frames]
  };
  /// This rank's rows of a dataset. Rows are along the first dimension or, within one frame of a series, along the
  /// second dimension.
  struct Part {
    std::int64_t frame = -1;  // -1: rows along the first dimension
    std::int64_t first = 0;
    std::int64_t rows = 0;
  };

  /// Prepares the object; opens no file. `files`: system calls that write the file; nullptr if the file is only read.
  Impl(MPI_Comm comm, std::string path, FileSystem* files, bool alone = false);
  ~Impl();

  std::string partial_path() const { return path + ".partial"; }
  /// Runs `body`, which calls HDF5, on every rank. If `body` throws on one rank, all ranks throw the same Error. If
  /// `body` makes a collective call, no earlier call in `body` may fail on some ranks only, because the other ranks
  /// would wait in the collective call.
  void agree(const std::function<void()>& body) const;
  /// Throws an error with the message "cannot `what`" if `code` is negative. Must be called inside `agree`.
  void check(long long code, const std::string& what) const;
  /// Throws InputError for an error in the contents of the file that is being read.
  [[noreturn]] void fail(const std::string& dataset, const std::string& what) const;
  void require_writing(const std::string& dataset) const;

  Hdf5Properties access() const;
  /// Reserves disk space for `bytes` more bytes, and throws Error on every rank if the disk has no space. Must be
  /// called before any operation that makes the file longer, because HDF5 and MPI-IO do not handle a full disk: ranks
  /// may wait for each other forever, or crash when HDF5 shuts down. `is_frame`: true if the bytes belong to a frame of
  /// a time series. A frame must leave more of the reserved space free than other data, so that a file on a full disk
  /// can still be completed.
  void reserve(std::uint64_t bytes, bool is_frame);
  void flush();
  /// Increments `changes`, before a dataset is created or extended; flushes the file after 1024 changes. Collective.
  void count_change();
  std::int64_t first_row(std::int64_t rows, std::int64_t& total) const;
  std::uint64_t sum(std::uint64_t share) const;

  DatasetInfo info(const std::string& dataset) const;
  /// Returns type and shape of a dataset. Throws InputError if the dataset is of another kind; integers are accepted
  /// where real values are expected.
  DatasetInfo info(const std::string& dataset, DatasetInfo::Kind kind) const;
  Hdf5Dataset open_dataset(const std::string& dataset) const;
  /// Creates a dataset. `compressed_rows` is the number of rows of each compressed chunk, for which the caller has
  /// reserved space; 0 if the dataset is not compressed.
  Hdf5Dataset create_dataset(const std::string& dataset, hid_t type, const Shape& shape, const std::string& units,
                             bool series, std::int64_t compressed_rows = 0);
  void put_attribute(hid_t object, const std::string& name, const AttributeValue& value);
  void put_checksum(hid_t object, std::uint64_t value);
  /// Throws InputError if the dataset has a checksum attribute that differs from the checksum `found`.
  void verify(const std::string& dataset, std::uint64_t found) const;
  /// Reads or writes `part` of a dataset of the given shape, in collective HDF5 calls of at most `transfer_limit` bytes
  /// per rank. All ranks make the same number of calls.
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

/// Product of the extents of `shape` after the first `leading` dimensions. For `leading` = 1, the product is the number
/// of values of a row.
std::int64_t values_behind(const Shape& shape, std::size_t leading);
/// Name of the dataset with the frame checksums of a series.
inline std::string checksums_name(const std::string& dataset) { return "/checksums" + dataset; }

}  // namespace diffsim
