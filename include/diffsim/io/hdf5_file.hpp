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

#include "diffsim/io/file_system.hpp"

namespace diffsim {

/// Sizes of an array by dimension; empty: one value.
using Shape = std::vector<std::int64_t>;

/// "[100, 3]".
std::string to_string(const Shape& shape);
/// How many values an array of this shape has.
std::int64_t num_values(const Shape& shape);

/// Type and shape of a dataset.
struct DatasetInfo {
  enum class Kind { real, integer, text, other };
  Shape shape;
  Kind kind = Kind::other;
};

/// A value of an attribute.
using AttributeValue = std::variant<std::string, double, std::int64_t>;

/// An HDF5 file that the ranks of a communicator share. Every member is collective, takes equal arguments on all ranks
/// but for the values of blocks, and throws the same Error on all ranks. T is double or std::int64_t.
///
/// Datasets are named by their full path ("/positions"); groups are made as needed. They hold little-endian 64-bit
/// numbers, and have the attributes `units` and `checksum`: the sum over all values of a hash of value and place, which
/// reading verifies. Series have one checksum a frame, in `/checksums/NAME`. Files without them are read unverified.
class Hdf5File {
 public:
  /// Opens a new file, under the name `PATH.partial` until it is published. `format` and `version` become attributes of
  /// the root, with `diffsim_version`. InputError if it cannot be written. `files` must outlive the file: space is
  /// reserved and the file is published by its calls; HDF5 writes by its own.
  static Hdf5File create(MPI_Comm comm, const std::string& path, const std::string& format, int version,
                         FileSystem& files = system_files());
  /// Opens a file to be read. InputError where it is missing, a directory, not HDF5, cut short.
  static Hdf5File open(MPI_Comm comm, const std::string& path);
  Hdf5File(Hdf5File&&) noexcept;
  Hdf5File& operator=(Hdf5File&&) noexcept;
  /// Closes; a new file that was not published is removed.
  ~Hdf5File();

  MPI_Comm comm() const;
  const std::string& path() const;

  /// Ends writing: flush, close, fsync, rename to its name, fsync of the directory. A reader sees the old file or the
  /// whole new one, never a part.
  void publish();
  /// Hands everything written so far to the disk.
  void flush();

  /// InputError where the disk has not `bytes` free: what a long run asks before it starts.
  void require_space(double bytes) const;

  // ---- attributes of a dataset or group ("/": the root)

  void write_attribute(const std::string& object, const std::string& name, const AttributeValue& value);
  /// Nothing where there is none of that name, or it is not one number or text.
  std::optional<AttributeValue> attribute(const std::string& object, const std::string& name) const;

  // ---- what there is

  bool has(const std::string& dataset) const;
  /// InputError where there is no such dataset, or it claims to hold more than the file does.
  DatasetInfo info(const std::string& dataset) const;
  /// The same, and InputError for another kind (real includes integers) or shape; -1 in `shape` stands for any size,
  /// which `meaning` ("[vertices, 3]") explains.
  DatasetInfo require(const std::string& dataset, DatasetInfo::Kind kind, const Shape& shape,
                      const std::string& meaning = "") const;

  // ---- arrays that every rank has whole

  template <class T>
  void write_array(const std::string& dataset, const std::vector<T>& values, const Shape& shape,
                   const std::string& units = "1");
  void write_strings(const std::string& dataset, const std::vector<std::string>& values);
  template <class T>
  std::vector<T> read_array(const std::string& dataset) const;
  std::vector<std::string> read_strings(const std::string& dataset) const;

  // ---- arrays in contiguous blocks of rows, which follow each other from rank to rank and may be empty

  /// Writes [rows of all ranks, row_shape…] from this rank's block.
  template <class T>
  void write_rows(const std::string& dataset, const std::vector<T>& block, const Shape& row_shape,
                  const std::string& units = "1");
  /// This rank's `rows` rows; those of all ranks must be all there are.
  template <class T>
  std::vector<T> read_rows(const std::string& dataset, std::int64_t rows) const;

  // ---- series: arrays [frames, frame_shape…] that grow by frames; a frame is spread over the ranks by rows

  /// An empty series; a frame of shape [] is one value, the same on every rank.
  template <class T>
  void create_series(const std::string& dataset, const Shape& frame_shape, const std::string& units = "1");
  /// Adds a frame from this rank's rows; one-value frames: adds every value of `block` as a frame. If it fails, the
  /// series has the frames it had.
  template <class T>
  void append(const std::string& dataset, const std::vector<T>& block);
  /// Drops frames from the end.
  void shrink_series(const std::string& dataset, std::int64_t frames);
  template <class T>
  std::vector<T> read_frame(const std::string& dataset, std::int64_t frame, std::int64_t rows) const;

  // ---- for values that come by another way (BackgroundWriter)

  /// `create` for this rank alone. Of such a file only what follows, and attributes, can be used.
  static Hdf5File create_alone(const std::string& path, const std::string& format, int version,
                               FileSystem& files = system_files());
  /// Makes a dataset of doubles, `single`: kept as float32, with the checksum its values will have. Returns the place
  /// of the first one in the file.
  std::uint64_t allocate(const std::string& dataset, const Shape& shape, const std::string& units, bool single,
                         std::uint64_t checksum);
  /// Makes a dataset in chunks of `chunk_rows` rows that HDF5's filters have made `bytes` long each
  /// (chunk_filter.hpp). Returns their places.
  std::vector<std::uint64_t> allocate_chunks(const std::string& dataset, const Shape& shape, const std::string& units,
                                             bool single, std::uint64_t checksum, std::int64_t chunk_rows,
                                             const std::vector<std::uint64_t>& bytes);
  /// Closes the file without publishing: it stays `PATH.partial`. Returns its length.
  std::uint64_t close_partial();

  /// Largest transfer of one rank at once, bytes; larger ones are done in parts. Default 1 GiB (MPI counts in 31 bits).
  void set_transfer_limit(std::size_t bytes);

 private:
  struct Impl;
  explicit Hdf5File(std::unique_ptr<Impl> impl);
  static Hdf5File create(std::unique_ptr<Impl> impl, const std::string& format, int version);
  std::unique_ptr<Impl> impl_;
};

}  // namespace diffsim
