// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/wait_policy.hpp"

#ifdef __linux__
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace diffsim::app {
namespace {

/// The first of the variables that is set to a positive number, else `otherwise`.
long number_of(std::initializer_list<const char*> variables, long otherwise) {
  for (const char* variable : variables)
    if (const char* text = std::getenv(variable))
      if (const long number = std::strtol(text, nullptr, 10); number > 0) return number;
  return otherwise;
}

}  // namespace

void sleep_when_oversubscribed(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY")) return;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return;
  const long own_cores = CPU_COUNT(&allowed);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const long threads = number_of({"OMP_NUM_THREADS"}, own_cores);
  const long ranks =
      number_of({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE"}, 1);
  if (threads <= own_cores && ranks * threads <= std::max(cores, own_cores)) return;
  if (threads == 1) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  // Where it cannot start anew it goes on as it is, only slower.
  execv("/proc/self/exe", argv);
}

}  // namespace diffsim::app

#else

namespace diffsim::app {
void sleep_when_oversubscribed(char**) {}
}  // namespace diffsim::app

#endif
