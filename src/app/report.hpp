// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

#include "app/output.hpp"
#include "app/report_value.hpp"

namespace diffsim {
class TetrahedralMesh;
}

namespace diffsim::app {

/// report.json: what a command did and found. Numbers that are not finite are written as null.
class Report {
 public:
  Report(MPI_Comm comm, const std::string& command);

  void set_mesh(const TetrahedralMesh& mesh);
  /// An entry by its key: `loss`, `gradient_norm`, `converged`, …
  ReportValue& operator[](const std::string& key) { return root_[key]; }

  void add_seconds(const std::string& phase, double seconds);  ///< setup, forward, backward, io
  double seconds(const std::string& phase) { return root_["wall_seconds"][phase].real(); }
  /// Seconds since the report began.
  double elapsed() const;
  /// Ends the phase `setup`: what has passed since the report began.
  void end_setup() { add_seconds("setup", elapsed()); }
  /// Adds the peak memory of all ranks and writes report.json. Collective.
  void write(const OutputFolder& folder);

 private:
  MPI_Comm comm_;
  double start_;
  ReportValue root_;
};

/// Measures the time until it ends, as a phase of a report.
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
