// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/error.hpp"

#include <gtest/gtest.h>
#include <petscsys.h>

namespace diffsim::error_test {
namespace {

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

TEST(error, input_error_names_file_line_and_key) {
  EXPECT_STREQ(InputError("bar.yaml", 12, "solver.dt", "is not positive").what(),
               "bar.yaml:12: solver.dt: is not positive");
  EXPECT_STREQ(InputError("bar.msh", 0, "", "is empty").what(), "bar.msh: is empty");
}

TEST(error, a_failure_on_any_rank_is_thrown_by_all) {
  for (int failing = 0; failing < world_size(); ++failing) {
    std::string seen;
    ErrorKind kind = ErrorKind::system;
    try {
      collectively(MPI_COMM_WORLD, [&] {
        if (world_rank() >= failing) throw Error("rank " + std::to_string(world_rank()), ErrorKind::input);
      });
    } catch (const Error& error) {
      seen = error.what();
      kind = error.kind();
    }
    EXPECT_EQ(seen, "rank " + std::to_string(failing));
    EXPECT_EQ(kind, ErrorKind::input);
  }
  EXPECT_NO_THROW(collectively(MPI_COMM_WORLD, [] {}));
}

TEST(error, codes_of_libraries_become_errors) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  EXPECT_THROW(DIFFSIM_MPI(MPI_Send(nullptr, -1, MPI_INT, 0, 0, comm)), Error);
  MPI_Comm_free(&comm);
  EXPECT_THROW(DIFFSIM_PETSC(PETSC_ERR_MEM), Error);
}

}  // namespace
}  // namespace diffsim::error_test
