// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "io/file_system.hpp"

namespace diffsim {

/// Extents of an array, one per dimension; an empty list for a single value.
using Shape = std::vector<std::int64_t>;

/// Text of a shape, for example "[100, 3]".
std::string to_string(const Shape& shape);
/// Number of values in an array of the given shape.
std::int64_t num_values(const Shape& shape);

/// Type and shape of a dataset.
struct DatasetInfo {
  enum class Kind { real, integer, text, other };
  Shape shape;
  Kind kind = Kind::other;
};

/// Value of an attribute: text, a real number or an integer.
using AttributeValue = std::variant<std::string, double, std::int64_t>;

/// HDF5 file that all ranks of a communicator read or write together. Every member function of Hdf5File is collective,
/// and throws the same Error on all ranks; for a file of create_alone(), only the calling rank takes part. All
/// arguments except `block` and `rows` must be equal on all ranks. The template argument T is double or std::int64_t.
///
/// The name of a dataset is the full path of the dataset in the file, for example "/positions"; groups are created as
/// needed. Numerical datasets contain little-endian 64-bit values (or float32, see `allocate`). Each dataset has the
/// attributes `units` and `checksum`. The checksum of a dataset (checksum.hpp) is a sum over all values, in which each
/// term is a hash of a value and the value's index; functions that read a dataset verify the checksum. A series is a
/// dataset NAME to which frames are appended. If the frames of a series are arrays, each frame has a checksum of its
/// own, in the dataset `/checksums/NAME`, and the series has no attribute `checksum`. Datasets without checksums are
/// read without verification.
class Hdf5File {
 public:
  /// Creates the HDF5 file `path`, which is named `PATH.partial` until `publish` renames the file. The root group of
  /// the file gets the attributes `format`, `format_version` (the argument `version`) and `diffsim_version`. Throws
  /// InputError if the file cannot be written. The FileSystem `files` makes the system calls that reserve disk space
  /// and rename the file, while HDF5 writes the data with its own system calls; `files` must outlive the Hdf5File.
  static Hdf5File create(MPI_Comm comm, const std::string& path, const std::string& format, int version,
                         FileSystem& files = system_files());
  /// Opens a file for reading. Throws InputError if the file is missing, is a directory, is not HDF5 or is truncated.
  static Hdf5File open(MPI_Comm comm, const std::string& path);
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  /// Closes the file. Removes a new file unless `publish` or `close_partial` has succeeded.
  ~Hdf5File();

  MPI_Comm comm() const;
  const std::string& path() const;

  /// Finishes a new file: flushes and closes the file, synchronises the file with the disk (fsync), renames the file to
  /// its final name, and synchronises the directory of the file. A program that opens the file by its final name reads
  /// either the old file of this name or the complete new file.
  void publish();
  /// Flushes all data written so far to the disk.
  void flush();

  /// Throws InputError if the disk of the file has less than `bytes` bytes free. A long simulation calls
  /// require_space() before the first time step.
  void require_space(double bytes) const;

  // ---- attributes of a dataset or group ("/": the root)

  void write_attribute(const std::string& object, const std::string& name, const AttributeValue& value);
  /// Returns the attribute `name` of the dataset or group `object`, or an empty optional if the attribute does not
  /// exist or is not a single number or string.
  std::optional<AttributeValue> attribute(const std::string& object, const std::string& name) const;

  // ---- existence, type and shape of datasets

  bool has(const std::string& dataset) const;
  /// Returns type and shape of a dataset. Throws InputError if the dataset does not exist, or declares more data than
  /// the file contains.
  DatasetInfo info(const std::string& dataset) const;
  /// Returns type and shape of a dataset. Throws InputError under the same conditions as `info`, and if the dataset
  /// does not have the kind `kind` (integers are accepted where real values are expected) or the shape `shape`. An
  /// entry -1 of the argument `shape` stands for any extent. `meaning`, for example "[vertices, 3]", explains the
  /// expected shape in the error message.
  DatasetInfo require(const std::string& dataset, DatasetInfo::Kind kind, const Shape& shape,
                      const std::string& meaning = "") const;

  // ---- arrays of which every rank has a full copy

  template <class T>
  void write_array(const std::string& dataset, const std::vector<T>& values, const Shape& shape,
                   const std::string& units = "1");
  void write_strings(const std::string& dataset, const std::vector<std::string>& values);
  template <class T>
  std::vector<T> read_array(const std::string& dataset) const;
  std::vector<std::string> read_strings(const std::string& dataset) const;

  // ---- arrays distributed in contiguous blocks of rows, in the order of the ranks; blocks may be empty

  /// Writes a dataset of the shape [rows of all ranks, row_shape…], where `block` contains this rank's rows.
  template <class T>
  void write_rows(const std::string& dataset, const std::vector<T>& block, const Shape& row_shape,
                  const std::string& units = "1");
  /// Reads this rank's rows of a dataset, where `rows` is the number of this rank's rows. The sum of the argument
  /// `rows` over all ranks must be the number of rows of the dataset.
  template <class T>
  std::vector<T> read_rows(const std::string& dataset, std::int64_t rows) const;

  // ---- series: arrays [frames, frame_shape…] that grow by frames; the rows of a frame are distributed over the ranks

  /// Creates an empty series. Each frame of a series with `frame_shape` = [] is one value, which must be equal on all
  /// ranks.
  template <class T>
  void create_series(const std::string& dataset, const Shape& frame_shape, const std::string& units = "1");
  /// Appends a frame to the series `dataset`, where `block` contains this rank's rows of the frame. If the frames of
  /// the series are single values, `append` appends every value of `block` as a frame. If `append` throws, the series
  /// `dataset` is unchanged.
  template <class T>
  void append(const std::string& dataset, const std::vector<T>& block);
  /// Truncates a series to its first `frames` frames.
  void shrink_series(const std::string& dataset, std::int64_t frames);
  template <class T>
  std::vector<T> read_frame(const std::string& dataset, std::int64_t frame, std::int64_t rows) const;

  // ---- creating datasets whose values are written without HDF5 (by BackgroundWriter)

  /// Creates an HDF5 file that the calling rank alone writes. A file created by create_alone() supports only
  /// attributes, `allocate`, `allocate_chunks` and `close_partial`.
  static Hdf5File create_alone(const std::string& path, const std::string& format, int version,
                               FileSystem& files = system_files());
  /// Creates a dataset of doubles, or of float32 if `single` is true, with the checksum of the values that the caller
  /// will write. Returns the offset of the dataset's first value, in bytes from the beginning of the file; returns 0 if
  /// the dataset has no values.
  std::uint64_t allocate(const std::string& dataset, const Shape& shape, const std::string& units, bool single,
                         std::uint64_t checksum);
  /// Creates a dataset in chunks of `chunk_rows` rows. Chunk k of the dataset takes `bytes[k]` bytes in the file, after
  /// compression by HDF5's filters (chunk_filter.hpp). Returns the offset of each chunk of the dataset, in bytes from
  /// the beginning of the file.
  std::vector<std::uint64_t> allocate_chunks(const std::string& dataset, const Shape& shape, const std::string& units,
                                             bool single, std::uint64_t checksum, std::int64_t chunk_rows,
                                             const std::vector<std::uint64_t>& bytes);
  /// Closes the file without renaming the file from `PATH.partial` to its final name. Returns the length of the file in
  /// bytes.
  std::uint64_t close_partial();

  /// Sets the maximum number of bytes that a rank reads or writes in one HDF5 call; larger transfers are split. The
  /// default transfer limit is 1 GiB, because MPI counts have 31 bits.
  void set_transfer_limit(std::size_t bytes);

 private:
  struct Impl;
  explicit Hdf5File(std::unique_ptr<Impl> impl);
  static Hdf5File create(std::unique_ptr<Impl> impl, const std::string& format, int version);
  std::unique_ptr<Impl> impl_;
};

}  // namespace diffsim
