// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/core/error.hpp"
#include "diffsim/core/impl/device.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/dynamics/system.hpp"

namespace diffsim {

double System::kinetic_energy(const State& state) {
  prepare_if_changed();
  const double* const m = mass_.data();
  const double* const v = state["velocities"].data();
  const std::uint8_t* const mask = fixed();
  double sum = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::dynamics::kinetic_energy", Range(0, static_cast<int>(state["velocities"].size())),
      KOKKOS_LAMBDA(int i, double& s) {
        if ((mask[i / 3] & massless) == 0) s += 0.5 * m[i / 3] * v[i] * v[i];
      },
      sum);
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, mesh_->comm()));
  return sum;
}

double System::potential_energy(const State& state, int n) {
  prepare_if_changed();
  const Field& positions = state["positions"];
  double sum = 0.0;
  for (const auto& term : terms_) sum += term->energy({positions, n}, parameters_);
  const Parameter& gravity = parameters_.at("gravity");
  const double* const g = gravity.field.data() + 3 * gravity.offset(n);
  const double* const m = mass_.data();
  const double* const x = positions.data();
  const std::uint8_t* const mask = fixed();
  double weight = 0.0;
  Kokkos::parallel_reduce(
      "diffsim::dynamics::gravity_energy", Range(0, static_cast<int>(positions.owned_size())),
      KOKKOS_LAMBDA(int i, double& s) {
        if ((mask[i / 3] & (massless | weightless)) == 0) s -= m[i / 3] * g[i % 3] * x[i];
      },
      weight);
  sum += weight;
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, mesh_->comm()));
  return sum;
}

}  // namespace diffsim
