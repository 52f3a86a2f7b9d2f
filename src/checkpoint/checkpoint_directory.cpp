// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/checkpoint_directory.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>

#include "checkpoint/directory_lock.hpp"
#include "checkpoint/manifest.hpp"
#include "core/broadcast.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

namespace fs = std::filesystem;

constexpr int format_version = 1;
/// Maximum number of files that wait for removal. If the number is larger, a new manifest is written, so that the files
/// can be removed.
constexpr std::size_t most_garbage = 4;

/// Timer that adds the lifetime (s) of the object to `StoreStatistics::seconds_waiting`.
class Waiting {
 public:
  explicit Waiting(StoreStatistics& statistics) : statistics_(statistics), start_(MPI_Wtime()) {}
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  ~Waiting() { statistics_.seconds_waiting += MPI_Wtime() - start_; }

 private:
  StoreStatistics& statistics_;
  double start_;
};

}  // namespace

CheckpointDirectory::CheckpointDirectory(MPI_Comm comm, std::string path, Options options)
    : comm_(comm), path_(std::move(path)), options_(std::move(options)) {
  rank_ = rank_of(comm_);
  ranks_ = num_ranks(comm_);
  if (path_.empty()) throw InputError("the checkpoint directory has no name; give one");
  lock_ = std::make_unique<DirectoryLock>();
  collectively(comm_, [&] {
    if (rank_ == 0) enter();
  });
  if (options_.keep) load();
  clean();
  writer_ = std::make_unique<BackgroundWriter>(comm_, options_.depth, options_.keep, *options_.files);
}

CheckpointDirectory::~CheckpointDirectory() {
  writer_.reset();
  if (options_.keep || rank_ != 0) return;
  std::error_code ignored;
  for (const auto& [key, entry] : entries_) fs::remove(fs::path(path_) / entry.name, ignored);
  remove_empty_directories(path_, first_made_);
}

void CheckpointDirectory::warn(const std::string& what) const {
  if (options_.warn) options_.warn(what);
}

// ---- the manifest --------------------------------------------------------------------------------------------------

void CheckpointDirectory::load() {
  Manifest found;
  std::vector<std::string> warnings;
  std::string text;
  collectively(comm_, [&] {
    if (rank_ != 0) return;
    const std::optional<Manifest> newest = newest_manifest(path_, warnings);
    if (!newest) return;
    const std::string difference = difference_of(newest->problem, options_.problem);
    const bool gives_way = newest->failed && !options_.resume;
    if (!difference.empty() && !gives_way)
      throw InputError("checkpoint directory '" + path_ + "' contains the checkpoint of another problem (" +
                       difference + "); give another checkpoint.directory, or remove this one");
    if (!difference.empty())
      warnings.push_back("removed the checkpoint of a failed run of another problem (" + difference + ") in '" + path_ +
                         "'");
    else if (!options_.resume)
      warnings.push_back("removed the checkpoint of an earlier run in '" + path_ +
                         "'; --resume would have continued from this checkpoint");
    text = to_text(*newest);
  });
  broadcast_text(text, comm_);
  std::string all;
  for (const std::string& warning : warnings) all += warning + '\n';
  broadcast_text(all, comm_);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    warn(all.substr(at, end - at));
    at = end + 1;
  }
  if (!text.empty()) {
    found = *parse_manifest(text, path_);
    generation_ = found.generation;
  }
  if (options_.resume) {
    for (const ManifestEntry& one : found.entries) {
      WrittenFile file{(fs::path(path_) / one.name).string(), one.length, one.sum};
      entries_[{one.kind, one.number}] = {one.name, std::move(file), true};
    }
    point_ = found.point;
    point_ranks_ = found.point_ranks;
  }
  if (!options_.resume && !text.empty()) commit();
}

/// Creates and locks the directory. Only the first rank calls this function.
void CheckpointDirectory::enter() {
  do {
    if (const std::string made = make_checkpoint_directory(path_); first_made_.empty()) first_made_ = made;
    const bool mine = lock_->lock(path_, options_.keep ? options_.patience : 0.0);
    if (!mine && options_.keep)
      throw InputError("checkpoint directory '" + path_ +
                       "' is in use by another run; wait for that run to end, or give another checkpoint.directory");
    if (!mine) lock_->share();
  } while (!lock_->is_of(path_));
}

/// Removes unlisted files of killed runs if no other program uses the directory. Collective.
void CheckpointDirectory::clean() {
  std::set<std::string> listed;
  for (const auto& [key, entry] : entries_) listed.insert(entry.name);
  collectively(comm_, [&] {
    if (rank_ != 0) return;
    std::error_code ignored;
    const bool removes = options_.keep || (lock_->state() == DirectoryLock::State::exclusive && !has_manifest(path_));
    if (removes)
      for (const std::string& name : checkpoint_files(path_))
        if (!listed.contains(name) && fs::remove(fs::path(path_) / name, ignored) && first_made_.empty())
          first_made_ = path_;  // the killed run created the directory; the destructor removes the directory
    if (!options_.keep) lock_->share();
  });
}

void CheckpointDirectory::commit() {
  if (options_.keep) {
    Manifest manifest;
    manifest.generation = ++generation_;
    manifest.failed = failed_;
    manifest.problem = options_.problem;
    manifest.point = point_;
    manifest.point_ranks = point_ranks_;
    for (const auto& [key, entry] : entries_)
      if (entry.listed)
        manifest.entries.push_back({key.first, key.second, entry.name, entry.file.length, entry.file.sum});
    collectively(comm_, [&] {
      if (rank_ == 0) write_manifest(path_, manifest, *options_.files);
    });
  }
  changed_ = false;
  // The previous manifest remains on the disk as the older version. The files that the previous manifest lists are
  // therefore removed only when the next manifest is written.
  std::vector<std::string> names = std::exchange(garbage_, {});
  if (options_.keep) std::swap(names, old_garbage_);
  collectively(comm_, [&] {
    if (rank_ != 0) return;
    std::error_code code;
    for (const std::string& name : names)
      if (!fs::remove(fs::path(path_) / name, code) && code)
        throw Error(
            (fs::path(path_) / name).string() + ": cannot be removed (" + code.message() + "); check the directory",
            ErrorKind::system);
  });
}

bool CheckpointDirectory::begin_point(const RowOrder::Signature& signature) {
  const bool same = agree(point_, signature, point_ranks_ == ranks_);
  if (!same)
    for (auto at = entries_.begin(); at != entries_.end();) {
      if (at->first.first != durable_kind) {
        garbage_.push_back(at->second.name);
        changed_ = true;
        at = entries_.erase(at);
      } else {
        ++at;
      }
    }
  point_ = signature;
  point_ranks_ = ranks_;
  if (changed_) commit();
  return same;
}

// ---- files ---------------------------------------------------------------------------------------------------------

std::string CheckpointDirectory::unused_name(const Key& key) {
  std::string name;
  collectively(comm_, [&] {
    if (rank_ != 0) return;
    std::set<std::string> taken(garbage_.begin(), garbage_.end());  // fs::exists detects the files of old_garbage_
    for (const auto& [other, entry] : entries_) taken.insert(entry.name);
    char number[32];
    std::snprintf(number, sizeof(number), "_%06d", key.second);
    name = key.first + number + ".h5";
    for (int attempt = 1; taken.contains(name) || fs::exists(fs::path(path_) / name) ||
                          fs::exists(fs::path(path_) / (name + ".partial"));
         ++attempt)
      name = key.first + number + "." + std::to_string(attempt) + ".h5";
  });
  broadcast_text(name, comm_);
  return name;
}

void CheckpointDirectory::write(const std::string& kind, int number, std::vector<FileArray> arrays,
                                const BackgroundWriter::Attributes& attributes) {
  const ProfilingRegion region("diffsim::checkpoint::write");
  const Waiting waiting(statistics_);
  publish(false);
  if (!note_.empty()) arrays.push_back({"/note", {static_cast<std::int64_t>(note_.size())}, note_, "SI", false});
  unpin(kind, number);
  erase(kind, number);
  const Key key{kind, number};
  const std::string name = unused_name(key);
  BackgroundWriter::Attributes all = attributes;
  all.emplace_back("kind", kind);
  all.emplace_back("number", std::int64_t{number});
  all.emplace_back("ranks", std::int64_t{ranks_});
  const std::string file = (fs::path(path_) / name).string();
  const std::uint64_t bytes = writer_->write(file, "diffsim checkpoint", format_version, all, std::move(arrays));
  statistics_.bytes_written += static_cast<std::int64_t>(bytes);
  entries_[key] = {name, {file, 0, 0}, false};
  if (options_.depth == 0) publish(true);
}

void CheckpointDirectory::publish(bool wait) {
  const double start = MPI_Wtime();
  try {
    const std::vector<WrittenFile> files = writer_->publish(wait);
    for (const WrittenFile& file : files) {
      const auto at = std::find_if(entries_.begin(), entries_.end(),
                                   [&](const auto& one) { return one.second.file.path == file.path; });
      if (at == entries_.end()) {
        garbage_.push_back(fs::path(file.path).filename().string());  // the entry was erased while the file was written
      } else {
        at->second.file = file;
        at->second.listed = true;
        changed_ = true;
      }
    }
    if (!files.empty() || garbage_.size() > most_garbage || (wait && changed_)) commit();
    if (!files.empty() && wait) statistics_.seconds_waiting += MPI_Wtime() - start;
  } catch (const Error& error) {
    // Later calls must not wait for the files that could not be written.
    std::erase_if(entries_, [](const auto& one) { return !one.second.listed; });
    throw CheckpointWriteError(error.what());
  }
}

bool CheckpointDirectory::has(const std::string& kind, int number) const { return entries_.contains({kind, number}); }

std::vector<int> CheckpointDirectory::numbers(const std::string& kind) const {
  std::vector<int> result;
  for (const auto& [key, entry] : entries_)
    if (key.first == kind) result.push_back(key.second);
  return result;
}

std::string CheckpointDirectory::file_of(const std::string& kind, int number) const {
  const auto at = entries_.find({kind, number});
  if (at == entries_.end())
    throw Error("no " + kind + " " + std::to_string(number) + " in checkpoint directory " + path_);
  return (fs::path(path_) / at->second.name).string();
}

Hdf5File CheckpointDirectory::open(const std::string& kind, int number) {
  const ProfilingRegion region("diffsim::checkpoint::open");
  const Waiting waiting(statistics_);
  (void)file_of(kind, number);
  if (!entries_.at({kind, number}).listed) publish(true);
  const Entry& entry = entries_.at({kind, number});
  if (const std::string fault = file_error(comm_, entry.file); !fault.empty()) throw Error(fault, ErrorKind::system);
  try {
    Hdf5File file = Hdf5File::open(comm_, entry.file.path);
    if (file.attribute("/", "format_version") != AttributeValue(std::int64_t{format_version}) ||
        file.attribute("/", "kind") != AttributeValue(kind) ||
        file.attribute("/", "number") != AttributeValue(std::int64_t{number}))
      throw Error(entry.file.path + ": is not " + kind + " " + std::to_string(number) + " of format " +
                  std::to_string(format_version) + "; the file was written by another program or version");
    return file;
  } catch (const Error& error) {
    throw Error(error.what(), ErrorKind::system);  // not an input error: the user did not write this file
  }
}

void CheckpointDirectory::erase(const std::string& kind, int number) {
  const auto at = entries_.find({kind, number});
  if (at == entries_.end()) return;
  if (at->second.pinned) {
    at->second.erased = true;
    return;
  }
  if (at->second.listed) {
    garbage_.push_back(at->second.name);
    changed_ = true;
  }
  entries_.erase(at);
  if (!options_.keep || garbage_.size() > most_garbage) commit();
}

void CheckpointDirectory::pin(const std::string& kind, int number) {
  if (const auto at = entries_.find({kind, number}); at != entries_.end()) at->second.pinned = true;
}

void CheckpointDirectory::unpin(const std::string& kind, int number) {
  const auto at = entries_.find({kind, number});
  if (at == entries_.end() || !at->second.pinned) return;
  at->second.pinned = false;
  if (at->second.erased) erase(kind, number);
}

bool CheckpointDirectory::claim(const std::string& kind, int number) {
  const auto at = entries_.find({kind, number});
  if (at == entries_.end() || !at->second.pinned) return false;
  if (at->second.listed)
    if (const std::string fault = file_error(comm_, at->second.file); !fault.empty()) {
      warn(fault + "; the file is rewritten");
      return false;
    }
  at->second.erased = false;
  return true;
}

void CheckpointDirectory::mark_failed() {
  if (!options_.keep) return;
  failed_ = true;
  publish(true);
  commit();
}

void CheckpointDirectory::remove_all() {
  publish(true);
  if (options_.keep) entries_.clear();
  collectively(comm_, [&] {
    if (rank_ != 0) return;
    std::error_code ignored;
    // The manifests are removed before the files, so that no manifest lists a file that no longer exists.
    for (const char* name : {"manifest.0", "manifest.1"}) fs::remove(fs::path(path_) / name, ignored);
    if (!options_.keep) return;
    for (const std::string& name : checkpoint_files(path_)) fs::remove(fs::path(path_) / name, ignored);
    remove_empty_directories(path_, first_made_.empty() ? path_ : first_made_);
  });
}

}  // namespace diffsim
