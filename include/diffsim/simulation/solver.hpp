// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "diffsim/dynamics/integrator.hpp"

namespace diffsim {

/// Gravitational acceleration, m/s².
struct Gravity : std::array<double, 3> {
  /// Creates the vector (0, `along_y`, 0).
  Gravity(double along_y) : std::array<double, 3>{0.0, along_y, 0.0} {}
  /// Creates the vector (x, y, z).
  Gravity(double x, double y, double z) : std::array<double, 3>{x, y, z} {}
  /// Creates a copy of `vector`.
  Gravity(const std::array<double, 3>& vector) : std::array<double, 3>(vector) {}
};

/// Time stepper: time step, integrator and their options. A DifferentiableSolver does not refer to any body.
struct DifferentiableSolver {
  double dt = 0.01;  ///< s
  int substeps = 4;  ///< number of substeps per step of explicit integrators
  /// Factor by which velocities are multiplied in each substep of symplectic_euler and explicit_euler.
  double damping = 0.99;
  Gravity gravity = -9.8;                                ///< initial value of the parameter `gravity`
  Integrator integrator = Integrator::symplectic_euler;  ///< method by which a step advances the state
  ImplicitOptions implicit{};                            ///< options of implicit integrators
  /// True if implicit steps are differentiated as solutions of their equation. If this option or
  /// `implicit.implicit_differentiation` is false, Newton's iterations are differentiated as executed.
  bool use_implicit_diff = true;
};

}  // namespace diffsim
