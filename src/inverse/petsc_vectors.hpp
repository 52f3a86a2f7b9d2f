// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscvec.h>

#include <algorithm>
#include <vector>

#include "core/petsc_handle.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::inverse {

using VecHandle = PetscHandle<Vec, VecDestroy>;

inline std::vector<double> values_of(Vec vec) {
  PetscInt size = 0;
  const PetscScalar* data = nullptr;
  DIFFSIM_PETSC(VecGetLocalSize(vec, &size));
  DIFFSIM_PETSC(VecGetArrayRead(vec, &data));
  std::vector<double> values(data, data + size);
  DIFFSIM_PETSC(VecRestoreArrayRead(vec, &data));
  return values;
}

inline void set_values(Vec vec, const std::vector<double>& values) {
  PetscScalar* data = nullptr;
  DIFFSIM_PETSC(VecGetArrayWrite(vec, &data));
  std::copy(values.begin(), values.end(), data);
  DIFFSIM_PETSC(VecRestoreArrayWrite(vec, &data));
}

inline VecHandle make_vec(MPI_Comm comm, const std::vector<double>& values) {
  VecHandle vec;
  DIFFSIM_PETSC(VecCreateMPI(comm, static_cast<PetscInt>(values.size()), PETSC_DETERMINE, vec.out()));
  set_values(vec, values);
  return vec;
}

}  // namespace diffsim::inverse
