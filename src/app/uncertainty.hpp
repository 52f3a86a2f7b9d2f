// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/job.hpp"
#include "diffsim/inverse/posterior.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app {

// Standard deviations of the result of the command `invert`, for scenes whose key `optimiser.uncertainty` is true. All
// functions are collective.

/// Throws InputError if the observations and priors do not determine the unknowns: at the start values `u`, both the
/// first and the second derivative of the loss along some direction of u are too small. The message names these
/// directions.
void require_identified(const Job& job, InverseProblem& problem, const std::vector<double>& u);

/// Uncertainty of the result u of an inversion.
struct Uncertainty {
  Curvature curvature;
  std::optional<Posterior> posterior;  ///< no value if `undetermined` or `negative` has entries
  std::vector<std::string> names;      ///< names of the values of u; "ln NAME" for logarithmic unknowns
  /// Description of each direction of u that is not identified (unidentified()).
  std::vector<std::string> undetermined;
  /// Description of each direction of u along which the second derivative of the loss is negative.
  std::vector<std::string> negative;
  std::vector<std::string> at_bounds;  ///< names of the values of u that are at a bound
};
/// Computes the uncertainty at the result u of an inversion from the Hessian or the Gauss–Newton matrix, as the scene's
/// key `optimiser.hessian` selects.
Uncertainty uncertainty_of(const Job& job, InverseProblem& problem, const std::vector<double>& u);

/// Adds the uncertainty to the report and prints the standard deviations. Returns false if there are no
/// standard deviations.
bool report_uncertainty(Job& job, const InverseProblem& problem, const std::vector<double>& u,
                        const Uncertainty& uncertainty);
/// Writes the datasets /posterior/covariance, [values, values], and /posterior/names. Writes nothing if
/// `uncertainty.posterior` has no value.
void write_uncertainty(Hdf5File& file, const Uncertainty& uncertainty);

}  // namespace diffsim::app
