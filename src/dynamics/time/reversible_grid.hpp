// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "diffsim/core/field.hpp"
#include "diffsim/core/impl/device.hpp"
#include "dynamics/time/explicit_kernels.hpp"

namespace diffsim::dynamics {

/// Grids of positions and velocities on which explicit steps are exactly reversible. The values of a grid are the
/// integer multiples k s, |k| < 2⁵², of the spacing s of the grid, which is a power of two. Values of a grid add
/// without rounding. If positions x are on one grid and velocities v on another grid, the substep of length h with
/// forces f, masses m and gravity g
///
///   v ← v + R(h (f(x)/m + g)),   x ← x + R(h v),   where R rounds to the grid of v or x, respectively,
///
/// is undone bitwise by the same operations with − instead of +, in reverse order. (D. Levesque, L. Verlet, Molecular
/// dynamics and time reversibility, J. Stat. Phys. 72, 1993.)
struct ReversibleGrid {
  double position = 0.0;  // spacing of the grid of positions, m
  double velocity = 0.0;  // spacing of the grid of velocities, m/s

  /// Returns the grid for coordinates up to `extent` and substeps h. The grid contains positions up to 16 times the
  /// power of two above `extent`, and velocities up to about `extent`/h.
  static ReversibleGrid of(double extent, double h);
  static constexpr double most = 4503599627370496.0;  // bound of |value|/spacing, 2⁵²
};

/// Rounds positions and velocities to `grid`. Sets the velocities of fixed components to 0; steps do not use these
/// velocities.
void put_on_grid(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, Field& velocities, Field& positions);
/// Computes a reversible substep of symplectic Euler without damping. `force`: force at the beginning of the substep.
/// Lowers `invalid_vertex` to the smallest index of a vertex whose position is not finite, and `far_vertex` to the
/// smallest index of a vertex whose position or velocity is too large for `grid`.
void update_on_grid(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& force,
                    Field& velocities, Field& positions, std::int32_t* invalid_vertex, std::int32_t* far_vertex);
/// Undoes the update of positions by `update_on_grid`. Must be called before `take_back_velocities`.
void take_back_positions(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& velocities,
                         Field& positions);
/// Undoes the update of velocities by `update_on_grid`. `force`: force at the positions that `take_back_positions` has
/// restored.
void take_back_velocities(const ExplicitUpdate<double>& update, const ReversibleGrid& grid, const Field& force,
                          Field& velocities);

}  // namespace diffsim::dynamics
