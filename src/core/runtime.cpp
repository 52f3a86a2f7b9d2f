// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/runtime.hpp"

#include <petscsys.h>
#include <sys/resource.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <iostream>
#include <sstream>
#include <vector>

#include "core/petsc_pages.hpp"
#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim {
namespace {

/// Where threads go is the user's and mpirun's choice; Kokkos need not comment on it on every rank. (3.4 does so about
/// oversubscription even where warnings are disabled, hence the silenced stream; failures are exceptions.)
void initialize_kokkos(int argc, char** argv) {
  std::vector<char*> arguments(argv, argv + argc);
  std::string quiet = "--kokkos-disable-warnings";
  arguments.push_back(quiet.data());
  arguments.push_back(nullptr);
  int count = argc + 1;
  std::ostringstream unheard;
  std::streambuf* const stream = std::cerr.rdbuf(unheard.rdbuf());
  try {
    Kokkos::initialize(count, arguments.data());
  } catch (...) {
    std::cerr.rdbuf(stream);
    throw;
  }
  std::cerr.rdbuf(stream);
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
  comm_ = MPI_COMM_WORLD;
  start(argc, argv);
}

Runtime::Runtime(MPI_Comm comm) : comm_(comm) {
  int argc = 0;
  char** argv = nullptr;
  start(argc, argv);
}

void Runtime::start(int& argc, char**& argv) {
  // MPI failures come back as codes, so that they can become an Error like any other.
  DIFFSIM_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  PetscBool petsc_started = PETSC_FALSE;
  DIFFSIM_PETSC(PetscInitialized(&petsc_started));
  if (!petsc_started) {
    PETSC_COMM_WORLD = comm_;
    DIFFSIM_PETSC(PetscInitialize(&argc, &argv, nullptr, nullptr));
    // Codes are turned into Error at one place; PETSc prints nothing and leaves signals to the host.
    DIFFSIM_PETSC(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
    DIFFSIM_PETSC(PetscPopSignalHandler());
    begin_petsc_huge_pages();
    owns_petsc_ = true;
  }
  if (!Kokkos::is_initialized()) {
    initialize_kokkos(argc, argv);
    owns_kokkos_ = true;
  }
  DIFFSIM_MPI(MPI_Comm_rank(comm_, &rank_));
  DIFFSIM_MPI(MPI_Comm_size(comm_, &size_));
}

Runtime::~Runtime() {
  if (owns_kokkos_) Kokkos::finalize();
  if (owns_petsc_) {
    end_petsc_huge_pages();
    PetscFinalize();
  }
  if (owns_mpi_) MPI_Finalize();
}

std::string back_end() { return ExecutionSpace::name(); }

int concurrency() { return static_cast<int>(ExecutionSpace().concurrency()); }

void return_freed_memory() {
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
