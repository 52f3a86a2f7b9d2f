// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace diffsim {

/// Owner of the libraries MPI, PETSc and Kokkos. The constructor starts, in this order, those libraries that are not
/// running yet. The destructor finalises, in reverse order, the libraries that the constructor started. A program needs
/// one Runtime that outlives every other object of diffsim.
///
/// The process of the host program is left unchanged: environment, streams, signal handlers, allocators, and the
/// communicator that was passed in, of which a duplicate is made. (After large set-ups, unused memory of the C
/// library's heap is returned to the operating system.) Libraries that are started here follow their own settings:
/// `argv`, and the environment (OMP_NUM_THREADS, OMP_WAIT_POLICY, KOKKOS_…, PETSC_OPTIONS, …). If PETSc is started
/// here, PETSc installs no signal handlers and prints no errors; PETSc's errors become an Error.
class Runtime {
 public:
  /// Starts MPI if MPI is not running, and works on a duplicate of MPI_COMM_WORLD. `argv` may hold PETSc and Kokkos
  /// options (`--kokkos-num-threads=2`).
  Runtime(int& argc, char**& argv);
  /// Constructs the runtime in a host program that has started MPI. The library works on a duplicate of `comm`; so does
  /// PETSc if PETSc is started here.
  explicit Runtime(MPI_Comm comm);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Duplicated communicator, on which a failure of MPI becomes an Error. On other communicators the host program's
  /// error handler decides.
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

/// Returns the name of the back end that kernels run on: "OpenMP", "Serial", "Cuda", …
std::string back_end();
/// Returns the number of threads that a kernel of this rank may use; on a GPU, the device's concurrency.
int concurrency();
/// Returns the resident memory of this process, bytes (VmRSS of proc(5)); 0 if the system does not report the value.
double resident_memory_bytes();
/// Returns memory to the operating system that was freed but that the C library keeps for later use.
void release_free_memory();
/// Returns the largest resident memory of this process so far, bytes.
double peak_memory_bytes();

/// Returns the rank of this process in the communicator.
int rank_of(MPI_Comm comm);
/// Returns the number of ranks in the communicator.
int num_ranks(MPI_Comm comm);
/// Returns true if this process has rank 0 in the communicator.
bool is_first_rank(MPI_Comm comm);
/// Returns the sum of the ranks' contributions, on every rank. Collective.
double sum_over_ranks(double share, MPI_Comm comm);
std::int64_t sum_over_ranks(std::int64_t share, MPI_Comm comm);

}  // namespace diffsim
