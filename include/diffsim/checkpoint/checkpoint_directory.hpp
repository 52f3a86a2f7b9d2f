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

#include "diffsim/checkpoint/row_order.hpp"
#include "diffsim/checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/io/background_writer.hpp"

namespace diffsim {

class DirectoryLock;

/// Identity of a problem, part by part: {"mesh", hash}, {"material", hash}, …
using ProblemParts = std::vector<std::pair<std::string, std::string>>;

/// A file could not be written: what was to be read meanwhile is not at fault.
class CheckpointWriteError : public Error {
 public:
  explicit CheckpointWriteError(const std::string& what) : Error(what, ErrorKind::system) {}
};

/// Whether a sweep can go on without the file that could not be read.
inline bool is_damage(const Error& error) {
  return error.kind() != ErrorKind::input && dynamic_cast<const CheckpointWriteError*>(&error) == nullptr;
}

/// A directory of HDF5 files that, where `keep` is asked for, outlive the program that wrote them.
///
/// A file is listed in the manifest once all ranks have written and synchronised it and it has its name; the manifest
/// has each file's length and the sum of all its bytes, and is itself check-summed, replaced as a whole, and kept twice
/// (`manifest.0`, `manifest.1`, the newer one counts). So a run that is killed at any time leaves files that are whole,
/// or not listed. Files are named KIND_NUMBER.h5 and never written again under the same name while they are listed.
///
/// A directory that keeps its files is one program's at a time. Others that keep none may share one; the first of them
/// removes what a killed one has left, unless that is listed.
///
/// Every member is collective and throws the same Error on all ranks.
class CheckpointDirectory {
 public:
  struct Options {
    bool keep = false;       ///< files stay until `remove_all`; else they go with this object, and no manifest is kept
    bool resume = false;     ///< begins with what an earlier run has kept; else that is removed
    int depth = 2;           ///< files at most that are being written in the background; 0: none is
    double patience = 10.0;  ///< s to wait for another run in the same directory to end
    ProblemParts problem;
    std::function<void(const std::string&)> warn;  ///< told what was found but cannot be used, and why
    FileSystem* files = &system_files();           ///< the calls that write; must outlive the directory
  };

  /// Throws Error (input) where the directory cannot be written to, or is another program's; where `resume` finds
  /// another problem's files, naming what is different; or where they are of a newer version. Another problem's files
  /// of a run that failed give way, unless `resume`.
  CheckpointDirectory(MPI_Comm comm, std::string path, Options options);
  CheckpointDirectory(MPI_Comm comm, std::string path) : CheckpointDirectory(comm, std::move(path), Options{}) {}
  CheckpointDirectory(const CheckpointDirectory&) = delete;
  CheckpointDirectory& operator=(const CheckpointDirectory&) = delete;
  ~CheckpointDirectory();

  MPI_Comm comm() const { return comm_; }
  const std::string& path() const { return path_; }
  bool keeps() const { return options_.keep; }
  void warn(const std::string& what) const;

  /// Files of kinds other than `durable_kind` belong to a point, values of the parameters and of the initial state.
  /// Where it is not the one of the files that are there, they are removed. Returns whether it is.
  bool begin_point(const RowOrder::Signature& signature);

  /// Begins to write a file, over one of the same kind and number if there is.
  void write(const std::string& kind, int number, std::vector<FileArray> arrays,
             const BackgroundWriter::Attributes& attributes = {});
  bool has(const std::string& kind, int number) const;      ///< pinned ones that were erased, too
  std::vector<int> numbers(const std::string& kind) const;  ///< in ascending order
  /// Of a file that is there; waits until it is whole, and verifies every byte of it. Throws Error (system) with the
  /// reason where it is missing or damaged.
  Hdf5File open(const std::string& kind, int number);
  std::string file_of(const std::string& kind, int number) const;  ///< its path, with the name it has or will have
  void erase(const std::string& kind, int number);
  /// A pinned file outlives `erase` until it is unpinned.
  void pin(const std::string& kind, int number);
  void unpin(const std::string& kind, int number);
  /// Whether a file is pinned and whole; if so, takes back that it was erased.
  bool claim(const std::string& kind, int number);
  /// Numbers, a share of this rank, that every file from here on has as `/note`.
  void annotate(std::vector<double> shares) { note_ = std::move(shares); }

  /// Lists files that are written; `wait`: all that were begun. Throws CheckpointWriteError.
  void publish(bool wait);
  /// Notes, on the disk, that the run failed: what is there may be resumed, but does not stand in another run's way.
  void mark_failed();
  bool is_empty() const { return entries_.empty(); }
  /// Ends with nothing left: all files go, and the directory if it was made here.
  void remove_all();

  const StoreStatistics& statistics() const { return statistics_; }

 private:
  struct Entry {
    std::string name;
    WrittenFile file;
    bool listed = false;
    bool pinned = false;
    bool erased = false;  // it goes when it is not pinned any more
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
  std::unique_ptr<DirectoryLock> lock_;  // the first rank's
  std::string first_made_;               // the outermost directory that did not exist before
  std::map<Key, Entry> entries_;
  std::vector<std::string> garbage_;      // names of files to remove once the manifest does not list them
  std::vector<std::string> old_garbage_;  // likewise, the one before it
  bool changed_ = false;                  // the manifest is behind
  bool failed_ = false;                   // what the manifest is to say
  std::int64_t generation_ = 0;
  std::int64_t point_ranks_ = 0;  // that the point's signature was taken on
  RowOrder::Signature point_;
  std::vector<double> note_;
  std::unique_ptr<BackgroundWriter> writer_;
  StoreStatistics statistics_;
};

/// Kinds of files that belong to the problem as a whole: they stay when a new point begins.
inline constexpr const char* durable_kind = "evaluation";

}  // namespace diffsim
