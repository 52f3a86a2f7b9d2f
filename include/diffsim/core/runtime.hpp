// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

namespace diffsim {

/// Adopts or starts MPI, PETSc and Kokkos, in this order, and ends what it started, in reverse. One object must outlive
/// every other object of the library.
///
/// The host's process stays as it is: environment, streams, signal handlers, allocators, and the communicator that was
/// passed in, of which a duplicate is made. What is started here follows its own settings: `argv`, and the environment
/// (OMP_NUM_THREADS, OMP_WAIT_POLICY, KOKKOS_…, PETSC_OPTIONS, …). A PETSc that is started here installs no signal
/// handlers and prints no errors: they become an Error.
class Runtime {
 public:
  /// `argv` may hold PETSc and Kokkos options (`--kokkos-num-threads=2`). Starts MPI if nobody did; works on a
  /// duplicate of MPI_COMM_WORLD.
  Runtime(int& argc, char**& argv);
  /// For a host that has started MPI: the library works on a duplicate of `comm` (PETSc, if not yet started, too).
  explicit Runtime(MPI_Comm comm);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// The duplicate, on which a failure of MPI becomes an Error; on other communicators the host's error handler
  /// decides.
  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  void start(MPI_Comm comm, int& argc, char**& argv);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  bool owns_mpi_ = false;
  bool owns_petsc_ = false;
  bool owns_kokkos_ = false;
};

/// Name of the back end that kernels run on: "OpenMP", "Serial", "Cuda", …
std::string back_end();
/// Threads (or, on a GPU, the device's concurrency) a kernel of this rank may use.
int concurrency();
/// Resident memory of this process (VmRSS of proc(5)), bytes; 0 where the system does not say.
double resident_memory_bytes();
/// Gives memory that was freed, but is kept for later by the C library, back to the system.
void release_free_memory();
/// Largest resident memory of this process so far, bytes.
double peak_memory_bytes();

}  // namespace diffsim
