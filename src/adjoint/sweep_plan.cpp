// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "adjoint/sweep_plan.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include "adjoint/directional.hpp"
#include "checkpoint/budget_plan.hpp"
#include "checkpoint/from_options.hpp"
#include "checkpoint/store.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

/// Executes `body` and returns the run time (s) of the slowest rank. Collective.
template <class Body>
double measured(MPI_Comm comm, const Body& body) {
  DIFFSIM_MPI(MPI_Barrier(comm));
  const double start = MPI_Wtime();
  body();
  double seconds = MPI_Wtime() - start;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm));
  return seconds;
}

std::int64_t bytes_of(const State& state) { return static_cast<std::int64_t>(state.bytes()); }

std::int64_t bytes_of(const ParameterSet& parameters) {
  std::int64_t sum = 0;
  for (const Parameter& parameter : parameters) sum += static_cast<std::int64_t>(parameter.field.bytes());
  return sum;
}

std::int64_t record_bytes(const Model& model) { return static_cast<std::int64_t>(model.record_bytes()); }

/// Size of a snapshot of a state in bytes.
std::int64_t snapshot_bytes(const CheckpointOptions& options, const State& state) {
  return options.single ? bytes_of(state) / 2 : bytes_of(state);
}

/// Memory (bytes) for writing files with `arrays` bytes of arrays each: two files that wait to be written, one file in
/// preparation, and one copy of the values in local order.
std::int64_t writer_bytes(std::int64_t arrays) { return 4 * arrays; }

/// Measures the largest resident memory (bytes) of this process during the lifetime of the object. The memory is
/// sampled once per millisecond.
class PeakMemory {
 public:
  PeakMemory() : thread_([this] { watch(); }) {}
  PeakMemory(const PeakMemory&) = delete;
  PeakMemory& operator=(const PeakMemory&) = delete;
  ~PeakMemory() { stop(); }

  double stop() {
    ends_ = true;
    if (thread_.joinable()) thread_.join();
    return most_;
  }

 private:
  void watch() {
    while (!ends_) {
      most_ = std::max(most_, resident_memory_bytes());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::atomic<bool> ends_{false};
  double most_ = 0.0;
  std::thread thread_;
};

/// Time and memory of trial steps, executed as in a sweep.
struct Trial {
  double step_seconds = std::numeric_limits<double>::quiet_NaN();
  double adjoint_seconds = std::numeric_limits<double>::quiet_NaN();
  std::int64_t held = 0;     ///< memory (bytes) of this process after the steps, without the objects of the trial
  std::int64_t passing = 0;  ///< temporary memory (bytes) of a step
};

/// Executes the first step and its adjoint up to three times and measures time and memory. `own`: size in bytes of the
/// objects that the caller has allocated for the trial only. Collective.
Trial try_steps(Model& model, const State& initial, const ParameterSet& gradient, int num_steps, std::int64_t own) {
  Trial trial;
  // `own` is computed before the memory is measured, because record_bytes() may allocate a state.
  own += bytes_of(gradient) + 2 * bytes_of(initial) + record_bytes(model);
  release_free_memory();
  ParameterSet scratch = model.parameters().zero_like(gradient.names());
  State state = initial.clone();
  State adjoint = initial.zero_like();
  const std::unique_ptr<Record> record = model.make_record();
  PeakMemory peak;
  try {
    // The minimum of the attempts is used, because the first attempt includes one-time set-up. fmin ignores the initial
    // NaN.
    for (int attempt = 0; attempt < 3 && num_steps > 0; ++attempt) {
      state.copy_from(initial);
      const double step = measured(model.comm(), [&] { model.step(0, state, record.get()); });
      const double adjoint_step = measured(model.comm(), [&] { model.step_adjoint(0, *record, adjoint, scratch); });
      trial.step_seconds = std::fmin(trial.step_seconds, step);
      trial.adjoint_seconds = std::fmin(trial.adjoint_seconds, adjoint_step);
    }
    model.prepare_adjoint(scratch);
    model.begin_adjoint(gradient);
  } catch (const Error& error) {
    // The error is ignored here, because the sweep throws the same error again.
    if (error.kind() != ErrorKind::run) throw;
    trial.step_seconds = trial.adjoint_seconds = std::numeric_limits<double>::quiet_NaN();
  }
  const double most = peak.stop();
  release_free_memory();
  const double resident = resident_memory_bytes();
  trial.held = std::max<std::int64_t>(static_cast<std::int64_t>(resident) - own, 0);
  trial.passing = static_cast<std::int64_t>(std::max(most - resident, 0.0));
  return trial;
}

/// Cost of writing and reading one snapshot as in a sweep, but without simultaneous computation.
struct DiskTrial {
  double write_seconds = 0.0;
  double read_seconds = 0.0;
  std::int64_t bytes = 0;  ///< size of the file
};

/// Measures the cost of a snapshot: writes the snapshot to a temporary directory and reads the snapshot back.
/// Collective.
DiskTrial try_disk(const CheckpointOptions& options, MPI_Comm comm, const State& initial,
                   const SweepSurroundings& surroundings) {
  CheckpointOptions how = options;
  how.store = CheckpointStore::hdf5;
  CheckpointDirectory::Options files;
  files.keep = surroundings.has_journal;  // with a journal, files are synchronised with the disk
  const auto directory = std::make_shared<CheckpointDirectory>(
      comm, (std::filesystem::path(options.directory) / "trial").string(), std::move(files));
  std::unique_ptr<Store> store = make_store(how, comm, directory, surroundings.order);
  State state = initial.clone();
  DiskTrial trial;
  const double put = measured(comm, [&] { store->put(0, state); });
  const double first = measured(comm, [&] { store->get(0, state); });  // includes the wait for the end of writing
  trial.read_seconds = measured(comm, [&] { store->get(0, state); });
  trial.write_seconds = put + std::max(first - trial.read_seconds, 0.0);
  trial.bytes = store->statistics().bytes_written;
  store.reset();
  if (surroundings.has_journal) directory->remove_all();
  return trial;
}

/// Rounds a value to two significant digits.
double rounded(double value) {
  if (!(value > 0.0) || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1.0);
  return std::round(value / unit) * unit;
}

/// Free bytes on the file system of a directory, which need not exist yet.
double free_disk_bytes(const std::string& directory) {
  std::filesystem::path place = std::filesystem::absolute(directory);
  std::error_code code;
  while (!std::filesystem::exists(place, code) && place.has_parent_path() && place != place.parent_path())
    place = place.parent_path();
  const std::filesystem::space_info space = std::filesystem::space(place, code);
  return code ? 0.0 : static_cast<double>(space.available);
}

/// Returns the number of files of size `bytes` for which the disk has room. Collective.
std::int64_t disk_room(const CheckpointOptions& options, MPI_Comm comm, std::int64_t bytes) {
  if (options.disk.bytes > 0 && options.disk.share > 0.0)
    throw Error("a budget of disk space has both a number of bytes and a share of the free space; give one of the two",
                ErrorKind::input);
  double room = static_cast<double>(options.disk.bytes);
  if (options.disk.bytes <= 0)
    room = (options.disk.share > 0.0 ? options.disk.share : 0.5) * free_disk_bytes(options.directory);
  DIFFSIM_MPI(MPI_Bcast(&room, 1, MPI_DOUBLE, 0, comm));
  return static_cast<std::int64_t>(room / static_cast<double>(std::max<std::int64_t>(bytes, 1)));
}

/// Disk of a tiered store: the number of snapshots that fit on the disk, and the times to write and to read a snapshot.
class Disk {
 public:
  /// Measures the times by writing and reading one snapshot of `initial`, unless the store has no disk or
  /// `options.measures` is given. Must be called before memory is measured, because HDF5 allocates memory for the first
  /// file.
  Disk(const CheckpointOptions& options, MPI_Comm comm, const State& initial, const SweepSurroundings& surroundings)
      : options_(options), comm_(comm), is_used_(options.store == CheckpointStore::tiered) {
    if (!is_used_) return;
    file_bytes_ = snapshot_bytes(options, initial);
    DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &file_bytes_, 1, MPI_INT64_T, MPI_SUM, comm));
    // With a journal, snapshots share the buffers of the journal's files. `plan_sweep` and `plan_product_sweep` count
    // these buffers.
    level_.buffers = surroundings.has_journal ? 0 : writer_bytes(bytes_of(initial));
    if (options.measures) return;
    trial_ = try_disk(options, comm, initial, surroundings);
    file_bytes_ = std::max(file_bytes_, trial_.bytes);
  }

  /// Returns the disk level for a plan, and sets `plan.write` and `plan.read`. Returns nullptr if the store has no
  /// disk, or if the costs of the disk are unknown.
  const DiskLevel* level(SweepPlan& plan) {
    if (!is_used_) return nullptr;
    double costs[2] = {0.0, 0.0};
    if (options_.measures) {
      costs[0] = options_.measures->write;
      costs[1] = options_.measures->read;
    } else {
      costs[0] = rounded(trial_.write_seconds / plan.step_seconds);
      costs[1] = rounded(trial_.read_seconds / plan.step_seconds);
    }
    DIFFSIM_MPI(MPI_Bcast(costs, 2, MPI_DOUBLE, 0, comm_));
    if (!std::isfinite(costs[0]) || !std::isfinite(costs[1])) return nullptr;
    plan.write = level_.write = costs[0];
    plan.read = level_.read = costs[1];
    level_.snapshots = disk_room(options_, comm_, file_bytes_);
    return &level_;
  }

 private:
  const CheckpointOptions& options_;
  MPI_Comm comm_;
  bool is_used_;
  DiskTrial trial_;
  std::int64_t file_bytes_ = 0;
  DiskLevel level_;
};

SweepPlan plan_from(const CheckpointOptions& options, MPI_Comm comm, const Trial& trial, SweepBytes bytes, Disk& disk,
                    int num_steps) {
  release_free_memory();  // returns memory to the system, because the sweep's arrays might not fit into the trial's
                          // blocks
  SweepPlan plan;
  plan.skipped = skipped_steps(options, num_steps);
  plan.step_seconds = trial.step_seconds;
  plan.adjoint_seconds = trial.adjoint_seconds;
  bytes.held = options.measures ? options.measures->held_bytes : trial.held;
  if (!options.measures) bytes.beside += trial.passing;
  plan.checkpoints = plan_checkpoints(comm, options.memory, num_steps - plan.skipped, bytes, disk.level(plan));
  return plan;
}

}  // namespace

double SweepPlan::expected_seconds() const {
  const auto n = static_cast<double>(checkpoints.num_steps);
  double steps = skipped + n + static_cast<double>(checkpoints.recomputations);
  if (!checkpoints.levels.empty())
    steps += static_cast<double>(checkpoints.writes) * write + static_cast<double>(checkpoints.reads) * read;
  return steps * step_seconds + n * adjoint_seconds;
}

std::string SweepPlan::summary() const {
  char text[128] = "; time unknown";
  if (const double seconds = expected_seconds(); std::isfinite(seconds))
    std::snprintf(text, sizeof(text), "; about %.3g s, estimated from the first step", seconds);
  std::string result = checkpoints.summary() + text;
  std::snprintf(text, sizeof(text), "; in addition, the processes hold %.2f MiB and the sweep needs %.2f MiB",
                static_cast<double>(checkpoints.held) / 1048576.0, static_cast<double>(checkpoints.beside) / 1048576.0);
  result += text;
  if (!std::isfinite(write)) return result;
  std::snprintf(text, sizeof(text),
                "; the disk takes the time of %.2g steps to write a snapshot and of %.2g to read it", write, read);
  return result + text;
}

SweepPlan plan_sweep(const CheckpointOptions& options, Model& model, const State& initial, const ParameterSet& gradient,
                     int num_steps, const SweepSurroundings& surroundings) {
  model.prepare();
  model.begin_adjoint(gradient);  // the contents of a record may depend on the requested gradient
  Disk disk(options, model.comm(), initial, surroundings);
  const Trial trial = try_steps(model, initial, gradient, num_steps, 0);
  SweepBytes bytes{snapshot_bytes(options, initial), record_bytes(model)};
  bytes.beside = (2 + surroundings.kept_states) * bytes_of(initial) + bytes_of(gradient);  // 2: state and adjoint
  if (surroundings.has_journal) {
    const std::int64_t kept = bytes_of(initial) + bytes_of(gradient);
    bytes.beside += kept + writer_bytes(kept);
  }
  return plan_from(options, model.comm(), trial, bytes, disk, num_steps);
}

SweepPlan plan_product_sweep(const CheckpointOptions& options, Model& model, const State& initial,
                             const ParameterSet& gradient, int num_steps, const SweepSurroundings& surroundings) {
  model.prepare();
  model.begin_adjoint(gradient);  // the contents of a record may depend on the requested gradient
  DirectionalModel products(model, gradient);
  JoinedState start(initial);
  start.first.copy_from(initial);
  State joined = products.make_state();
  start.join(joined);
  Disk disk(options, model.comm(), joined, surroundings);
  // Size of the objects of the trial: the pair of states in `products`, the pair of states `start`, `joined`, and the
  // gradient in `products`.
  const std::int64_t own = 3 * bytes_of(joined) + bytes_of(gradient);
  Trial trial;
  try {
    products.prepare();
    products.begin_adjoint(gradient);
    trial = try_steps(products, joined, gradient, num_steps, own);
  } catch (const Error& error) {
    // Missing second derivatives are ignored here, because the sweep throws the same error again.
    if (error.kind() != ErrorKind::input) throw;
    trial.held = static_cast<std::int64_t>(resident_memory_bytes());
  }
  SweepBytes bytes{snapshot_bytes(options, joined), record_bytes(products)};
  // The sweep allocates memory for five joined states: the state, the adjoint, the start, the pair of states in the
  // DirectionalModel, and the pair of states in the DirectionalLoss. The adjoint of a step allocates one state for a
  // copy of dx. Three parameter sets are allocated: the direction, the gradient and the product. Steps that the sweep
  // does not record use one record of the Model.
  bytes.beside = 5 * bytes_of(joined) + bytes_of(initial) + 3 * bytes_of(gradient) + record_bytes(model);
  if (surroundings.has_journal) bytes.beside += writer_bytes(bytes_of(joined));
  return plan_from(options, model.comm(), trial, bytes, disk, num_steps);
}

}  // namespace diffsim
