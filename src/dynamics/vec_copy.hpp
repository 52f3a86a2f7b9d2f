// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscvec.h>

#include "diffsim/core/device.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/field.hpp"

namespace diffsim::dynamics {

/// The first values of a Vec and of a field, one way or the other.
inline void put(const Field& field, Vec vec) {
  PetscInt size = 0;
  PetscScalar* data = nullptr;
  DIFFSIM_PETSC(VecGetLocalSize(vec, &size));
  DIFFSIM_PETSC(VecGetArrayWrite(vec, &data));
  using HostSpan = Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::deep_copy(HostSpan(data, static_cast<std::size_t>(size)),
                    DeviceSpan<const double>(field.data(), static_cast<std::size_t>(size)));
  DIFFSIM_PETSC(VecRestoreArrayWrite(vec, &data));
}
inline void get(Vec vec, Field& field) {
  PetscInt size = 0;
  const PetscScalar* data = nullptr;
  DIFFSIM_PETSC(VecGetLocalSize(vec, &size));
  DIFFSIM_PETSC(VecGetArrayRead(vec, &data));
  using HostSpan = Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::deep_copy(DeviceSpan<double>(field.data(), static_cast<std::size_t>(size)),
                    HostSpan(data, static_cast<std::size_t>(size)));
  DIFFSIM_PETSC(VecRestoreArrayRead(vec, &data));
}

}  // namespace diffsim::dynamics
