// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscvec.h>

#include "diffsim/core/error.hpp"
#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/device.hpp"

namespace diffsim::dynamics {

/// Copies the first values of a field to all local values of a Vec, without a copy in host memory if the Vec is in
/// device memory.
inline void put(const Field& field, Vec vec) {
  PetscInt length = 0;
  PetscScalar* data = nullptr;
  PetscMemType memory = PETSC_MEMTYPE_HOST;
  DIFFSIM_PETSC(VecGetLocalSize(vec, &length));
  const auto size = static_cast<std::size_t>(length);
  const DeviceSpan<const double> source(field.data(), size);
  if constexpr (kernels_on_host)
    DIFFSIM_PETSC(VecGetArrayWrite(vec, &data));
  else
    DIFFSIM_PETSC(VecGetArrayWriteAndMemType(vec, &data, &memory));
  if (PetscMemTypeHost(memory))
    Kokkos::deep_copy(HostSpan<double>(data, size), source);
  else
    Kokkos::deep_copy(DeviceSpan<double>(data, size), source);
  if constexpr (kernels_on_host)
    DIFFSIM_PETSC(VecRestoreArrayWrite(vec, &data));
  else
    DIFFSIM_PETSC(VecRestoreArrayWriteAndMemType(vec, &data));
}
/// Copies all local values of a Vec to the first values of a field, without a copy in host memory if the Vec is in
/// device memory.
inline void get(Vec vec, Field& field) {
  PetscInt length = 0;
  const PetscScalar* data = nullptr;
  PetscMemType memory = PETSC_MEMTYPE_HOST;
  DIFFSIM_PETSC(VecGetLocalSize(vec, &length));
  const auto size = static_cast<std::size_t>(length);
  const DeviceSpan<double> target(field.data(), size);
  if constexpr (kernels_on_host)
    DIFFSIM_PETSC(VecGetArrayRead(vec, &data));
  else
    DIFFSIM_PETSC(VecGetArrayReadAndMemType(vec, &data, &memory));
  if (PetscMemTypeHost(memory))
    Kokkos::deep_copy(target, HostSpan<const double>(data, size));
  else
    Kokkos::deep_copy(target, DeviceSpan<const double>(data, size));
  if constexpr (kernels_on_host)
    DIFFSIM_PETSC(VecRestoreArrayRead(vec, &data));
  else
    DIFFSIM_PETSC(VecRestoreArrayReadAndMemType(vec, &data));
}

}  // namespace diffsim::dynamics
