// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

namespace diffsim {

/// Initialisation of MPI, PETSc and Kokkos. The constructor with program arguments initialises MPI, PETSc and Kokkos in
/// this order, except libraries that are already initialised. The constructor with a communicator requires that MPI is
/// initialised, and initialises PETSc and Kokkos, except libraries that are already initialised. The destructor
/// finalises, in reverse order, the libraries that the constructor initialised. A program needs one Runtime, which must
/// outlive all other objects of diffsim.
///
/// Runtime does not change the environment, the standard streams, the signal handlers or the allocators of the host
/// program's process. Runtime duplicates the communicator that the host program passes, and does not change the
/// original communicator. After operations that need much temporary memory, for example the set-up of a mesh, diffsim
/// returns free memory of the C library's heap to the operating system (`release_free_memory`). A library that Runtime
/// initialises reads its settings from `argv` and from the environment (OMP_NUM_THREADS, OMP_WAIT_POLICY, KOKKOS_…,
/// PETSC_OPTIONS, …). If Runtime initialises PETSc, PETSc installs no signal handlers and prints no errors; errors of
/// PETSc functions are thrown as Error.
class Runtime {
 public:
  /// Initialises MPI if MPI is not initialised yet, and duplicates MPI_COMM_WORLD. `argv` may contain options of PETSc
  /// and Kokkos (`--kokkos-num-threads=2`).
  Runtime(int& argc, char**& argv);
  /// Constructs the runtime in a host program that has initialised MPI. diffsim uses a duplicate of `comm`. If Runtime
  /// initialises PETSc, the duplicate of `comm` is also PETSC_COMM_WORLD.
  explicit Runtime(MPI_Comm comm);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Returns the duplicated communicator. An MPI error on the duplicated communicator is thrown as Error; for errors on
  /// other communicators, MPI calls the host program's error handler.
  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }  ///< rank of this process in `comm`
  int size() const { return size_; }  ///< number of ranks in `comm`

 private:
  void start(MPI_Comm comm, int& argc, char**& argv);

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
  bool owns_mpi_ = false;
  bool owns_petsc_ = false;
  bool owns_kokkos_ = false;
};

/// Returns the name of the Kokkos execution space in which kernels run: "OpenMP", "Serial", "Cuda", …
std::string back_end();
/// Kind of the memory in which the values of fields are stored (`Field::data`). The host can read and write memory of
/// the kind `host` only. `emulated`: memory of an emulated device (CMake option DIFFSIM_EMULATE_DEVICE). `other`:
/// memory of any other device.
enum class MemoryKind { host, cuda, hip, emulated, other };
MemoryKind memory_kind();  ///< kind of the memory of this build's fields
int device_number();       ///< number of the GPU that stores fields, in the numbering of CUDA or HIP; 0 without a GPU
void wait_for_kernels();   ///< returns when all kernels and copies that this process has started are complete
/// Returns the number of host threads that a kernel of this rank may use. On a GPU, returns the number of threads that
/// the device can run concurrently.
int concurrency();
/// Returns the resident memory of this process in bytes (VmRSS of proc(5)), or 0 if the system does not report the
/// value.
double resident_memory_bytes();
/// Returns freed memory, which the C library retains for reuse, to the operating system.
void release_free_memory();
/// Returns the largest resident memory of this process so far, in bytes.
double peak_memory_bytes();

/// Returns the rank of this process in the communicator `comm`.
int rank_of(MPI_Comm comm);
/// Returns the number of ranks in the communicator `comm`.
int num_ranks(MPI_Comm comm);
/// Returns true if this process has rank 0 in the communicator `comm`.
bool is_first_rank(MPI_Comm comm);
/// Returns, on every rank of `comm`, the sum of `share` over all ranks. Collective.
double sum_over_ranks(double share, MPI_Comm comm);
/// Overload of `sum_over_ranks` for integers.
std::int64_t sum_over_ranks(std::int64_t share, MPI_Comm comm);

}  // namespace diffsim
