// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "runtime.hpp"

#include <chrono>
#include <iterator>
#include <map>
#include <thread>

#include "diffsim/core/error.hpp"
#include "shared_objects.hpp"

namespace diffsim::python {
namespace {

std::unique_ptr<Runtime> the_runtime;
std::thread::id runtime_thread;
bool is_finalised = false;
std::int64_t next_number = 0;

std::recursive_mutex& library_mutex() {
  static auto* mutex = new std::recursive_mutex;  // never destroyed: handles may outlive static objects
  return *mutex;
}

std::map<std::int64_t, Handle*>& handles() {
  static auto* all = new std::map<std::int64_t, Handle*>;  // never destroyed: handles may outlive static objects
  return *all;
}

}  // namespace

Runtime& runtime() {
  if (is_finalised) throw_finalised();
  if (!the_runtime) {
    int argc = 0;
    char** argv = nullptr;
    the_runtime = std::make_unique<Runtime>(argc, argv);
    runtime_thread = std::this_thread::get_id();
  }
  return *the_runtime;
}

void finalise_runtime() {
  while (!handles().empty()) {
    const auto last = std::prev(handles().end());
    Handle* handle = last->second;
    handles().erase(last);
    const ReleaseScope scope;
    handle->release();
  }
  const ReleaseScope scope;
  destroy_all_unused();
  the_runtime.reset();
  is_finalised = true;
}

bool all_ranks_arrive(double seconds) {
  if (!the_runtime || the_runtime->size() == 1) return true;
  MPI_Request request = MPI_REQUEST_NULL;
  DIFFSIM_MPI(MPI_Ibarrier(the_runtime->comm(), &request));
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (int arrived = 0;;) {
    DIFFSIM_MPI(MPI_Test(&request, &arrived, MPI_STATUS_IGNORE));
    if (arrived) return true;
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void throw_finalised() {
  throw Error("the runtime has been finalised at the interpreter's exit; use objects of diffsim before");
}

MPI_Comm communicator(nb::handle object) {
  Runtime& all = runtime();
  if (object.is_none()) return all.comm();
  if (!nb::hasattr(object, "py2f"))
    throw InputError("comm must be None or a communicator of mpi4py, such as MPI.COMM_WORLD");
  const MPI_Comm comm = MPI_Comm_f2c(static_cast<MPI_Fint>(nb::cast<long>(object.attr("py2f")())));
  if (comm == MPI_COMM_NULL) throw InputError("comm is MPI.COMM_NULL; give a communicator that contains this process");
  return comm;
}

ReleaseScope::ReleaseScope() : lock_(library_mutex()) {}

LibraryScope::LibraryScope() {
  if (the_runtime && std::this_thread::get_id() != runtime_thread)
    throw Error("diffsim must be used from the thread in which it was first used; MPI and Kokkos run in that thread");
}

Handle::Handle() : number_(next_number++) {
  runtime();
  handles().emplace(number_, this);
}

Handle::~Handle() { handles().erase(number_); }

}  // namespace diffsim::python
