// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <petscvec.h>

namespace diffsim::testing_dynamics {

/// Returns ‖a - b‖/‖b‖ and replaces a by a - b.
inline double relative_distance(Vec a, Vec b) {
  PetscReal norm = 0.0, difference = 0.0;
  VecNorm(b, NORM_2, &norm);
  VecAXPY(a, -1.0, b);
  VecNorm(a, NORM_2, &difference);
  return difference / norm;
}

}  // namespace diffsim::testing_dynamics
