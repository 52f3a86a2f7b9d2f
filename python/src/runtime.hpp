// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "diffsim/core/runtime.hpp"

namespace diffsim::python {

namespace nb = nanobind;

/// Returns the runtime, which is started on the first call. Throws RunError (Python) after the interpreter's exit
/// handlers have finalised it.
Runtime& runtime();
/// Finalises the runtime after releasing all objects of the library, the most recent ones first.
void finalise_runtime();
/// Communicator of an mpi4py communicator (any object with a method `py2f`), or that of the runtime for None.
MPI_Comm communicator(nb::handle object);

/// Scope in which objects of the library may be released, by any thread: the GIL is released, and no other thread is in
/// the library. Scopes of one thread may be nested.
class ReleaseScope {
 public:
  ReleaseScope();
  ReleaseScope(const ReleaseScope&) = delete;
  ReleaseScope& operator=(const ReleaseScope&) = delete;

 private:
  nb::gil_scoped_release without_gil_;
  std::unique_lock<std::recursive_mutex> lock_;
};

/// Scope of a call of the library. Throws Error in threads other than the one that started the runtime: MPI and older
/// releases of Kokkos are for one thread.
class LibraryScope : public ReleaseScope {
 public:
  LibraryScope();
};

/// Owner of objects of the library in a Python object. `finalise_runtime` releases the contents of all handles.
class Handle {
 public:
  Handle();
  virtual ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  /// Releases the objects of the library.
  virtual void release() = 0;

 private:
  friend void finalise_runtime();
  std::int64_t number_;
};

/// Throws RunError (Python): the runtime has been finalised.
[[noreturn]] void throw_finalised();

}  // namespace diffsim::python
