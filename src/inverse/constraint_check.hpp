// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "diffsim/inverse/gradient_check.hpp"
#include "diffsim/inverse/optimise.hpp"

namespace diffsim::inverse {

/// Result of the check of the gradient of a constraint's function c, along a random direction v of the unknowns u.
struct ConstraintCheck {
  std::string name;                             ///< name of the function (`ConstraintFunction::name`)
  CheckVerdict verdict = CheckVerdict::failed;  ///< verdict, with the meanings of the verdicts of UnknownCheck
  bool passed = false;                          ///< true if the verdict is `passed` or `independent`
  double slope = 0.0;                           ///< derivative ⟨∇c, v⟩ from the gradient of the function
  double difference = 0.0;                      ///< derivative ⟨∇c, v⟩ from finite differences of c
  double difference_error = 0.0;                ///< bound of the error of `difference`
  double noise = 0.0;                           ///< standard deviation of c due to rounding errors
};

/// Compares the gradient of a constraint's function at the point `u` with finite differences of the function. The
/// random direction changes the values of all unknowns of `problem`. Collective.
ConstraintCheck check_constraint(ConstraintFunction& function, const InverseProblem& problem,
                                 const std::vector<double>& u, const GradientCheckOptions& options = {});

}  // namespace diffsim::inverse
