// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/impl/profiling.hpp"

#include <gtest/gtest.h>
#include <petscsys.h>

#include "diffsim/core/error.hpp"

namespace diffsim::profiling_test {
namespace {

/// Returns how often PETSc has recorded the event `name`, or -1 if the event does not exist.
int times_seen(const char* name) {
  PetscLogEvent event = -1;
  DIFFSIM_PETSC(PetscLogEventGetId(name, &event));
  if (event < 0) return -1;
  PetscEventPerfInfo info;
  DIFFSIM_PETSC(PetscLogEventGetPerfInfo(0, event, &info));
  return info.count;
}

TEST(profiling, a_region_is_an_event_of_petsc) {
  DIFFSIM_PETSC(PetscLogDefaultBegin());
  EXPECT_EQ(times_seen("diffsim::test::first"), -1);
  for (int i = 0; i < 3; ++i) {
    const ProfilingRegion outer("diffsim::test::first");
    const ProfilingRegion inner("diffsim::test::second");
  }
  { const ProfilingRegion region("diffsim::test::second"); }
  EXPECT_EQ(times_seen("diffsim::test::first"), 3);
  EXPECT_EQ(times_seen("diffsim::test::second"), 4);
}

TEST(profiling, an_event_that_is_there_already_is_taken) {
  PetscLogEvent event = -1;
  PetscClassId owner = 0;
  DIFFSIM_PETSC(PetscClassIdRegister("diffsim test", &owner));
  DIFFSIM_PETSC(PetscLogEventRegister("diffsim::test::third", owner, &event));
  { const ProfilingRegion region("diffsim::test::third"); }
  EXPECT_EQ(times_seen("diffsim::test::third"), 1);
}

}  // namespace
}  // namespace diffsim::profiling_test
