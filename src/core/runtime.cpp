// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/runtime.hpp"

#include <petscsys.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"

namespace diffsim {
namespace {

template <class Space>
constexpr MemoryKind kind_of_memory() {
  if constexpr (requires(const Space& space) { space.cuda_device(); })
    return MemoryKind::cuda;
  else if constexpr (requires(const Space& space) { space.hip_device(); })
    return MemoryKind::hip;
  else
    return MemoryKind::other;
}

template <class Space>
int number_of_device(const Space& space) {
  if constexpr (requires { space.cuda_device(); })
    return space.cuda_device();
  else if constexpr (requires { space.hip_device(); })
    return space.hip_device();
  else
    return 0;
}

}  // namespace

Runtime::Runtime(int& argc, char**& argv) {
  int started = 0;
  MPI_Initialized(&started);
  if (!started) {
    int provided = 0;
    DIFFSIM_MPI(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    owns_mpi_ = true;
  }
  start(MPI_COMM_WORLD, argc, argv);
}

Runtime::Runtime(MPI_Comm comm) {
  int argc = 0;
  char** argv = nullptr;
  start(comm, argc, argv);
}

void Runtime::start(MPI_Comm comm, int& argc, char**& argv) {
  // MPI functions that use the duplicate return error codes, which DIFFSIM_MPI converts to an Error. The error handler
  // of the caller's communicator does not change.
  DIFFSIM_MPI(MPI_Comm_dup(comm, &comm_));
  DIFFSIM_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  PetscBool petsc_started = PETSC_FALSE;
  DIFFSIM_PETSC(PetscInitialized(&petsc_started));
  if (!petsc_started) {
    PETSC_COMM_WORLD = comm_;
    // PETSc must not install signal handlers: PETSc later restores the system's default handlers, not the handlers of
    // the host program.
    DIFFSIM_PETSC(PetscOptionsSetValue(nullptr, "-no_signal_handler", "true"));
    DIFFSIM_PETSC(PetscInitialize(&argc, &argv, nullptr, nullptr));
    // PETSc returns error codes without printing messages; `check_petsc` converts the error codes to an Error.
    DIFFSIM_PETSC(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
    owns_petsc_ = true;
  }
  if (!Kokkos::is_initialized()) {
    Kokkos::initialize(argc, argv);
    owns_kokkos_ = true;
  }
  DIFFSIM_MPI(MPI_Comm_rank(comm_, &rank_));
  DIFFSIM_MPI(MPI_Comm_size(comm_, &size_));
}

Runtime::~Runtime() {
  if (owns_kokkos_) Kokkos::finalize();
  if (owns_petsc_) {
    PetscPopErrorHandler();
    PetscFinalize();
    PETSC_COMM_WORLD = MPI_COMM_NULL;
  }
  MPI_Comm_free(&comm_);
  if (owns_mpi_) MPI_Finalize();
}

std::string back_end() { return ExecutionSpace::name(); }

MemoryKind memory_kind() {
#if defined(DIFFSIM_EMULATE_DEVICE)
  return MemoryKind::emulated;
#else
  return kernels_on_host ? MemoryKind::host : kind_of_memory<ExecutionSpace>();
#endif
}

int device_number() { return number_of_device(ExecutionSpace()); }

void wait_for_kernels() { Kokkos::fence(); }

int concurrency() { return static_cast<int>(ExecutionSpace().concurrency()); }

double resident_memory_bytes() {
  // The first two numbers in the file are the total number of pages and the number of resident pages; see proc(5).
  double all = 0.0, resident = 0.0;
  if (!(std::ifstream("/proc/self/statm") >> all >> resident)) return 0.0;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void release_free_memory() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}

double peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0;
}

}  // namespace diffsim
