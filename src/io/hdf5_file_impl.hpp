// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/io/hdf5_file.hpp"
#include "hdf5_handles.hpp"

namespace diffsim {

/// A private duplicate of a communicator.
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

/// Types of T in memory and in files.
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
  /// A series being written.
  struct Series {
    Shape frame_shape;
    std::vector<std::uint64_t> checksums;  // [frames]
  };
  /// This rank's rows of a dataset: along its first dimension, or along its second one in one frame.
  struct Part {
    std::int64_t frame = -1;  // -1: rows along the first dimension
    std::int64_t first = 0;
    std::int64_t rows = 0;
  };

  /// `files`: the calls that write the file; nullptr where it is read.
  Impl(MPI_Comm comm, std::string path, FileSystem* files, bool alone = false);
  ~Impl();

  std::string partial_path() const { return path + ".partial"; }
  /// Runs HDF5 calls on every rank; if they fail on one, all throw the same Error. A call in which ranks wait for each
  /// other must be the last in `body`.
  void agree(const std::function<void()>& body) const;
  /// For use inside `agree`: turns a negative code into an Error that says what could not be done.
  void check(long long code, const std::string& what) const;
  /// An error in what a file to be read holds.
  [[noreturn]] void fail(const std::string& dataset, const std::string& what) const;
  void require_writing(const std::string& dataset) const;

  Hdf5Properties access() const;
  /// Throws Error on every rank where the disk has no room for `bytes` more; call it before what makes the file longer.
  /// Once HDF5 and MPI-IO themselves run out of space, ranks may wait for each other for ever, or crash when HDF5 ends.
  void reserve(std::uint64_t bytes, bool is_frame);
  void flush();
  /// Counts a dataset that is about to be made or to grow; writes the metadata of many such changes. Collective.
  void count_change();
  std::int64_t first_row(std::int64_t rows, std::int64_t& total) const;
  std::uint64_t sum(std::uint64_t share) const;

  DatasetInfo info(const std::string& dataset) const;
  /// InputError where it is of another kind; real includes integers.
  DatasetInfo info(const std::string& dataset, DatasetInfo::Kind kind) const;
  Hdf5Dataset open_dataset(const std::string& dataset) const;
  /// `compressed_rows`: of each compressed chunk, for which room is reserved by the caller; 0: there are none.
  Hdf5Dataset create_dataset(const std::string& dataset, hid_t type, const Shape& shape, const std::string& units,
                             bool series, std::int64_t compressed_rows = 0);
  void put_attribute(hid_t object, const std::string& name, const AttributeValue& value);
  void put_checksum(hid_t object, std::uint64_t value);
  /// Compares with the dataset's attribute, if it has one.
  void verify(const std::string& dataset, std::uint64_t found) const;
  /// Reads or writes `part`, of rows of `shape`'s remaining dimensions, in rounds that every rank takes part in.
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
  bool alone;  // one rank, without MPI-IO, whose flush waits for the disk
  bool published = false;
  std::uint64_t length = 0;    // that the file has at most, without what HDF5 keeps for itself
  int changes = 0;             // of datasets since metadata were written
  std::uint64_t reserved = 0;  // the length that the disk is known to have room for
  std::size_t transfer_limit = std::size_t{1} << 30;
  std::map<std::string, Series> series;
  mutable std::map<std::string, std::vector<std::int64_t>> frame_checksums;  // frame checksums of series being read
  Hdf5Properties collective;                                                 // of transfers
  Hdf5FileId file;
};

/// Bytes kept free for HDF5's own records, beyond what is reckoned for each dataset and frame.
inline constexpr std::uint64_t room_for_metadata = 1 << 20;

/// How many values a row has: the product of the dimensions behind the first `leading`.
std::int64_t values_behind(const Shape& shape, std::size_t leading);
/// Where the frame checksums of a series stand.
inline std::string checksums_name(const std::string& dataset) { return "/checksums" + dataset; }

}  // namespace diffsim
