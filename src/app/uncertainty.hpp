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
/// first and the second derivative of the loss along some direction of u are too small. The error message names the
/// directions of u that the observations and priors do not determine.
void require_identified(const Job& job, InverseProblem& problem, const std::vector<double>& u);

/// Uncertainty of the result u of an inversion.
struct Uncertainty {
  Curvature curvature;
  /// Posterior distribution of the unknowns; no value if one of the lists `undetermined` and `negative` has entries.
  std::optional<Posterior> posterior;
  /// Names of the entries of the result u; "ln NAME" for an entry of a logarithmic unknown without a linear map.
  std::vector<std::string> names;
  /// Description of each direction in the space of the unknowns along which the loss does not determine the unknowns
  /// (unidentified()).
  std::vector<std::string> undetermined;
  /// Description of each direction in the space of the unknowns along which the second derivative of the loss is
  /// negative.
  std::vector<std::string> negative;
  std::vector<std::string> at_bounds;  ///< names of the entries of the result u that are at a bound
};
/// Computes the uncertainty of the result u of an inversion, from the matrix that the scene's key `optimiser.hessian`
/// selects: the Hessian or the Gauss–Newton matrix.
Uncertainty uncertainty_of(const Job& job, InverseProblem& problem, const std::vector<double>& u);

/// Adds `uncertainty` to the report of the job and prints the standard deviations of the unknowns. Returns false if no
/// standard deviations are known, because `uncertainty.posterior` has no value.
bool report_uncertainty(Job& job, const InverseProblem& problem, const std::vector<double>& u,
                        const Uncertainty& uncertainty);
/// Writes the covariance matrix of the result u to the dataset /posterior/covariance, of the shape [n, n] for n entries
/// of u, and the names of the entries of u to the dataset /posterior/names. Writes nothing if `uncertainty.posterior`
/// has no value.
void write_uncertainty(Hdf5File& file, const Uncertainty& uncertainty);

}  // namespace diffsim::app
