// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace diffsim {

/// Named profiling region. A ProfilingRegion is reported to Kokkos Tools, and is an event in the output of PETSc's
/// option `-log_view`. The profiling region lasts as long as the ProfilingRegion object exists.
class ProfilingRegion {
 public:
  /// Begins the region. The pointer `name` must stay valid until the process ends; pass a string literal.
  explicit ProfilingRegion(const char* name);
  ProfilingRegion(const ProfilingRegion&) = delete;
  ProfilingRegion& operator=(const ProfilingRegion&) = delete;
  ~ProfilingRegion();

 private:
  int event_;
};

}  // namespace diffsim
