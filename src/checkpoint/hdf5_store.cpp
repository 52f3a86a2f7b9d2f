// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/checkpoint/hdf5_store.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

#include "diffsim/core/error.hpp"
#include "diffsim/core/profiling.hpp"
#include "diffsim/io/hdf5_file.hpp"

namespace diffsim {
namespace {

namespace fs = std::filesystem;

std::string dataset_of(const Field& field) { return "/state/" + field.name(); }

/// Makes `directory` and what is above it; returns the outermost one made, empty if it was there. Serial.
std::string make_directory(const std::string& directory) {
  std::string made;
  for (fs::path part = fs::path(directory).lexically_normal(); !part.empty() && !fs::exists(part);
       part = part.parent_path())
    made = part.string();
  std::error_code code;
  fs::create_directories(directory, code);
  std::string reason = code ? code.message() : "";
  if (reason.empty() && !fs::is_directory(directory)) reason = "it is not a directory";
  if (reason.empty() && ::access(directory.c_str(), W_OK | X_OK) != 0) reason = std::strerror(errno);
  if (!reason.empty())
    throw InputError("checkpoint directory '" + directory + "' cannot be written to (" + reason +
                     "); choose another one");
  return made;
}

}  // namespace

Hdf5Store::Hdf5Store(MPI_Comm comm, const std::string& directory) : comm_(comm), directory_(directory) {
  DIFFSIM_MPI(MPI_Comm_rank(comm_, &rank_));
  if (directory_.empty()) throw InputError("the checkpoint directory has no name; give one");
  collectively(comm_, [&] {
    if (rank_ != 0) return;
    first_made_ = make_directory(directory_);
    std::random_device random;
    id_ = static_cast<std::int64_t>(std::uint64_t{random()} << 32 | random());
  });
  DIFFSIM_MPI(MPI_Bcast(&id_, 1, MPI_INT64_T, 0, comm_));
}

Hdf5Store::~Hdf5Store() {
  if (rank_ != 0) return;
  std::error_code ignored;
  for (const int step : steps_) fs::remove(path(step), ignored);
  if (first_made_.empty()) return;
  // Only what is empty goes.
  const fs::path outermost(first_made_);
  for (fs::path part = fs::path(directory_).lexically_normal(); fs::remove(part, ignored) && part != outermost;
       part = part.parent_path()) {
  }
}

std::string Hdf5Store::path(int step) const {
  char file[32];
  std::snprintf(file, sizeof(file), "step_%06d.h5", step);
  return (fs::path(directory_) / file).string();
}

void Hdf5Store::put(int step, const State& state) {
  const ProfilingRegion region("diffsim::checkpoint::put");
  const double start = MPI_Wtime();
  Hdf5File file = Hdf5File::create(comm_, path(step), "diffsim snapshot", 1);
  file.write_attribute("/", "step", std::int64_t{step});
  file.write_attribute("/", "store", id_);
  for (const Field& field : state.fields()) file.write_rows(dataset_of(field), field.to_host(), {});
  file.publish();
  steps_.insert(step);
  auto bytes = static_cast<std::int64_t>(state.bytes());
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_INT64_T, MPI_SUM, comm_));
  statistics_.bytes_written += bytes;
  statistics_.seconds_waiting += MPI_Wtime() - start;
}

void Hdf5Store::get(int step, State& state) {
  const ProfilingRegion region("diffsim::checkpoint::get");
  if (steps_.count(step) == 0) throw Error("no snapshot of step " + std::to_string(step) + " in " + directory_);
  try {
    const Hdf5File file = Hdf5File::open(comm_, path(step));
    if (file.attribute("/", "store") != AttributeValue(id_))
      throw Error(path(step) + ": another run has written this snapshot; give each run its own checkpoint directory");
    for (Field& field : state.fields())
      field.from_host(file.read_rows<double>(dataset_of(field), static_cast<std::int64_t>(field.size())));
  } catch (const Error& error) {
    // The user did not write this file.
    throw Error(error.what(), ErrorKind::system);
  }
}

void Hdf5Store::erase(int step) {
  if (steps_.erase(step) == 0) return;
  collectively(comm_, [&] {
    std::error_code code;
    if (rank_ == 0 && !fs::remove(path(step), code) && code)
      throw Error(path(step) + ": cannot be removed (" + code.message() + "); check the directory", ErrorKind::system);
  });
}

}  // namespace diffsim
