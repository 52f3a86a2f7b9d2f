// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "dynamics/time/reversible_grid.hpp"

#include <cmath>

namespace diffsim::dynamics {
namespace {

/// Returns the multiple of `spacing` nearest to `value`; `spacing` is a power of two.
KOKKOS_INLINE_FUNCTION double on_grid(double value, double spacing, double inverse) {
  return spacing * rint(inverse * value);
}

/// Increments of one component of a vertex's velocity and position in a substep. Forward and backward substeps use the
/// same functions, which contain no operations that a compiler could fuse with a different rounding.
struct Increments {
  ExplicitUpdate<double> update;
  ReversibleGrid grid;
  double inverse_position, inverse_velocity;

  Increments(const ExplicitUpdate<double>& of, const ReversibleGrid& on)
      : update(of), grid(on), inverse_position(1.0 / on.position), inverse_velocity(1.0 / on.velocity) {}
  KOKKOS_INLINE_FUNCTION double velocity(int i, double f) const {
    return update.mask(i) * on_grid(update.h * update.acceleration(i, f), grid.velocity, inverse_velocity);
  }
  KOKKOS_INLINE_FUNCTION double position(double v) const {
    return on_grid(update.h * v, grid.position, inverse_position);
  }
};

double power_of_two_below(double x) { return std::ldexp(1.0, std::ilogb(x)); }

}  // namespace

ReversibleGrid ReversibleGrid::of(double extent, double h) {
  const double position = std::ldexp(power_of_two_below(extent > 0.0 ? extent : 1.0), 1 - 48);
  return {position, std::ldexp(power_of_two_below(position / h), -4)};
}

void put_on_grid(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, Field& velocities,
                 Field& positions) {
  const Increments increments(update, grid);
  double* const v = velocities.data();
  double* const x = positions.data();
  // Adding 0.0 replaces -0.0 by 0.0. Sums of grid values are never -0.0, so reversed substeps could not restore -0.0.
  Kokkos::parallel_for(
      "diffsim::dynamics::put_velocities_on_grid", Range(0, static_cast<int>(velocities.size())), KOKKOS_LAMBDA(int i) {
        v[i] = increments.update.mask(i) * on_grid(v[i], increments.grid.velocity, increments.inverse_velocity) + 0.0;
      });
  Kokkos::parallel_for(
      "diffsim::dynamics::put_positions_on_grid", Range(0, static_cast<int>(positions.size())),
      KOKKOS_LAMBDA(int i) { x[i] = on_grid(x[i], increments.grid.position, increments.inverse_position) + 0.0; });
}

void update_on_grid(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& force,
                    Field& velocities, Field& positions, std::int32_t* invalid_vertex, std::int32_t* far_vertex) {
  const Increments increments(update, grid);
  const double farthest = ReversibleGrid::most * grid.position, fastest = ReversibleGrid::most * grid.velocity;
  const double* const f = force.data();
  double* const v = velocities.data();
  double* const x = positions.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::update_on_grid", Range(0, static_cast<int>(velocities.size())), KOKKOS_LAMBDA(int i) {
        const double new_v = v[i] + increments.velocity(i, f[i]);
        const double new_x = x[i] + increments.position(new_v);
        v[i] = new_v;
        x[i] = new_x;
        if (!(new_x - new_x == 0.0)) Kokkos::atomic_fetch_min(invalid_vertex, i / 3);
        if (!(new_x < farthest && -new_x < farthest && new_v < fastest && -new_v < fastest))
          Kokkos::atomic_fetch_min(far_vertex, i / 3);
      });
}

void take_back_positions(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& velocities,
                         Field& positions) {
  const Increments increments(update, grid);
  const double* const v = velocities.data();
  double* const x = positions.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::take_back_positions", Range(0, static_cast<int>(velocities.size())),
      KOKKOS_LAMBDA(int i) { x[i] -= increments.position(v[i]); });
}

void take_back_velocities(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& force,
                          Field& velocities) {
  const Increments increments(update, grid);
  const double* const f = force.data();
  double* const v = velocities.data();
  Kokkos::parallel_for(
      "diffsim::dynamics::take_back_velocities", Range(0, static_cast<int>(velocities.size())),
      KOKKOS_LAMBDA(int i) { v[i] -= increments.velocity(i, f[i]); });
}

}  // namespace diffsim::dynamics
