// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace diffsim {

/// Named profiling region, reported to Kokkos Tools and, as an event, in PETSc's `-log_view`. The region lasts as long
/// as the object.
class ProfilingRegion {
 public:
  /// Begins the region. `name` must stay valid until the process ends (a literal).
  explicit ProfilingRegion(const char* name);
  ProfilingRegion(const ProfilingRegion&) = delete;
  ProfilingRegion& operator=(const ProfilingRegion&) = delete;
  ~ProfilingRegion();

 private:
  int event_;
};

}  // namespace diffsim
