// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/device.hpp"
#include "dynamics/time/explicit_kernels.hpp"

namespace diffsim::dynamics {

/// Grids of values to which positions and velocities are rounded, so that explicit steps are exactly reversible. A grid
/// with the spacing s, a power of two, consists of the integer multiples k s with |k| < 2⁵². The sum of two values of a
/// grid has no rounding error. Let positions x be on one grid and velocities v on another grid. In a substep
///   v ← v + R(h (f(x)/m + g)),   x ← x + R(h v)
/// of length h with forces f, masses m and gravity g, R rounds to the grid of v or of x. The same operations with −
/// instead of +, in reverse order, restore x and v bitwise (D. Levesque, L. Verlet, Molecular dynamics and time
/// reversibility, Journal of Statistical Physics 72, 1993).
struct ReversibleGrid {
  double position = 0.0;  // spacing of the grid of positions, m
  double velocity = 0.0;  // spacing of the grid of velocities, m/s

  /// Returns the grids of positions and velocities for coordinates up to `extent` (m) and substeps of length h (s). The
  /// grid of positions contains values up to 16 times the smallest power of two above `extent`. The grid of velocities
  /// contains values up to about `extent`/h.
  static ReversibleGrid of(double extent, double h);
  static constexpr double most = 4503599627370496.0;  // bound of |value|/spacing, 2⁵²
};

/// Rounds positions and velocities to the grids of the argument `grid`. Sets the velocities of fixed components, which
/// steps do not use, to 0.
void put_on_grid(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, Field& velocities, Field& positions);
/// Computes a reversible substep of symplectic Euler without damping. `force`: force at the beginning of the substep.
/// Lowers `invalid_vertex` to the smallest index of a vertex whose position is not finite, and `far_vertex` to the
/// smallest index of a vertex whose position or velocity is too large for `grid`.
void update_on_grid(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& force,
                    Field& velocities, Field& positions, std::int32_t* invalid_vertex, std::int32_t* far_vertex);
/// Undoes the update of positions by `update_on_grid`. The caller must call `take_back_positions` before
/// `take_back_velocities`.
void take_back_positions(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& velocities,
                         Field& positions);
/// Undoes the update of velocities by `update_on_grid`. `force`: force at the positions that `take_back_positions` has
/// restored.
void take_back_velocities(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& force,
                          Field& velocities);

}  // namespace diffsim::dynamics
