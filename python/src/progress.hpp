// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <nanobind/nanobind.h>

#include <chrono>
#include <exception>
#include <optional>
#include <string>

namespace diffsim::python {

namespace nb = nanobind;

/// Bar that shows the progress of a computation, if progress is shown (`diffsim.show_progress`). Only the first rank of
/// MPI_COMM_WORLD shows bars. The bar appears, below the bars of enclosing computations, in the first call of `update`
/// after the delay of `show_progress`, and is closed by the destructor.
class ProgressBar {
 public:
  /// `total`: number of units of the whole computation; 0 if the number is unknown. `unit`: "step" or "iteration".
  ProgressBar(std::string title, long total, const char* unit = "step");
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  /// Shows that `done` units are complete, unless the bar was changed less than 0.05 s ago. `text` is shown after the
  /// counts. Throws the exception of a signal, such as KeyboardInterrupt, on the first rank only; call `update` in
  /// `call_on_all_ranks`. The caller must be in a LibraryScope.
  void update(long done, std::string text = {});
  /// Sets the number of complete units that the destructor shows.
  void finish(long done) { done_ = done; }

 private:
  using Clock = std::chrono::steady_clock;

  /// Opens the bar. The caller must hold the GIL.
  void open(Clock::time_point now);

  std::string title_;
  long total_;
  const char* unit_;
  bool is_shown_;
  int num_exceptions_ = std::uncaught_exceptions();
  long done_ = 0;
  std::string text_;
  nb::object bar_;  // Python object; empty before the bar appears
  Clock::time_point begin_, last_;
};

/// Number of steps of a sweep.
struct SweepLength {
  long total;        ///< number of steps of the forward run and of the reverse run; 0 if the number is unknown
  long earlier = 0;  ///< number of further steps, before the others, that are not counted
};

/// Bars of the sweeps of a computation, one bar for each sweep. A sweep consists of a forward run and a reverse run.
class SweepProgress {
 public:
  /// `comm`: communicator of the computation.
  SweepProgress(const char* title, MPI_Comm comm) : title_(title), comm_(comm) {}
  /// Closes the bar. Unless an exception ends the sweep, the bar shows that all steps are complete.
  ~SweepProgress();
  SweepProgress(const SweepProgress&) = delete;
  SweepProgress& operator=(const SweepProgress&) = delete;
  /// Reports the progress that a SweepWatcher receives: the steps of the forward run, followed by those of the reverse
  /// run. A smaller number of steps than before begins another sweep. Every 10 to 40 ms, `report` throws the Python
  /// exception of a pending signal on all ranks, and shows the progress. Collective.
  void report(SweepLength length, int reached, int reversed_from = -1);

 private:
  using Clock = std::chrono::steady_clock;

  /// Sets `stride_` from the time since the last call, so that all ranks have the same value.
  void adapt_stride();

  const char* title_;
  MPI_Comm comm_;
  long total_ = 0, done_ = -1;
  int num_exceptions_ = std::uncaught_exceptions();
  std::optional<ProgressBar> bar_;
  int stride_ = 1, num_skipped_ = 0;  // number of calls of `report` between two checks of signals; calls since the last
  Clock::time_point last_;            // time of the last check of signals
};

/// Scope in which the sweeps of `watched`, an InverseProblem or a DifferentiableSimulator, show their progress, and end
/// between two steps if a signal, such as that of Ctrl-C, is pending.
template <class Watched>
class WatchScope {
 public:
  WatchScope(Watched& watched, SweepProgress& progress, SweepLength length) : watched_(watched) {
    watched_.watch(
        [&progress, length](long, int reached, int reversed_from) { progress.report(length, reached, reversed_from); });
  }
  ~WatchScope() { watched_.watch({}); }
  WatchScope(const WatchScope&) = delete;
  WatchScope& operator=(const WatchScope&) = delete;

 private:
  Watched& watched_;
};

}  // namespace diffsim::python
