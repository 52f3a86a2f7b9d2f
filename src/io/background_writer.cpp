// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "io/background_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/profiling.hpp"
#include "diffsim/core/runtime.hpp"
#include "io/checksum.hpp"
#include "io/chunk_filter.hpp"
#include "io/files.hpp"

namespace diffsim {
namespace {

/// Bytes of this rank's rows of an array, as stored in the file.
struct Block {
  std::vector<char> bytes;
  std::uint64_t offset = 0;
};

/// Storage of an array in a file: one contiguous piece, or compressed chunks.
struct Layout {
  Shape shape;
  std::uint64_t sum = 0;              // checksum of all values
  ChunkedRows chunks;                 // chunk_rows is 0 if the array is contiguous
  std::vector<std::uint64_t> sizes;   // size in bytes of the contiguous piece or of each chunk
  std::vector<std::uint64_t> places;  // offsets in the file, parallel to `sizes`
  std::vector<Block> blocks;          // this rank's blocks; offsets are relative to the piece or chunk
  std::size_t first_block = 0;        // index of this rank's first block in `sizes` and `places`
};

/// File in the queue of files to write.
struct Job {
  std::string path;
  std::uint64_t length = 0;
  std::vector<Block> blocks;
  // The writing thread sets `sum`, `code` and `done`. Other threads read `sum` and `code` only once `done` is true.
  // `sum` is the word sum (checksum.hpp) of this rank's blocks; on the first rank, `sum` includes the file outside the
  // arrays.
  std::uint64_t sum = 0;
  int code = 0;  // errno of a failed system call, or 0
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

/// Returns the sum of `word_sum` (io/checksum.hpp) over the parts of a file outside the arrays. `arrays`: offset and
/// size of each array.
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
  Impl(MPI_Comm communicator, int most, bool on_disk, FileSystem& written_by)
      : comm(communicator), files(written_by), depth(most), durable(on_disk) {
    rank = rank_of(comm);
    ranks = num_ranks(comm);
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

  Layout lay_out(FileArray& array) const;
  /// Redistributes the rows of an array over the ranks, and returns the rows that `chunks` assigns to this rank.
  /// `values`: this rank's rows before redistribution, which begin with row `first`. Collective.
  std::vector<double> dealt_out(const std::vector<double>& values, std::int64_t first, std::int64_t row_values,
                                const ChunkedRows& chunks) const;

  /// Writes this rank's blocks, and sets `job.sum` and `job.code`. Runs on the writing thread, or on the calling thread
  /// if `depth` is 0.
  void perform(Job& job) const {
    const std::string path = partial_path(job.path);
    bool any = false;
    for (const Block& block : job.blocks) {
      if (block.bytes.empty() || job.code != 0) continue;
      job.code = files.write(path, block.bytes.data(), block.bytes.size(), block.offset);
      job.sum += word_sum(block.bytes.data(), block.bytes.size(), block.offset);
      any = true;
    }
    if (any && durable && job.code == 0) job.code = files.synchronise(path);
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
      Job& job = *next;  // references to elements of a deque stay valid when elements are added at its end
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

  /// Removes the first job, which this rank has finished, from the queue and returns the job's file. If all ranks have
  /// succeeded, the first rank renames the file. Otherwise all ranks throw Error.
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
          publish_file(files, partial_path(job.path), job.path);
        else
          rename_file(files, partial_path(job.path), job.path);
      });
    } catch (...) {
      if (rank == 0) ::unlink(partial_path(job.path).c_str());
      throw;
    }
    return file;
  }

  MPI_Comm comm;
  FileSystem& files;
  int rank = 0;
  int ranks = 1;
  int depth;
  bool durable;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;  // in the order of the `write` calls; the thread processes the first job that is not done
  bool stopping = false;
  std::thread thread;
};

Layout BackgroundWriter::Impl::lay_out(FileArray& array) const {
  Layout layout;
  if (array.single)
    for (double& value : array.values) value = static_cast<float>(value);
  const std::int64_t row_values = num_values(array.row_shape);
  const std::int64_t rows = static_cast<std::int64_t>(array.values.size()) / row_values;
  std::int64_t first = 0, total = 0;
  DIFFSIM_MPI(MPI_Exscan(&rows, &first, 1, MPI_INT64_T, MPI_SUM, comm));
  if (rank == 0) first = 0;
  DIFFSIM_MPI(MPI_Allreduce(&rows, &total, 1, MPI_INT64_T, MPI_SUM, comm));
  layout.sum = checksum(array.values.data(), array.values.size(), static_cast<std::uint64_t>(first * row_values));
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &layout.sum, 1, MPI_UINT64_T, MPI_SUM, comm));
  layout.shape = {total};
  layout.shape.insert(layout.shape.end(), array.row_shape.begin(), array.row_shape.end());
  const std::int64_t row_bytes = row_values * (array.single ? 4 : 8);
  if (!array.compressed || total == 0) {
    layout.sizes = {static_cast<std::uint64_t>(total * row_bytes)};
    layout.blocks.push_back({to_bytes(array.values, array.single), static_cast<std::uint64_t>(first * row_bytes)});
    return layout;
  }

  layout.chunks = ChunkedRows::of(total, row_bytes, ranks);
  const ChunkedRows& chunks = layout.chunks;
  const std::vector<double> mine = dealt_out(array.values, first, row_values, chunks);
  const std::int64_t chunk_values = chunks.chunk_rows * row_values;
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(chunks.chunks_per_rank), 0);
  collectively(comm, [&] {
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(mine.size()); at += chunk_values) {
      const auto end = std::min(at + chunk_values, static_cast<std::int64_t>(mine.size()));
      std::vector<double> chunk(mine.begin() + at, mine.begin() + end);
      chunk.resize(static_cast<std::size_t>(chunk_values), 0.0);
      layout.blocks.push_back(
          {filtered(chunk.data(), chunk_values, array.single ? H5T_IEEE_F32LE : H5T_IEEE_F64LE), 0});
      sizes[layout.blocks.size() - 1] = layout.blocks.back().bytes.size();
    }
  });
  layout.sizes.resize(sizes.size() * static_cast<std::size_t>(ranks));
  DIFFSIM_MPI(MPI_Allgather(sizes.data(), chunks.chunks_per_rank, MPI_UINT64_T, layout.sizes.data(),
                            chunks.chunks_per_rank, MPI_UINT64_T, comm));
  layout.sizes.resize(static_cast<std::size_t>(chunks.chunks()));  // remove the entries of ranks without chunks
  layout.first_block = static_cast<std::size_t>(rank) * sizes.size();
  return layout;
}

std::vector<double> BackgroundWriter::Impl::dealt_out(const std::vector<double>& values, std::int64_t first,
                                                      std::int64_t row_values, const ChunkedRows& chunks) const {
  const auto n = static_cast<std::size_t>(ranks);
  std::vector<std::int64_t> begins(n);
  DIFFSIM_MPI(MPI_Allgather(&first, 1, MPI_INT64_T, begins.data(), 1, MPI_INT64_T, comm));
  begins.push_back(chunks.rows);
  // Number of values in the rows that are both in [a, b) and in [c, d).
  const auto common = [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    return static_cast<int>(row_values * std::max<std::int64_t>(std::min(b, d) - std::max(a, c), 0));
  };
  std::vector<int> sent(n), received(n), send_at(n, 0), receive_at(n, 0);
  for (int r = 0; r < ranks; ++r) {
    const auto k = static_cast<std::size_t>(r), me = static_cast<std::size_t>(rank);
    sent[k] = common(begins[me], begins[me + 1], chunks.first_row(r), chunks.first_row(r + 1));
    received[k] = common(begins[k], begins[k + 1], chunks.first_row(rank), chunks.first_row(rank + 1));
    if (r > 0) {
      send_at[k] = send_at[k - 1] + sent[k - 1];
      receive_at[k] = receive_at[k - 1] + received[k - 1];
    }
  }
  std::vector<double> mine(static_cast<std::size_t>(receive_at.back() + received.back()));
  DIFFSIM_MPI(MPI_Alltoallv(values.data(), sent.data(), send_at.data(), MPI_DOUBLE, mine.data(), received.data(),
                            receive_at.data(), MPI_DOUBLE, comm));
  return mine;
}

BackgroundWriter::BackgroundWriter(MPI_Comm comm, int depth, bool durable, FileSystem& files)
    : impl_(std::make_unique<Impl>(comm, depth, durable, files)) {}
BackgroundWriter::~BackgroundWriter() = default;

std::uint64_t BackgroundWriter::write(const std::string& path, const std::string& format, int version,
                                      const Attributes& attributes, std::vector<FileArray> arrays) {
  const ProfilingRegion region("diffsim::io::background_write");
  Impl& w = *impl_;
  std::vector<Layout> layouts;
  for (FileArray& array : arrays) layouts.push_back(w.lay_out(array));

  // The first rank creates the file and sends the offsets of the blocks to the other ranks.
  Job job;
  job.path = path;
  std::uint64_t length = 0;
  collectively(w.comm, [&] {
    if (w.rank != 0) return;
    Hdf5File file = Hdf5File::create_alone(path, format, version, w.files);
    for (const auto& [name, value] : attributes) file.write_attribute("/", name, value);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const FileArray& array = arrays[i];
      Layout& layout = layouts[i];
      if (layout.chunks.chunk_rows > 0)
        layout.places = file.allocate_chunks(array.dataset, layout.shape, array.units, array.single, layout.sum,
                                             layout.chunks.chunk_rows, layout.sizes);
      else
        layout.places = {file.allocate(array.dataset, layout.shape, array.units, array.single, layout.sum)};
      for (std::size_t k = 0; k < layout.places.size(); ++k)
        if (layout.sizes[k] > 0) taken.emplace_back(layout.places[k], layout.sizes[k]);
    }
    length = file.close_partial();
    job.sum = sum_between(partial_path(path), length, taken);
  });
  DIFFSIM_MPI(MPI_Bcast(&length, 1, MPI_UINT64_T, 0, w.comm));
  job.length = length;
  std::uint64_t bytes = 0;
  for (Layout& layout : layouts) {
    layout.places.resize(layout.sizes.size());
    DIFFSIM_MPI(MPI_Bcast(layout.places.data(), static_cast<int>(layout.places.size()), MPI_UINT64_T, 0, w.comm));
    for (const std::uint64_t size : layout.sizes) bytes += size;
    for (std::size_t k = 0; k < layout.blocks.size(); ++k) {
      layout.blocks[k].offset += layout.places[layout.first_block + k];
      job.blocks.push_back(std::move(layout.blocks[k]));
    }
  }
  w.add(std::move(job));
  return bytes;
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
    // Publish the files that all ranks have finished. If more than `depth` files would then remain unpublished, wait
    // for the oldest of these files and publish them too.
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

std::string file_error(MPI_Comm comm, const WrittenFile& file) {
  const int rank = rank_of(comm), ranks = num_ranks(comm);
  std::uint64_t sum = 0;
  try {
    collectively(comm, [&] {
      std::error_code code;
      const std::uintmax_t size = std::filesystem::file_size(file.path, code);
      if (code) throw Error(file.path + ": cannot be read (" + code.message() + ")", ErrorKind::system);
      if (size != file.length)
        throw Error(file.path + ": has " + std::to_string(size) + " bytes, not the " + std::to_string(file.length) +
                        " that were written; the file is cut short, or is another file",
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
