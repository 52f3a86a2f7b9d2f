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

/// Extent of an array in each dimension; empty for a single value.
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

/// HDF5 file that all ranks of a communicator read or write together. Every member is collective and throws the same
/// Error on all ranks. All arguments except `block` and `rows` must be equal on all ranks. T is double or std::int64_t.
///
/// Datasets are named by their full path ("/positions"); groups are created as needed. Numerical datasets contain
/// little-endian 64-bit values (or float32, see `allocate`). Datasets have the attributes `units` and `checksum`. The
/// checksum (checksum.hpp) is a sum over all values; each term is a hash of a value and its index; functions that read
/// a dataset verify the checksum. A series, which is a dataset NAME to which frames are appended, has one checksum per
/// frame, in the dataset `/checksums/NAME`. Files without checksums are read without verification.
class Hdf5File {
 public:
  /// Creates a file, which is named `PATH.partial` until `publish` renames it. `format` and `version` become attributes
  /// of the root, along with `diffsim_version`. Throws InputError if the file cannot be written. `files` reserves disk
  /// space and renames the file, while HDF5 writes the data with its own system calls; `files` must outlive the
  /// Hdf5File.
  static Hdf5File create(MPI_Comm comm, const std::string& path, const std::string& format, int version,
                         FileSystem& files = system_files());
  /// Opens a file for reading. Throws InputError if the file is missing, is a directory, is not HDF5 or is truncated.
  static Hdf5File open(MPI_Comm comm, const std::string& path);
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  /// Closes the file. Removes a new file that was not published.
  ~Hdf5File();

  MPI_Comm comm() const;
  const std::string& path() const;

  /// Finishes a new file: flushes and closes the file, synchronises the file with the disk (fsync), renames the file to
  /// its final name, and synchronises the directory. A reader sees either the old file or the complete new file.
  void publish();
  /// Flushes everything written so far to the disk.
  void flush();

  /// Throws InputError if the disk has less than `bytes` bytes free. A long run calls this function before the first
  /// time step.
  void require_space(double bytes) const;

  // ---- attributes of a dataset or group ("/": the root)

  void write_attribute(const std::string& object, const std::string& name, const AttributeValue& value);
  /// Returns the attribute, or an empty optional if the attribute does not exist or is not a single number or string.
  std::optional<AttributeValue> attribute(const std::string& object, const std::string& name) const;

  // ---- existence, type and shape of datasets

  bool has(const std::string& dataset) const;
  /// Returns type and shape of a dataset. Throws InputError if the dataset does not exist, or declares more data than
  /// the file contains.
  DatasetInfo info(const std::string& dataset) const;
  /// Returns type and shape of a dataset. Throws InputError under the same conditions as `info`, and if the dataset
  /// does not have the given kind (integers are accepted where real values are expected) or the given shape. In
  /// `shape`, -1 means any extent. `meaning` ("[vertices, 3]") explains the shape in the message.
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

  /// Writes an array [rows of all ranks, row_shape…] from this rank's block.
  template <class T>
  void write_rows(const std::string& dataset, const std::vector<T>& block, const Shape& row_shape,
                  const std::string& units = "1");
  /// Reads this rank's `rows` rows. The rows of all ranks must add up to the rows of the dataset.
  template <class T>
  std::vector<T> read_rows(const std::string& dataset, std::int64_t rows) const;

  // ---- series: arrays [frames, frame_shape…] that grow by frames; the rows of a frame are distributed over the ranks

  /// Creates an empty series. A frame of shape [] is one value, equal on all ranks.
  template <class T>
  void create_series(const std::string& dataset, const Shape& frame_shape, const std::string& units = "1");
  /// Appends a frame from this rank's rows. If frames are single values, appends every value of `block` as a frame. If
  /// the call fails, the series is unchanged.
  template <class T>
  void append(const std::string& dataset, const std::vector<T>& block);
  /// Truncates a series to its first `frames` frames.
  void shrink_series(const std::string& dataset, std::int64_t frames);
  template <class T>
  std::vector<T> read_frame(const std::string& dataset, std::int64_t frame, std::int64_t rows) const;

  // ---- creating datasets whose values are written without HDF5 (by BackgroundWriter)

  /// Creates a file on this rank alone. On this file only attributes, `allocate`, `allocate_chunks` and `close_partial`
  /// can be used.
  static Hdf5File create_alone(const std::string& path, const std::string& format, int version,
                               FileSystem& files = system_files());
  /// Creates a dataset of doubles, or of float32 if `single` is true, with the checksum of the values that the caller
  /// will write. Returns the offset of the first value, in bytes from the beginning of the file; 0 if there are no
  /// values.
  std::uint64_t allocate(const std::string& dataset, const Shape& shape, const std::string& units, bool single,
                         std::uint64_t checksum);
  /// Creates a dataset in chunks of `chunk_rows` rows. Chunk k takes `bytes[k]` bytes after HDF5's filters
  /// (chunk_filter.hpp). Returns the offset of each chunk, in bytes from the beginning of the file.
  std::vector<std::uint64_t> allocate_chunks(const std::string& dataset, const Shape& shape, const std::string& units,
                                             bool single, std::uint64_t checksum, std::int64_t chunk_rows,
                                             const std::vector<std::uint64_t>& bytes);
  /// Closes the file without renaming the file from `PATH.partial` to its final name. Returns the length of the file in
  /// bytes.
  std::uint64_t close_partial();

  /// Sets the maximum number of bytes that a rank reads or writes in one HDF5 call; larger transfers are split. The
  /// default is 1 GiB, because MPI counts have 31 bits.
  void set_transfer_limit(std::size_t bytes);

 private:
  struct Impl;
  explicit Hdf5File(std::unique_ptr<Impl> impl);
  static Hdf5File create(std::unique_ptr<Impl> impl, const std::string& format, int version);
  std::unique_ptr<Impl> impl_;
};

}  // namespace diffsim
