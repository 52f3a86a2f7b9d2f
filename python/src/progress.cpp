// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "progress.hpp"

#include <nanobind/stl/string.h>

#include <utility>
#include <vector>

#include "bindings.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "loss.hpp"
#include "runtime.hpp"

namespace diffsim::python {
namespace {

constexpr std::chrono::duration<double> least_interval(0.05);

/// Python function that opens a bar, and the delay of bars in s. Without a function, no progress is shown.
struct Switch {
  PyObject* open = nullptr;
  double delay = 0.0;
};
Switch progress_switch;

/// Bars of the running computations on the first rank, the outermost bar first.
std::vector<ProgressBar*> shown_bars;

void set_progress(nb::handle open, double delay) {
  PyObject* const before = progress_switch.open;
  progress_switch = {open.is_none() ? nullptr : open.inc_ref().ptr(), delay};
  Py_XDECREF(before);
}

}  // namespace

ProgressBar::ProgressBar(std::string title, long total, const char* unit)
    : title_(std::move(title)), total_(total), unit_(unit), is_shown_(progress_switch.open && runtime().rank() == 0) {
  if (!is_shown_) return;
  begin_ = last_ = Clock::now();
  shown_bars.push_back(this);
}

void ProgressBar::open(Clock::time_point now) {
  const std::chrono::duration<double> elapsed = now - begin_;
  if (progress_switch.open) bar_ = nb::handle(progress_switch.open)(title_, total_, unit_, elapsed.count());
}

void ProgressBar::update(long done, std::string text) {
  if (!is_shown_) return;
  done_ = done;
  text_ = std::move(text);
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> elapsed = now - begin_;
  if (bar_.is_valid() ? now - last_ < least_interval : elapsed.count() < progress_switch.delay) return;
  last_ = now;
  const nb::gil_scoped_acquire with_gil;
  if (!bar_.is_valid())
    for (ProgressBar* one : shown_bars) {
      if (!one->bar_.is_valid()) one->open(now);
      if (one == this) break;
    }
  if (bar_.is_valid()) bar_.attr("update")(done_, text_);
}

ProgressBar::~ProgressBar() {
  std::erase(shown_bars, this);
  if (!bar_.is_valid()) return;
  const nb::gil_scoped_acquire with_gil;
  try {
    const nb::error_scope pending;
    bar_.attr("close")(done_, text_, std::uncaught_exceptions() == num_exceptions_);
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_KeyboardInterrupt))
      PyErr_SetInterrupt();  // the next check of signals raises the exception
    else
      error.discard_as_unraisable("close a progress bar");
  }
  bar_.reset();
}

void SweepProgress::report(SweepLength length, int reached, int reversed_from) {
  const long done = (reversed_from < 0 ? reached : 2L * reached - reversed_from) - length.earlier;
  if (!bar_ || done < done_) {
    if (bar_ && total_ > 0) bar_->finish(total_);
    bar_.reset();
    bar_.emplace(title_, length.total);
    total_ = length.total;
    stride_ = 1;
    num_skipped_ = 0;
    last_ = Clock::now();
  }
  done_ = done;
  if (++num_skipped_ < stride_) return;
  num_skipped_ = 0;
  call_on_all_ranks(comm_, [&] {
    check_signals();
    bar_->update(done);
  });
  adapt_stride();
}

void SweepProgress::adapt_stride() {
  const Clock::time_point now = Clock::now();
  double seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  if (num_ranks(comm_) > 1) DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm_));
  if (seconds < 0.01 && stride_ < 4096) stride_ *= 2;
  if (seconds > 0.04 && stride_ > 1) stride_ /= 2;
}

SweepProgress::~SweepProgress() {
  // A SweepWatcher receives no call after the adjoint of step 0.
  if (bar_ && total_ > 0 && std::uncaught_exceptions() == num_exceptions_) bar_->finish(total_);
}

void bind_progress(nb::module_& module) {
  module.def("set_progress", &set_progress, nb::arg("open").none(), nb::arg("delay"),
             "Set the function that opens progress bars, open(title, total, unit, elapsed), or None, and their delay.",
             nb::sig("def set_progress(open: collections.abc.Callable[[str, int, str, float], object] | None, "
                     "delay: float) -> None"));
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] { set_progress(nb::none(), 0.0); }));
}

}  // namespace diffsim::python
