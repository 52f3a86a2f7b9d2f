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

/// Identity of a simulated problem: the name and a hash of each part of the problem, for example {"mesh", hash},
/// {"material", hash}, …
using ProblemParts = std::vector<std::pair<std::string, std::string>>;

/// Error that occurs while a checkpoint file is written. A function that reads a checkpoint file may throw a
/// CheckpointWriteError, because the function first waits until the files that are being written in the background are
/// complete. If a function that reads a file throws a CheckpointWriteError, the file to be read is not damaged.
class CheckpointWriteError : public Error {
 public:
  explicit CheckpointWriteError(const std::string& what) : Error(what, ErrorKind::system) {}
};

/// Returns true if `error`, thrown while a checkpoint file was read, means that this file is damaged. The contents of a
/// damaged checkpoint file can be recomputed by a repetition of time steps.
inline bool is_damage(const Error& error) {
  return error.kind() != ErrorKind::input && dynamic_cast<const CheckpointWriteError*>(&error) == nullptr;
}

/// Directory of HDF5 files with checkpoints. With the option `keep`, the checkpoint files remain when the program ends.
///
/// The manifest of a checkpoint directory is a text file that lists the complete checkpoint files of the directory. A
/// checkpoint file is added to the manifest after all ranks have written the file, the file has been synchronised with
/// the disk (fsync), and the file has its final name. The manifest contains the length and a checksum of each listed
/// file, and a checksum of the manifest itself. The directory contains two versions of the manifest, `manifest.0` and
/// `manifest.1`; the newer intact version is valid, and writing a manifest replaces the older version atomically. Even
/// if a run is killed, all files that the manifest lists are complete.
///
/// A checkpoint file is identified by a kind (for example "step") and a number. The name of a checkpoint file is
/// KIND_NUMBER.h5, or KIND_NUMBER.VERSION.h5 if the name KIND_NUMBER.h5 is in use. A file that the manifest lists is
/// never overwritten.
///
/// With the option `keep`, only one program at a time may use a directory. Without the option `keep`, several programs
/// may share a directory; the first of these programs removes the files that a killed run has left, unless the
/// directory has a manifest.
///
/// All member functions of CheckpointDirectory are collective and throw the same Error on all ranks.
class CheckpointDirectory {
 public:
  struct Options {
    /// true: the checkpoint files remain until `remove_all` is called; false: no manifest is written, and the
    /// destructor removes all checkpoint files
    bool keep = false;
    bool resume = false;  ///< true: the checkpoint files of an earlier run are used; false: these files are removed
    int depth = 2;        ///< maximum number of files being written in the background; 0 means no background writing
    /// Maximum time (s) to wait, if the option `keep` is true, for another program that uses the directory.
    double patience = 10.0;
    ProblemParts problem;
    std::function<void(const std::string&)> warn;  ///< function that receives warnings about unusable checkpoint files
    /// Object that performs the system calls for writing files; must outlive the CheckpointDirectory.
    FileSystem* files = &system_files();
  };

  /// Opens the checkpoint directory `path`, and creates the directory if the directory does not exist. Throws Error
  /// (input) if the directory is not writable or is in use by another program, if the directory contains files of
  /// another problem (the message names the parts of the problem that differ), or if the manifest has a format version
  /// that this program does not read. Files of another problem are removed without an error if the run that wrote the
  /// files failed and `resume` is false.
  CheckpointDirectory(MPI_Comm comm, std::string path, Options options);
  CheckpointDirectory(MPI_Comm comm, std::string path) : CheckpointDirectory(comm, std::move(path), Options{}) {}
  CheckpointDirectory(const CheckpointDirectory&) = delete;
  CheckpointDirectory& operator=(const CheckpointDirectory&) = delete;
  ~CheckpointDirectory();

  MPI_Comm comm() const { return comm_; }
  const std::string& path() const { return path_; }
  bool keeps() const { return options_.keep; }
  void warn(const std::string& what) const;

  /// Begins a sweep (forward run and reverse run) with the parameters and the initial state that `signature`
  /// identifies. Returns true if the existing checkpoint files of all kinds except `durable_kind` were written for the
  /// same parameters and the same initial state; otherwise removes the files of these kinds and returns false. Files of
  /// the kind `durable_kind` do not depend on the parameters and the initial state.
  bool begin_point(const RowOrder::Signature& signature);

  /// Starts to write the checkpoint file with the given kind and number. Replaces an existing checkpoint file that has
  /// the given kind and number.
  void write(const std::string& kind, int number, std::vector<FileArray> arrays,
             const BackgroundWriter::Attributes& attributes = {});
  /// Returns true if the checkpoint file with the given kind and number exists, even if `erase` was called for the file
  /// while `pin` protected the file from removal.
  bool has(const std::string& kind, int number) const;
  /// Returns the numbers of the existing checkpoint files of the kind `kind`, in ascending order.
  std::vector<int> numbers(const std::string& kind) const;
  /// Opens an existing checkpoint file, after waiting until the file is completely written and verifying the checksum
  /// of the file. Throws Error (run) if there is no file with the given kind and number, and Error (system) with the
  /// reason if the file is damaged or has been removed from the disk.
  Hdf5File open(const std::string& kind, int number);
  /// Returns the path that a checkpoint file has as soon as the file is complete.
  std::string file_of(const std::string& kind, int number) const;
  /// Removes a checkpoint file or, if `pin` protects the file from removal, only marks the file, so that `unpin`
  /// removes the file.
  void erase(const std::string& kind, int number);
  /// Protects a checkpoint file from removal: `erase` does not remove the file before `unpin` is called.
  void pin(const std::string& kind, int number);
  /// Ends the protection of a checkpoint file by `pin`, and removes the file if `erase` was called during the
  /// protection.
  void unpin(const std::string& kind, int number);
  /// Returns true if the checkpoint file with the given kind and number exists, is protected from removal by `pin`, and
  /// is intact or still being written. If `claim` returns true, an earlier call of `erase` for the file has no effect.
  bool claim(const std::string& kind, int number);
  /// Sets this rank's values of the dataset `/note`, which is contained in every checkpoint file that is written after
  /// the call of `annotate`.
  void annotate(std::vector<double> shares) { note_ = std::move(shares); }

  /// Adds to the manifest all files that are completely written. If `wait` is true, waits until all files that are
  /// being written are complete before adding files to the manifest. Throws CheckpointWriteError if a file could not be
  /// written.
  void publish(bool wait);
  /// Marks the run as failed in the manifest. A failed run may still be resumed, but the files of a failed run do not
  /// prevent a run of another problem in the same directory.
  void mark_failed();
  bool is_empty() const { return entries_.empty(); }
  /// Waits until all checkpoint files that are being written are complete, then removes the manifest. With the option
  /// `keep`, `remove_all` then removes all checkpoint files, the directory, and those parent directories that this
  /// object created, if these directories are empty. Without the option `keep`, the destructor of CheckpointDirectory
  /// removes the checkpoint files, and those empty directories that this object created.
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

/// Kind of the files that do not depend on the values of the parameters and of the initial state, and that
/// `CheckpointDirectory::begin_point` therefore does not remove.
inline constexpr const char* durable_kind = "evaluation";

}  // namespace diffsim
