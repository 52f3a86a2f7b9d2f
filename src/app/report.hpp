// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "app/output.hpp"
#include "app/report_value.hpp"

namespace diffsim {
class TetrahedralMesh;
}

namespace diffsim::app {

/// Contents of report.json, which describes a run and its results. In report.json, numbers that are not finite are
/// written as null.
class Report {
 public:
  /// Creates the report. `start`: value of `MPI_Wtime` at the beginning of the run; by default, the current time.
  Report(MPI_Comm comm, const std::string& command, std::optional<double> start = {});
  double start() const { return start_; }

  void set_mesh(const TetrahedralMesh& mesh);
  /// Returns the value of a key of the report, such as `loss`, `gradient_norm` or `converged`; adds the key if the key
  /// is missing.
  ReportValue& operator[](const std::string& key) { return root_[key]; }

  /// Adds `seconds` to the duration of the phase `phase`, which is `setup`, `forward`, `backward` or `io`.
  void add_seconds(const std::string& phase, double seconds);
  double seconds(const std::string& phase) { return root_["wall_seconds"][phase].real(); }
  /// Wall time in s since the beginning of the run.
  double elapsed() const;
  /// Ends the phase `setup`: the duration of the phase `setup` is the wall time from `start()` to the call of
  /// `end_setup`.
  void end_setup() { add_seconds("setup", elapsed()); }
  /// Adds the peak memory, summed over all ranks, to the report, and writes report.json. Collective.
  void write(const OutputFolder& folder);

 private:
  MPI_Comm comm_;
  double start_;
  ReportValue root_;
};

/// Stopwatch that adds the lifetime of the object to the duration of a phase in a report.
class Stopwatch {
 public:
  Stopwatch(Report& report, const char* phase) : report_(report), phase_(phase), start_(report.elapsed()) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { report_.add_seconds(phase_, report_.elapsed() - start_); }

 private:
  Report& report_;
  const char* phase_;
  double start_;
};

}  // namespace diffsim::app
