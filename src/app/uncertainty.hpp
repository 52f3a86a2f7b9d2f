// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/job.hpp"
#include "diffsim/inverse/posterior.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app {

// Standard deviations of the result of `invert`, for scenes with `optimiser.uncertainty`. All functions are collective.

/// Throws InputError if the observations and priors do not determine the unknowns: at the start values `u`, both the
/// slope and the curvature of the loss are too small along some direction. The message names these directions.
void require_identified(const Job& job, InverseProblem& problem, const std::vector<double>& u);

/// Uncertainty of the result u of an inversion.
struct Uncertainty {
  Curvature curvature;
  std::optional<Posterior> posterior;     ///< no value if `undetermined` or `negative` has entries
  std::vector<std::string> names;         ///< names of the values of u; "ln NAME" for logarithmic unknowns
  std::vector<std::string> undetermined;  ///< text for each direction that is not identified
  std::vector<std::string> negative;      ///< text for each direction of negative curvature
  std::vector<std::string> at_bounds;     ///< names of the values that are at a bound
};
/// Computes the uncertainty at u from the matrix that `optimiser.hessian` selects, the Hessian or the Gauss–Newton
/// matrix.
Uncertainty uncertainty_of(const Job& job, InverseProblem& problem, const std::vector<double>& u);

/// Adds the uncertainty to the report and prints the standard deviations. Returns false if there are no
/// standard deviations.
bool report_uncertainty(Job& job, const InverseProblem& problem, const std::vector<double>& u,
                        const Uncertainty& uncertainty);
/// Writes the datasets /posterior/covariance, [values, values], and /posterior/names. Writes nothing without a
/// posterior.
void write_uncertainty(Hdf5File& file, const Uncertainty& uncertainty);

}  // namespace diffsim::app
