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
  std::optional<Posterior> posterior;     ///< without value: there are directions that are not identified
  std::vector<std::string> names;         ///< of the values, "ln NAME" for those searched in the logarithm
  std::vector<std::string> undetermined;  ///< directions that are not identified, or of negative curvature, in words
};
Uncertainty uncertainty_of(InverseProblem& problem, const std::vector<double>& u);

/// Adds the uncertainty to the report and prints the standard deviations. Returns false if directions are not
/// identified.
bool report_uncertainty(Job& job, const InverseProblem& problem, const std::vector<double>& u,
                        const Uncertainty& uncertainty);
/// Writes /posterior/covariance [values, values] and /posterior/names.
void write_uncertainty(Hdf5File& file, const Uncertainty& uncertainty);

}  // namespace diffsim::app
