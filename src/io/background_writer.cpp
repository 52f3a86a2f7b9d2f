// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/io/background_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>

#include "checksum.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"
#include "file_system.hpp"

namespace diffsim {
namespace {

/// This rank's rows of an array, as they stand in the file.
struct Block {
  std::vector<char> bytes;
  std::uint64_t offset = 0;
};

/// A file on its way.
struct Job {
  std::string path;
  std::uint64_t length = 0;
  std::vector<Block> blocks;
  // Of the thread that writes; read once `done`.
  std::uint64_t sum = 0;  // of what this rank wrote; on the first rank, of the rest of the file too
  int code = 0;           // errno
  bool done = false;
};

std::string partial_path(const std::string& path) { return path + ".partial"; }

std::vector<char> to_bytes(const std::vector<double>& values, bool single) {
  std::vector<char> bytes(values.size() * (single ? sizeof(float) : sizeof(double)));
  if (!single) {
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<float>(values[i]);
    std::memcpy(&bytes[i * sizeof(float)], &value, sizeof(float));
  }
  return bytes;
}

/// The sum over a file less its arrays, [offset, offset + size) each.
std::uint64_t sum_between(const std::string& path, std::uint64_t length,
                          std::vector<std::pair<std::uint64_t, std::uint64_t>> arrays) {
  std::sort(arrays.begin(), arrays.end());
  std::uint64_t sum = 0, at = 0;
  for (const auto& [offset, size] : arrays) {
    sum += file_sum(path, at, offset);
    at = offset + (size + 3) / 4 * 4;
  }
  return sum + file_sum(path, at, length);
}

}  // namespace

struct BackgroundWriter::Impl {
  Impl(MPI_Comm communicator, int most, bool on_disk) : comm(communicator), depth(most), durable(on_disk) {
    DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  }
  ~Impl() {
    if (thread.joinable()) {
      {
        const std::lock_guard lock(mutex);
        stopping = true;
      }
      changed.notify_all();
      thread.join();
    }
    if (rank == 0)
      for (const Job& job : jobs) ::unlink(partial_path(job.path).c_str());
  }

  /// Writes this rank's blocks; runs on the thread.
  void perform(Job& job) const {
    for (const Block& block : job.blocks) {
      if (block.bytes.empty() || job.code != 0) continue;
      job.code = write_at(partial_path(job.path), block.bytes.data(), block.bytes.size(), block.offset, durable);
      job.sum += word_sum(block.bytes.data(), block.bytes.size(), block.offset);
    }
  }

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      const auto next = std::find_if(jobs.begin(), jobs.end(), [](const Job& job) { return !job.done; });
      if (next == jobs.end()) {
        if (stopping) return;
        changed.wait(lock);
        continue;
      }
      Job& job = *next;  // a deque's elements stay where they are
      lock.unlock();
      perform(job);
      lock.lock();
      job.done = true;
      job.blocks.clear();
      changed.notify_all();
    }
  }

  void add(Job job) {
    if (depth == 0) {
      perform(job);
      job.done = true;
      job.blocks.clear();
    }
    {
      const std::lock_guard lock(mutex);
      jobs.push_back(std::move(job));
    }
    if (depth == 0) return;
    changed.notify_all();
    if (!thread.joinable()) thread = std::thread([this] { run(); });
  }

  std::size_t num_done() {
    const std::lock_guard lock(mutex);
    return static_cast<std::size_t>(std::find_if(jobs.begin(), jobs.end(), [](const Job& job) { return !job.done; }) -
                                    jobs.begin());
  }

  void wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] {
      return std::all_of(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(count),
                         [](const Job& job) { return job.done; });
    });
  }

  /// The first job, which is done on this rank: all agree, and the first rank gives the file its name.
  WrittenFile finish_first() {
    Job job;
    {
      const std::lock_guard lock(mutex);
      job = std::move(jobs.front());
      jobs.pop_front();
    }
    WrittenFile file{job.path, job.length, job.sum};
    try {
      collectively(comm, [&] {
        if (job.code != 0)
          throw Error(job.path + ": cannot be written (" + std::strerror(job.code) + "); check that the disk has space",
                      ErrorKind::system);
      });
      DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &file.sum, 1, MPI_UINT64_T, MPI_SUM, comm));
      collectively(comm, [&] {
        if (rank != 0) return;
        if (durable)
          publish_file(partial_path(job.path), job.path);
        else
          rename_file(partial_path(job.path), job.path);
      });
    } catch (...) {
      if (rank == 0) ::unlink(partial_path(job.path).c_str());
      throw;
    }
    return file;
  }

  MPI_Comm comm;
  int rank = 0;
  int depth;
  bool durable;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;  // in order; the thread works on the first that is not done
  bool stopping = false;
  std::thread thread;
};

BackgroundWriter::BackgroundWriter(MPI_Comm comm, int depth, bool durable)
    : impl_(std::make_unique<Impl>(comm, depth, durable)) {}
BackgroundWriter::~BackgroundWriter() = default;

void BackgroundWriter::write(const std::string& path, const std::string& format, int version,
                             const Attributes& attributes, std::vector<FileArray> arrays) {
  const ProfilingRegion region("diffsim::io::background_write");
  Impl& w = *impl_;
  Job job;
  job.path = path;
  std::vector<std::uint64_t> sums, first_bytes;
  std::vector<Shape> shapes;
  for (FileArray& array : arrays) {
    if (array.single)
      for (double& value : array.values) value = static_cast<float>(value);
    const std::int64_t row_values = num_values(array.row_shape);
    const std::int64_t rows = static_cast<std::int64_t>(array.values.size()) / row_values;
    std::int64_t first = 0, total = 0;
    DIFFSIM_MPI(MPI_Exscan(&rows, &first, 1, MPI_INT64_T, MPI_SUM, w.comm));
    if (w.rank == 0) first = 0;
    DIFFSIM_MPI(MPI_Allreduce(&rows, &total, 1, MPI_INT64_T, MPI_SUM, w.comm));
    sums.push_back(checksum(array.values.data(), array.values.size(), static_cast<std::uint64_t>(first * row_values)));
    first_bytes.push_back(static_cast<std::uint64_t>(first * row_values) * (array.single ? 4 : 8));
    Shape shape{total};
    shape.insert(shape.end(), array.row_shape.begin(), array.row_shape.end());
    shapes.push_back(std::move(shape));
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM, w.comm));

  std::vector<std::uint64_t> places(arrays.size() + 1);  // and the file's length
  collectively(w.comm, [&] {
    if (w.rank != 0) return;
    Hdf5File file = Hdf5File::create_alone(path, format, version);
    for (const auto& [name, value] : attributes) file.write_attribute("/", name, value);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      places[i] = file.allocate(arrays[i].dataset, shapes[i], arrays[i].units, arrays[i].single, sums[i]);
      taken.emplace_back(places[i], static_cast<std::uint64_t>(num_values(shapes[i])) * (arrays[i].single ? 4 : 8));
    }
    std::erase_if(taken, [](const auto& array) { return array.second == 0; });
    places.back() = file.close_partial();
    job.sum = sum_between(partial_path(path), places.back(), taken);
  });
  DIFFSIM_MPI(MPI_Bcast(places.data(), static_cast<int>(places.size()), MPI_UINT64_T, 0, w.comm));
  job.length = places.back();
  collectively(w.comm, [&] {
    for (std::size_t i = 0; i < arrays.size(); ++i)
      job.blocks.push_back({to_bytes(arrays[i].values, arrays[i].single), places[i] + first_bytes[i]});
  });
  w.add(std::move(job));
}

std::vector<WrittenFile> BackgroundWriter::publish(bool wait) {
  Impl& w = *impl_;
  std::size_t count = 0;
  {
    const std::lock_guard lock(w.mutex);
    count = w.jobs.size();
  }
  if (count == 0) return {};
  if (!wait) {
    // The oldest go on even if they are not done: no more than `depth` wait.
    std::uint64_t ready = w.num_done();
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_UINT64_T, MPI_MIN, w.comm));
    const std::size_t over = count - std::min(count, static_cast<std::size_t>(std::max(w.depth, 0)));
    count = std::max(static_cast<std::size_t>(ready), over);
  }
  w.wait_for(count);
  std::vector<WrittenFile> files;
  for (; count > 0; --count) files.push_back(w.finish_first());
  return files;
}

bool BackgroundWriter::is_idle() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->jobs.empty();
}

std::string fault_of_file(MPI_Comm comm, const WrittenFile& file) {
  int rank = 0, ranks = 1;
  DIFFSIM_MPI(MPI_Comm_rank(comm, &rank));
  DIFFSIM_MPI(MPI_Comm_size(comm, &ranks));
  std::uint64_t sum = 0;
  try {
    collectively(comm, [&] {
      std::error_code code;
      const std::uintmax_t size = std::filesystem::file_size(file.path, code);
      if (code) throw Error(file.path + ": cannot be read (" + code.message() + ")", ErrorKind::system);
      if (size != file.length)
        throw Error(file.path + ": has " + std::to_string(size) + " bytes, not the " + std::to_string(file.length) +
                        " that were written; it is cut short or another file",
                    ErrorKind::system);
      const std::uint64_t words = (file.length + 3) / 4, n = static_cast<std::uint64_t>(ranks),
                          r = static_cast<std::uint64_t>(rank);
      sum = file_sum(file.path, 4 * (words * r / n), std::min(4 * (words * (r + 1) / n), file.length));
    });
  } catch (const Error& error) {
    return error.what();
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, comm));
  return sum == file.sum ? "" : file.path + ": is damaged: its bytes do not match its checksum";
}

}  // namespace diffsim
