// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <string>

namespace diffsim {

/// Adopts or starts MPI, PETSc and Kokkos, in this order; what it started it ends, in reverse, what the host program
/// had started it leaves alone. One object must outlive every other object of the library.
class Runtime {
 public:
  /// `argv` may hold PETSc and Kokkos options (`--kokkos-num-threads=2`). Starts MPI if nobody did.
  Runtime(int& argc, char**& argv);
  /// For a host that has started MPI: the library works on `comm` only (PETSc, if not yet started, too).
  explicit Runtime(MPI_Comm comm);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  void start(int& argc, char**& argv);

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
/// Gives the system back what was freed, where the C library would keep it: after set-up, which frees much.
void return_freed_memory();
/// Largest resident memory of this process so far, bytes.
double peak_memory_bytes();

}  // namespace diffsim
