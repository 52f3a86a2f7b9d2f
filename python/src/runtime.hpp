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

/// Returns the runtime; the first call starts the runtime. Throws RunError (Python) if the interpreter's exit handlers
/// have finalised the runtime.
Runtime& runtime();
/// Releases all objects of the library, the most recent object first, then finalises the runtime.
void finalise_runtime();
/// Returns whether all ranks of the runtime call this function within `seconds` of this rank's call. After the result
/// `false`, the ranks must not communicate any more. Returns true if no runtime has been started.
bool all_ranks_arrive(double seconds);
/// Returns the MPI communicator of an mpi4py communicator (any object with a method `py2f`), or the runtime's
/// communicator if `object` is None.
MPI_Comm communicator(nb::handle object);

/// Scope in which any thread may release objects of the library: the scope releases the GIL and locks the mutex of the
/// library. Scopes of one thread may be nested.
class ReleaseScope {
 public:
  ReleaseScope();
  ReleaseScope(const ReleaseScope&) = delete;
  ReleaseScope& operator=(const ReleaseScope&) = delete;

 private:
  nb::gil_scoped_release without_gil_;
  std::unique_lock<std::recursive_mutex> lock_;
};

/// Scope in which functions of the library may be called. Throws Error in any thread but the one that started the
/// runtime, because MPI and older releases of Kokkos support calls from one thread only.
class LibraryScope : public ReleaseScope {
 public:
  LibraryScope();
};

/// Base class of Python objects that own objects of the library. `finalise_runtime` releases the objects of all
/// handles.
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

/// Throws RunError (Python) with the message that the runtime has been finalised.
[[noreturn]] void throw_finalised();

}  // namespace diffsim::python
