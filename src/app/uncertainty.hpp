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

/// Throws InputError that names the directions in which the loss changes neither by its slope nor by its curvature at
/// the start values `u`, so that the observations and priors do not determine the unknowns.
void require_identified(const Job& job, InverseProblem& problem, const std::vector<double>& u);

/// Uncertainty of the result u of an inversion.
struct Uncertainty {
  Curvature curvature;
  std::optional<Posterior> posterior;     ///< without value: `undetermined` or `negative` is not empty
  std::vector<std::string> names;         ///< of the values, "ln NAME" for those searched in the logarithm
  std::vector<std::string> undetermined;  ///< directions that are not identified, in words
  std::vector<std::string> negative;      ///< directions of negative curvature, in words
  std::vector<std::string> at_bounds;     ///< names of the values that are at a bound
};
/// Computes the uncertainty at u, with the Hessian or the Gauss–Newton matrix as the scene says.
Uncertainty uncertainty_of(const Job& job, InverseProblem& problem, const std::vector<double>& u);

/// Adds the uncertainty to the report and prints the standard deviations. Returns false if there are no
/// standard deviations.
bool report_uncertainty(Job& job, const InverseProblem& problem, const std::vector<double>& u,
                        const Uncertainty& uncertainty);
/// Writes /posterior/covariance [values, values] and /posterior/names.
void write_uncertainty(Hdf5File& file, const Uncertainty& uncertainty);

}  // namespace diffsim::app
