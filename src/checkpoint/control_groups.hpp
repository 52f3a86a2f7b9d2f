// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace diffsim::checkpoint {

/// Returns the memory, in bytes, that the control groups of this process leave to the process (cgroups(7), versions 1
/// and 2): the minimum of (memory limit - memory in use) over the process's group and all groups that contain this
/// group. Memory that holds inactive pages of files is not counted as in use, because the kernel frees such pages on
/// demand. Returns infinity if no group has a limit. `membership`: file that lists the groups of the process. `mount`:
/// folder in which the groups are mounted.
double memory_left_by_groups(const std::string& membership = "/proc/self/cgroup",
                             const std::string& mount = "/sys/fs/cgroup");

}  // namespace diffsim::checkpoint
