// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5_file.hpp"

namespace diffsim {

/// Array whose rows are distributed over the ranks. This rank's rows follow the rows of all lower ranks.
struct FileArray {
  std::string dataset;         ///< for example "/state/positions"
  Shape row_shape;             ///< shape of one row; empty if each row is one value
  std::vector<double> values;  ///< [rows, row_shape…]
  std::string units = "1";
  bool single = false;      ///< true: stored as float32
  bool compressed = false;  ///< true: stored with HDF5's shuffle and deflate filters
};

/// Path, length in bytes and checksum (sum of `word_sum`, see src/io/checksum.hpp) of a published file.
struct WrittenFile {
  std::string path;
  std::uint64_t length = 0;
  std::uint64_t sum = 0;
};

/// Writer of HDF5 files, each with data of all ranks. The data are written in the background, while the calling thread
/// continues.
///
/// Neither MPI, which Runtime initialises with MPI_THREAD_FUNNELED, nor HDF5 may be called from a second thread.
/// Therefore the first rank creates the file's structure, with space for every array, on the calling thread. Then each
/// rank writes its rows on a second thread with system calls, at the offsets that HDF5 reported. The result is an
/// ordinary HDF5 file with the attributes that Hdf5File writes. The file is named `PATH.partial` until `publish`
/// renames it.
///
/// All members except `is_idle` are collective. If a member throws, all ranks throw the same Error.
class BackgroundWriter {
 public:
  using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

  /// Creates a writer. `depth`: maximum number of files that still have the name `PATH.partial` after `publish(false)`;
  /// with `depth` = 0, `write` writes the data before it returns. If `durable` is true, files are synchronised with the
  /// disk, so that they survive a crash of the machine. `files` must outlive the writer.
  BackgroundWriter(MPI_Comm comm, int depth, bool durable, FileSystem& files = system_files());
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;
  /// Waits for the files that are being written, and removes files that were not published.
  ~BackgroundWriter();

  /// Starts writing a file. Returns the number of bytes that the arrays of all ranks take in the file. Throws Error if
  /// the file cannot be created or the disk has no space for the arrays. Errors of writing the data are thrown later,
  /// by `publish`.
  std::uint64_t write(const std::string& path, const std::string& format, int version, const Attributes& attributes,
                      std::vector<FileArray> arrays);
  /// Publishes files in the order of the `write` calls, and returns these files. A file is published by renaming it to
  /// its final name, once all ranks have written the file. If `wait` is true, waits for all files and publishes all of
  /// them. If `wait` is false, publishes the files that all ranks have written; if more than `depth` files would then
  /// remain unpublished, also waits for the oldest of these files and publishes them. Throws Error if a file could not
  /// be written.
  std::vector<WrittenFile> publish(bool wait);
  bool is_idle() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns an empty string if the file at `file.path` has the length and the checksum given in `file`, otherwise the
/// reason why the check failed. Each rank reads a part of the file. Collective.
std::string file_error(MPI_Comm comm, const WrittenFile& file);

}  // namespace diffsim
