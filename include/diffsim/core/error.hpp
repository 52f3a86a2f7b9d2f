// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace diffsim {

/// Kind of failure that an Error reports. In doc comments, "throws Error (input)" means that the thrown Error has the
/// kind `input`. The exit code of the command-line program `diffsim` depends on the kind.
enum class ErrorKind {
  input,  ///< the user's file, key or argument is wrong (exit code 2)
  run,    ///< the computation failed: instability, non-convergence (exit code 1)
  system  ///< the machine or a library failed: disk, memory, MPI (exit code 1)
};

/// Base class of the library's exceptions. The message says what is wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  /// Constructs an error with the message `what`.
  explicit Error(const std::string& what, ErrorKind kind = ErrorKind::run) : std::runtime_error(what), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }  ///< kind of the failure

 private:
  ErrorKind kind_;
};

/// Error in user input. The message has the form `FILE:LINE: KEY: what`. `line` = 0 means that the line is unknown; the
/// message then has no LINE. If `key` is empty, the message has no KEY.
class InputError : public Error {
 public:
  /// Constructs an error in a file.
  InputError(const std::string& file, long line, const std::string& key, const std::string& what);
  /// Constructs an error with the message `what`, without file, line and key.
  explicit InputError(const std::string& what) : Error(what, ErrorKind::input) {}
};

/// Runs `body`, which must not communicate, on every rank of `comm`. Collective.
///
/// If `body` throws on some ranks, every rank throws an Error with the message and the kind of the exception on the
/// lowest rank that failed. Exceptions of other classes than Error have the kind `system`; for std::bad_alloc, the
/// message is replaced by "out of memory; …". A failure on one rank between two collective calls therefore does not
/// leave the other ranks waiting.
void collectively(MPI_Comm comm, const std::function<void()>& body);

/// Throws Error (system) if `code`, the return code of an MPI call, is not MPI_SUCCESS. `call`: source text of the
/// call, for the message. `file`, `line`: location of the call in the source, for the message. The macro DIFFSIM_MPI
/// calls this function.
void check_mpi(int code, const char* call, const char* file, int line);
/// Throws Error (system) if `code`, the return code of a PETSc call, is not 0. `call`: source text of the call, for the
/// message. `file`, `line`: location of the call in the source, for the message. The macro DIFFSIM_PETSC calls this
/// function.
void check_petsc(int code, const char* call, const char* file, int line);

}  // namespace diffsim

/// Calls an MPI function. Throws Error (system) if the call fails. The message contains the source text and the source
/// location of the call.
#define DIFFSIM_MPI(call)                                    \
  do {                                                       \
    ::diffsim::check_mpi((call), #call, __FILE__, __LINE__); \
  } while (0)

/// Calls a PETSc function. Throws Error (system) if the call fails. The message contains the source text and the source
/// location of the call.
#define DIFFSIM_PETSC(call)                                    \
  do {                                                         \
    ::diffsim::check_petsc((call), #call, __FILE__, __LINE__); \
  } while (0)
