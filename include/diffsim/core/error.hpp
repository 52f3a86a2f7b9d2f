// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace diffsim {

/// Kind of failure of an Error; the runner's exit code follows from it.
enum class ErrorKind {
  input,  ///< the user's file, key or argument is at fault (exit 2)
  run,    ///< the computation ran but failed: instability, non-convergence (exit 1)
  system  ///< the machine or a library failed: disk, memory, MPI (exit 1)
};

/// The one exception of the library: says what is wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, ErrorKind kind = ErrorKind::run) : std::runtime_error(what), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// An error in something the user wrote, at a place: `FILE:LINE: KEY: what`. Line 0 and an empty key are left out.
class InputError : public Error {
 public:
  InputError(const std::string& file, long line, const std::string& key, const std::string& what);
  explicit InputError(const std::string& what) : Error(what, ErrorKind::input) {}
};

/// Runs `body`, which must not communicate, on every rank of `comm`; collective.
///
/// If it threw on any rank, every rank throws the error of the lowest such rank. This is how a rank that fails
/// alone between collectives keeps the others from waiting for it.
void collectively(MPI_Comm comm, const std::function<void()>& body);

/// Turns library return codes into Error. Every PETSc, MPI and HDF5 call goes through one of these.
void check_mpi(int code, const char* call, const char* file, int line);
void check_petsc(int code, const char* call, const char* file, int line);

}  // namespace diffsim

#define DIFFSIM_MPI(call)                                    \
  do {                                                       \
    ::diffsim::check_mpi((call), #call, __FILE__, __LINE__); \
  } while (0)

#define DIFFSIM_PETSC(call)                                    \
  do {                                                         \
    ::diffsim::check_petsc((call), #call, __FILE__, __LINE__); \
  } while (0)
