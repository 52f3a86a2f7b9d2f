// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/checkpoint/checkpoint_options.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <string>

#include "checkpoint/budget_plan.hpp"
#include "checkpoint/byte_text.hpp"
#include "checkpoint/control_groups.hpp"
#include "checkpoint/schedule_plan.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

using checkpoint::in_bytes;

constexpr double unknown = std::numeric_limits<double>::infinity();

/// MemAvailable of /proc/meminfo (proc(5)), in bytes; infinite if unknown.
double available_by_kernel() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  double kilobytes = 0.0;
  while (file >> key >> kilobytes && std::getline(file, unit))
    if (key == "MemAvailable:") return 1024.0 * kilobytes;
  return unknown;
}

/// Memory needs of a sweep: bytes of a snapshot, bytes of a record, bytes already in use, further bytes needed by the
/// sweep, bytes of the buffers for the disk, and number of ranks.
using Needs = std::array<std::int64_t, 6>;

void reduce(Needs& needs, MPI_Op operation, MPI_Comm comm) {
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, needs.data(), static_cast<int>(needs.size()), MPI_INT64_T, operation, comm));
}

CheckpointPlan plan_within(std::int64_t available, const std::string& what, bool counts_held, int num_steps,
                           const Needs& needs, const DiskLevel* disk) {
  const auto [snapshot, record, held, beside, buffers, ranks] = needs;
  const std::int64_t used = (counts_held ? held : 0) + beside;
  const std::int64_t least = std::min(snapshot + record, num_steps * record);
  if (available - used < least)
    throw Error("checkpoints within " + what + ": " +
                    (counts_held ? "the processes hold " + in_bytes(held) + " already, " : "") + "the sweep needs " +
                    in_bytes(beside) + " in addition to snapshots and records, and one snapshot and one record need " +
                    in_bytes(least) + ", in total " + in_bytes(used + least) +
                    " at least; give at least that much memory, fewer ranks or a smaller problem",
                ErrorKind::input);
  CheckpointPlan plan;
  if (disk) {
    DiskLevel level = *disk;
    level.buffers = buffers;
    level.processes = static_cast<int>(ranks);
    plan = plan_checkpoints(num_steps, snapshot, record, available - used, level);
  } else {
    plan = plan_checkpoints(num_steps, snapshot, record, available - used);
  }
  plan.held = held;
  plan.beside += beside;
  return plan;
}

}  // namespace

double free_memory_bytes() { return std::min(available_by_kernel(), checkpoint::memory_left_by_groups()); }

CheckpointPlan plan_checkpoints(MPI_Comm comm, const MemoryBudget& budget, int num_steps, const SweepBytes& bytes,
                                const DiskLevel* disk) {
  if (budget.bytes > 0 && budget.share > 0.0)
    throw Error("a memory budget has both a number of bytes and a share of the free memory; give one of the two",
                ErrorKind::input);
  Needs needs{bytes.snapshot, bytes.record, bytes.held, bytes.beside, disk ? disk->buffers : 0, 1};
  if (budget.share <= 0.0) {
    reduce(needs, MPI_SUM, comm);
    return plan_within(budget.bytes, in_bytes(budget.bytes), true, num_steps, needs, disk);
  }
  // The memory needs are summed over the ranks of each machine. The largest sums must fit into the least free memory of
  // any machine.
  MPI_Comm machine = MPI_COMM_NULL;
  DIFFSIM_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
  reduce(needs, MPI_SUM, machine);
  MPI_Comm_free(&machine);
  reduce(needs, MPI_MAX, comm);
  double least = free_memory_bytes();
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, comm));
  if (!(least < unknown))
    throw Error("the free memory is unknown on this system; give the checkpoints' memory in bytes", ErrorKind::input);
  const auto available = static_cast<std::int64_t>(budget.share * least);
  return plan_within(available, in_bytes(available) + " of each machine", false, num_steps, needs, disk);
}

}  // namespace diffsim
