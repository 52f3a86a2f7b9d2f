// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace diffsim {

/// A named region of time, visible to Kokkos Tools and, as an event, in PETSc's `-log_view`.
class ProfilingRegion {
 public:
  /// `name` must outlive the process (a literal).
  explicit ProfilingRegion(const char* name);
  ProfilingRegion(const ProfilingRegion&) = delete;
  ProfilingRegion& operator=(const ProfilingRegion&) = delete;
  ~ProfilingRegion();

 private:
  int event_;
};

}  // namespace diffsim
