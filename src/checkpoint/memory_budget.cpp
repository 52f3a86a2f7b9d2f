// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/checkpoint/memory_budget.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <string>

#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

/// The number in a file that holds nothing else; infinite where there is none ("max").
double number_in(const std::string& path) {
  double value = 0.0;
  return std::ifstream(path) >> value ? value : unknown;
}

/// proc(5): MemAvailable, kB.
double available_by_kernel() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  double kilobytes = 0.0;
  while (file >> key >> kilobytes && std::getline(file, unit))
    if (key == "MemAvailable:") return 1024.0 * kilobytes;
  return unknown;
}

/// What a control group's limit leaves (cgroups(7), version 2 and 1).
double available_by_group() {
  double least = unknown;
  for (const auto& [limit, used] :
       {std::array{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        std::array{"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}) {
    const double most = number_in(limit), now = number_in(used);
    if (most < unknown && now < unknown) least = std::min(least, std::max(most - now, 0.0));
  }
  return least;
}

void reduce(std::array<std::int64_t, 2>& values, MPI_Op operation, MPI_Comm comm) {
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, values.data(), 2, MPI_INT64_T, operation, comm));
}

}  // namespace

double free_memory_bytes() { return std::min(available_by_kernel(), available_by_group()); }

CheckpointPlan plan_checkpoints(MPI_Comm comm, const MemoryBudget& budget, int num_steps, std::int64_t state_bytes,
                                std::int64_t record_bytes) {
  std::array<std::int64_t, 2> needs{state_bytes, record_bytes};
  if (budget.share <= 0.0) {
    reduce(needs, MPI_SUM, comm);
    return plan_checkpoints(num_steps, needs[0], needs[1], budget.bytes);
  }
  // Each machine by itself: the least memory for the largest part.
  MPI_Comm machine = MPI_COMM_NULL;
  DIFFSIM_MPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
  reduce(needs, MPI_SUM, machine);
  MPI_Comm_free(&machine);
  reduce(needs, MPI_MAX, comm);
  double least = free_memory_bytes();
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MIN, comm));
  if (!(least < unknown))
    throw Error("how much memory is free is not known on this system; give the checkpoints' memory in bytes",
                ErrorKind::input);
  return plan_checkpoints(num_steps, needs[0], needs[1], static_cast<std::int64_t>(budget.share * least));
}

}  // namespace diffsim
