// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/row_order.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "io/background_writer.hpp"

namespace diffsim {

class DirectoryLock;

/// Identity of a problem: a list of its parts with a hash of each part, {"mesh", hash}, {"material", hash}, …
using ProblemParts = std::vector<std::pair<std::string, std::string>>;

/// Error that occurs while a file is written. A function that reads a file may also throw this error, because the
/// function first waits until the files that are being written in the background are complete. In this case the file to
/// be read is not damaged.
class CheckpointWriteError : public Error {
 public:
  explicit CheckpointWriteError(const std::string& what) : Error(what, ErrorKind::system) {}
};

/// Returns true if `error`, thrown while a file was read, means that this file is damaged. A sweep can recompute the
/// contents of a damaged file.
inline bool is_damage(const Error& error) {
  return error.kind() != ErrorKind::input && dynamic_cast<const CheckpointWriteError*>(&error) == nullptr;
}

/// Directory of HDF5 files with checkpoints. With the option `keep`, the files remain when the program ends.
///
/// The manifest is a text file that lists the complete files of the directory. A file is added to the manifest after
/// all ranks have written the file, the file has been synchronised with the disk (fsync), and the file has its final
/// name. The manifest contains the length and a checksum of each listed file, and a checksum of the manifest itself.
/// The directory contains two versions of the manifest, `manifest.0` and `manifest.1`; the newer of the two versions is
/// valid, and a new version replaces the older file atomically. If a run is killed at any time, all listed files are
/// therefore complete. A file has a kind (for example "step") and a number. The name of the file is KIND_NUMBER.h5, or
/// KIND_NUMBER.VERSION.h5 if the first name is in use. A listed file is never overwritten.
///
/// With the option `keep`, only one program at a time may use a directory. Without `keep`, several programs may share a
/// directory; the first of these programs removes the files that a killed run has left, unless the directory has a
/// manifest.
///
/// Every member is collective and throws the same Error on all ranks.
class CheckpointDirectory {
 public:
  struct Options {
    bool keep = false;  ///< true: files exist until `remove_all`; false: no manifest, the destructor removes all files
    bool resume = false;     ///< true: uses the files of an earlier run; false: removes the files of an earlier run
    int depth = 2;           ///< maximum number of files being written in the background; 0: no background writing
    double patience = 10.0;  ///< with `keep`: maximum time (s) to wait for another program that uses the directory
    ProblemParts problem;
    std::function<void(const std::string&)> warn;  ///< receives warnings about files that cannot be used
    FileSystem* files = &system_files();           ///< system calls for writing; must outlive the directory
  };

  /// Opens the directory and creates it if necessary. Throws Error (input) if the directory is not writable or is in
  /// use by another program, if the directory contains files of another problem (the message names the parts that
  /// differ), or if the manifest has another format version. Files of another problem are removed without an error if
  /// their run failed and `resume` is false.
  CheckpointDirectory(MPI_Comm comm, std::string path, Options options);
  CheckpointDirectory(MPI_Comm comm, std::string path) : CheckpointDirectory(comm, std::move(path), Options{}) {}
  CheckpointDirectory(const CheckpointDirectory&) = delete;
  CheckpointDirectory& operator=(const CheckpointDirectory&) = delete;
  ~CheckpointDirectory();

  MPI_Comm comm() const { return comm_; }
  const std::string& path() const { return path_; }
  bool keeps() const { return options_.keep; }
  void warn(const std::string& what) const;

  /// Begins a sweep for given values of the parameters and of the initial state. `signature` identifies these values.
  /// Files of the kind `durable_kind` do not depend on the values. Returns true if the existing files of other kinds
  /// were written for the same values. Otherwise removes the files of other kinds and returns false.
  bool begin_point(const RowOrder::Signature& signature);

  /// Starts to write a file of a kind with a number. Replaces an existing file of the same kind and number.
  void write(const std::string& kind, int number, std::vector<FileArray> arrays,
             const BackgroundWriter::Attributes& attributes = {});
  bool has(const std::string& kind, int number) const;      ///< true if the file exists; also if pinned and erased
  std::vector<int> numbers(const std::string& kind) const;  ///< numbers of existing files, in ascending order
  /// Opens an existing file. Waits until the file is completely written, and verifies the checksum of the file. Throws
  /// Error (system) with the reason if the file is missing or damaged.
  Hdf5File open(const std::string& kind, int number);
  std::string file_of(const std::string& kind, int number) const;  ///< final path of a file
  /// Removes a file. A pinned file is only marked as erased, and removed by `unpin`.
  void erase(const std::string& kind, int number);
  /// Pins a file: `erase` does not remove the file before `unpin` is called.
  void pin(const std::string& kind, int number);
  /// Unpins a file, and removes the file if `erase` was called in the meantime.
  void unpin(const std::string& kind, int number);
  /// Returns true if the file exists, is pinned and, if listed in the manifest, is intact. In this case, cancels an
  /// earlier `erase` of the file.
  bool claim(const std::string& kind, int number);
  /// Sets this rank's values of the dataset `/note`. Every file that is written after this call contains the dataset.
  void annotate(std::vector<double> shares) { note_ = std::move(shares); }

  /// Adds all files that are completely written to the manifest. If `wait` is true, first waits until all files that
  /// are being written are complete. Throws CheckpointWriteError if a file could not be written.
  void publish(bool wait);
  /// Marks the run as failed in the manifest. A failed run may still be resumed, but its files do not prevent a run of
  /// another problem in the same directory.
  void mark_failed();
  bool is_empty() const { return entries_.empty(); }
  /// Waits until all files that are being written are complete, then removes the manifest. With the option `keep`, also
  /// removes all checkpoint files, and then the directory and those parent directories that this object created, as far
  /// as they are empty. Without `keep`, the destructor removes files and directories.
  void remove_all();

  const StoreStatistics& statistics() const { return statistics_; }

 private:
  struct Entry {
    std::string name;
    WrittenFile file;
    bool listed = false;
    bool pinned = false;
    bool erased = false;  // `erase` was called; the file is removed by `unpin`
  };
  using Key = std::pair<std::string, int>;

  void enter();
  std::string unused_name(const Key& key);
  void load();
  void clean();
  void commit();

  MPI_Comm comm_;
  std::string path_;
  Options options_;
  int rank_ = 0;
  int ranks_ = 1;
  std::unique_ptr<DirectoryLock> lock_;  // locked by the first rank only
  std::string first_made_;               // outermost directory that this object created
  std::map<Key, Entry> entries_;
  std::vector<std::string> garbage_;      // names of files that the next manifest will not list
  std::vector<std::string> old_garbage_;  // names of files that only the older of the two manifests lists
  bool changed_ = false;                  // true: the manifest on the disk is outdated
  bool failed_ = false;                   // true: the manifest marks the run as failed
  std::int64_t generation_ = 0;
  std::int64_t point_ranks_ = 0;  // number of ranks on which `point_` was computed
  RowOrder::Signature point_;
  std::vector<double> note_;
  std::unique_ptr<BackgroundWriter> writer_;
  StoreStatistics statistics_;
};

/// Kind of files that do not depend on the values of the parameters and of the initial state.
/// `CheckpointDirectory::begin_point` does not remove these files.
inline constexpr const char* durable_kind = "evaluation";

}  // namespace diffsim
