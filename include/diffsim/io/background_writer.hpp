// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/io/hdf5_file.hpp"

namespace diffsim {

/// An array that the ranks share by rows: this rank's rows follow those of the ranks before it.
struct FileArray {
  std::string dataset;         ///< "/state/positions"
  Shape row_shape;             ///< of a row; empty: one number
  std::vector<double> values;  ///< [rows, row_shape…]
  std::string units = "1";
  bool single = false;      ///< kept as float32
  bool compressed = false;  ///< kept as HDF5's shuffle and deflate filters make it
};

/// A file as it was published: what every byte of it adds up to.
struct WrittenFile {
  std::string path;
  std::uint64_t length = 0;
  std::uint64_t sum = 0;
};

/// Writes HDF5 files that all ranks share while the program goes on.
///
/// Neither MPI (here MPI_THREAD_FUNNELED) nor HDF5 is for a second thread. So the first rank makes the file's
/// structure, with room for every array, on the calling thread; then a thread of each rank writes its rows by the
/// system's own calls, where HDF5 said that they belong. The result is an HDF5 file like any other, with the attributes
/// of Hdf5File. Until all ranks have written and synchronised it, it is called `PATH.partial`.
///
/// Every member is collective and throws the same Error on all ranks.
class BackgroundWriter {
 public:
  using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

  /// At most `depth` files wait to be written; 0: `write` waits for its own. `durable`: synchronised with the disk, so
  /// that they outlive a crash of the machine. `files` must outlive the writer.
  BackgroundWriter(MPI_Comm comm, int depth, bool durable, FileSystem& files = system_files());
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;
  /// Waits, and removes files that were not published.
  ~BackgroundWriter();

  /// Begins to write a file. Throws where the disk has no room for it, or a file before it failed. Returns the bytes
  /// that its arrays take in it, of all ranks.
  std::uint64_t write(const std::string& path, const std::string& format, int version, const Attributes& attributes,
                      std::vector<FileArray> arrays);
  /// Gives files that are written by all ranks their names; `wait`: all there are. In order.
  std::vector<WrittenFile> publish(bool wait);
  bool is_idle() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether every byte of a file is as it was published; the reason if not. Collective: the ranks read a part each.
std::string fault_of_file(MPI_Comm comm, const WrittenFile& file);

}  // namespace diffsim
