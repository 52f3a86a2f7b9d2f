// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "diffsim/core/device.hpp"
#include "diffsim/core/field.hpp"
#include "dynamics/explicit_kernels.hpp"

namespace diffsim::dynamics {

/// Numbers that are whole multiples of a power of two and below 2⁵² of them add without rounding. So with positions on
/// one such grid and velocities on another,
///
///   v ← v + R(h (f(x)/m + g)),   x ← x + R(h v),   R: to the nearest of the grid,
///
/// is undone, to the bit, by the same with − in the other order. (D. Levesque, L. Verlet, Molecular dynamics and time
/// reversibility, J. Stat. Phys. 72, 1993.)
struct ReversibleGrid {
  double position = 0.0;  // m
  double velocity = 0.0;  // m/s

  /// For coordinates up to `extent` and substeps h: positions up to 16 times the power of two above it, velocities up
  /// to about `extent`/h.
  static ReversibleGrid of(double extent, double h);
  static constexpr double most = 4503599627370496.0;  // 2⁵²
};

/// Rounds a state to the grid; velocities of fixed components, which no step uses, become 0.
void put_on_grid(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, Field& velocities, Field& positions);
/// A substep of undamped motion with the force at its beginning. Lowers `invalid_vertex` to a vertex that is no longer
/// finite, and `far_vertex` to one whose position or velocity is beyond the grid.
void update_on_grid(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& force,
                    Field& velocities, Field& positions, std::int32_t* invalid_vertex, std::int32_t* far_vertex);
/// Undoes its two halves, positions first.
void take_back_positions(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& velocities,
                         Field& positions);
void take_back_velocities(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& force,
                          Field& velocities);

}  // namespace diffsim::dynamics
