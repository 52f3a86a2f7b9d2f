// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace diffsim {

/// Kind of failure that an Error reports. In doc comments, "throws Error (input)" means that the thrown Error has the
/// kind `input`. The exit code of the command-line program `diffsim` depends on the kind of the Error.
enum class ErrorKind {
  input,  ///< the user's file, key or argument is wrong (exit code 2)
  run,    ///< the computation failed: instability, non-convergence (exit code 1)
  system  ///< the machine or a library failed: disk, memory, MPI (exit code 1)
};

/// Base class of the library's exceptions. The message of an Error says what is wrong, where the error is, and how to
/// correct the error.
class Error : public std::runtime_error {
 public:
  /// Constructs an error with the message `what`.
  explicit Error(const std::string& what, ErrorKind kind = ErrorKind::run) : std::runtime_error(what), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }  ///< kind of the failure

 private:
  ErrorKind kind_;
};

/// Error in user input. The message of an InputError has the form `FILE:LINE: KEY: what`, without `:LINE` if `line` is
/// 0 (unknown), and without `KEY: ` if `key` is empty.
class InputError : public Error {
 public:
  /// Constructs an error at line `line` and key `key` of the file `file`, with the message `what`.
  InputError(const std::string& file, long line, const std::string& key, const std::string& what);
  /// Constructs an error with the message `what`, without file, line and key.
  explicit InputError(const std::string& what) : Error(what, ErrorKind::input) {}
};

/// Runs `body`, which must not communicate, on every rank of `comm`. Collective.
///
/// If `body` throws on some ranks, every rank throws an Error with the message and the kind of the exception on the
/// lowest rank that failed. For an exception that is not an Error, the Error that `collectively` throws has the kind
/// `system`; for std::bad_alloc, the message is "out of memory; …". With `collectively`, a failure on one rank between
/// two collective calls does not leave the other ranks waiting.
void collectively(MPI_Comm comm, const std::function<void()>& body);

/// Throws Error (system) if `code`, the return code of an MPI call, is not MPI_SUCCESS. `call`: source text of the MPI
/// call, for the error message. `file`, `line`: source location of the MPI call, for the error message. The macro
/// DIFFSIM_MPI calls `check_mpi`.
void check_mpi(int code, const char* call, const char* file, int line);
/// Throws Error (system) if `code`, the return code of a PETSc call, is not 0. `call`: source text of the PETSc call,
/// for the error message. `file`, `line`: source location of the PETSc call, for the error message. The macro
/// DIFFSIM_PETSC calls `check_petsc`.
void check_petsc(int code, const char* call, const char* file, int line);

}  // namespace diffsim

/// Calls an MPI function, and throws Error (system) if the call fails. The error message contains the source text and
/// the source location of the MPI call.
#define DIFFSIM_MPI(call)                                    \
  do {                                                       \
    ::diffsim::check_mpi((call), #call, __FILE__, __LINE__); \
  } while (0)

/// Calls a PETSc function, and throws Error (system) if the call fails. The error message contains the source text and
/// the source location of the PETSc call.
#define DIFFSIM_PETSC(call)                                    \
  do {                                                         \
    ::diffsim::check_petsc((call), #call, __FILE__, __LINE__); \
  } while (0)
