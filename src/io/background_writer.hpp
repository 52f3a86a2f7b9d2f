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

/// Array whose rows are distributed over the ranks. In the HDF5 dataset of the array, the rows of a rank follow the
/// rows of all lower ranks.
struct FileArray {
  std::string dataset;         ///< for example "/state/positions"
  Shape row_shape;             ///< shape of one row of the array, [] if each row is one value
  std::vector<double> values;  ///< [rows, row_shape…]
  std::string units = "1";
  bool single = false;      ///< true if the array is stored as float32
  bool compressed = false;  ///< true if the array is stored with HDF5's shuffle and deflate filters
};

/// Path, length in bytes and word sum (see src/io/checksum.hpp) of a completely written file.
struct WrittenFile {
  std::string path;
  std::uint64_t length = 0;
  std::uint64_t sum = 0;
};

/// Writer of HDF5 files, each of which contains data of all ranks. A BackgroundWriter writes the data of a file in the
/// background, while the calling thread continues.
///
/// Neither MPI, which the class Runtime initialises with MPI_THREAD_FUNNELED, nor HDF5 may be called from a second
/// thread. Therefore the first rank creates the HDF5 file, with allocated space for every array, on the calling thread.
/// Each rank then writes its rows of the arrays on a second thread, with system calls, at the file offsets that HDF5
/// reported. A file that a BackgroundWriter writes is an ordinary HDF5 file with the attributes that Hdf5File writes. A
/// file PATH has the name `PATH.partial` until `publish` renames the file.
///
/// All member functions of BackgroundWriter except `is_idle` are collective. If a member function throws on one rank,
/// all ranks throw the same Error.
class BackgroundWriter {
 public:
  using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

  /// Creates a writer. `depth`: maximum number of files that still have the name `PATH.partial` after `publish(false)`;
  /// with `depth` = 0, `write` writes the data before `write` returns. If `durable` is true, files are synchronised
  /// with the disk (fsync), so that the files survive a crash of the machine. The FileSystem `files` must outlive the
  /// BackgroundWriter.
  BackgroundWriter(MPI_Comm comm, int depth, bool durable, FileSystem& files = system_files());
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;
  /// Waits until all files are written, and removes the files that `publish` has not renamed.
  ~BackgroundWriter();

  /// Starts writing a file. Returns the number of bytes that the rows of `arrays` on all ranks take in the file. Throws
  /// Error if the file cannot be created or the disk has no space for the arrays. Errors that occur while the data are
  /// written are thrown by `publish`, not by `write`.
  std::uint64_t write(const std::string& path, const std::string& format, int version, const Attributes& attributes,
                      std::vector<FileArray> arrays);
  /// Renames completely written files from `PATH.partial` to PATH, in the order of the `write` calls, and returns a
  /// WrittenFile for each of these files. A file is completely written once all ranks have written their rows. If
  /// `wait` is true, `publish` waits until all files are written, and renames all files. If `wait` is false, `publish`
  /// renames the completely written files, and waits for further files, oldest first, only while more than `depth`
  /// files have the name `PATH.partial`. Throws Error if a file could not be written.
  std::vector<WrittenFile> publish(bool wait);
  bool is_idle() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Returns an empty string if the file `file.path` has the length and the word sum given in `file`, otherwise an error
/// message with the reason why the file is not intact. Each rank reads a part of the file `file.path`. Collective.
std::string file_error(MPI_Comm comm, const WrittenFile& file);

}  // namespace diffsim
