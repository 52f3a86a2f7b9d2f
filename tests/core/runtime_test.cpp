// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
//
// A host program with its own settings starts the library and simulates. The host's process must be unchanged
// afterwards.

#include "diffsim/core/runtime.hpp"

#include <gtest/gtest.h>
#include <petscsys.h>
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "diffsim/core/error.hpp"
#include "diffsim/inverse/losses.hpp"
#include "diffsim/simulation/simulator.hpp"

namespace diffsim::runtime_test {
namespace {

MPI_Comm host_comm = MPI_COMM_NULL;

void host_signal_handler(int) {}
void host_error_handler(MPI_Comm*, int*, ...) {}

MPI_Errhandler error_handler_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &handler);
  return handler;
}

/// Settings of a process as text, by name.
using Process = std::map<std::string, std::string>;

template <class Pointer>
std::string address_of(Pointer pointer) {
  return std::to_string(reinterpret_cast<std::uintptr_t>(pointer));
}

Process process() {
  Process found;
  for (char** variable = environ; *variable; ++variable) found["environment"] += std::string(*variable) + '\n';
  found["cout"] = address_of(std::cout.rdbuf());
  found["cerr"] = address_of(std::cerr.rdbuf());
  found["clog"] = address_of(std::clog.rdbuf());
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action = {};
    if (sigaction(number, nullptr, &action) == 0)
      found["signal " + std::to_string(number)] = address_of(action.sa_handler) + ' ' + std::to_string(action.sa_flags);
  }
  found["error handler of MPI_COMM_WORLD"] = address_of(error_handler_of(MPI_COMM_WORLD));
  found["error handler of the host's communicator"] = address_of(error_handler_of(host_comm));
  found["allocator of PETSc"] =
      address_of(PetscTrMalloc) + ' ' + address_of(PetscTrFree) + ' ' + address_of(PetscTrRealloc);
  return found;
}

void expect_same(const Process& found, const Process& expected, const std::string& when) {
  for (const auto& [part, value] : expected) EXPECT_EQ(found.at(part), value) << part << ", " << when;
}

/// Computes a loss and its gradient over a few steps.
void simulate(MPI_Comm comm, const std::string& integrator) {
  auto mesh = TetrahedralMesh::box(comm, {1.0, 0.2, 0.2}, {4, 1, 1});
  const DifferentiableMaterial rubber{"neo_hookean", {{"youngs_modulus", 1e5}, {"poisson_ratio", 0.4}}};
  DifferentiableScene solver(mesh, {rubber}, {.dt = 0.002, .integrator = integrator_named(integrator)});
  solver.fix("x_min");
  TargetPositionLoss loss(*mesh, mesh->region("x_max"), {1.0, -0.1, 0.1}, 3);
  DifferentiableSimulator simulator(solver);
  simulator.require_gradient({"youngs_modulus"});
  EXPECT_GT(simulator.rollout(3, 1, loss), 0.0);
  simulator.backward();
}

TEST(runtime, leaves_the_process_of_its_host_as_it_is) {
  const Process before = process();
  {
    const Runtime runtime(host_comm);
    expect_same(process(), before, "started");
    for (const char* integrator : {"symplectic_euler", "implicit_euler"}) simulate(runtime.comm(), integrator);
    expect_same(process(), before, "after a simulation");

    int same = MPI_UNEQUAL;
    MPI_Comm_compare(runtime.comm(), host_comm, &same);
    EXPECT_EQ(same, MPI_CONGRUENT) << "a duplicate";
    EXPECT_THROW(DIFFSIM_MPI(MPI_Send(nullptr, -1, MPI_INT, 0, 0, runtime.comm())), Error);
  }
  expect_same(process(), before, "ended");
  EXPECT_EQ(PETSC_COMM_WORLD, MPI_COMM_NULL);
}

}  // namespace
}  // namespace diffsim::runtime_test

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  // A debug build of PETSc would otherwise choose another allocator.
  setenv("PETSC_OPTIONS", "-malloc_debug no", 0);
  for (const int number : {SIGHUP, SIGFPE, SIGSEGV, SIGBUS, SIGTERM, SIGUSR1})
    signal(number, diffsim::runtime_test::host_signal_handler);
  MPI_Comm_dup(MPI_COMM_WORLD, &diffsim::runtime_test::host_comm);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(diffsim::runtime_test::host_error_handler, &handler);
  MPI_Comm_set_errhandler(diffsim::runtime_test::host_comm, handler);
  testing::InitGoogleTest(&argc, argv);
  int failed = RUN_ALL_TESTS();
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&diffsim::runtime_test::host_comm);
  MPI_Finalize();
  return failed;
}
