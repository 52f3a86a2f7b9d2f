// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "app/job.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app {

// Low-rank approximation of the posterior of the result of `invert`, for scenes whose `optimiser.uncertainty` is a
// mapping. All functions are collective.

/// Throws InputError if the library was built without SLEPc, or if some unknown does not have exactly one prior with a
/// covariance matrix.
void require_low_rank(const Job& job, const InverseProblem& problem);

/// Low-rank approximation of the uncertainty of the result u of an inversion.
struct LowRankUncertainty {
  std::vector<double> eigenvalues;  ///< see LowRankPosterior
  std::vector<double> deviation;    ///< estimated standard deviations of this rank's values of u
};
/// Computes the uncertainty at u from the matrix that `optimiser.hessian` selects, the Hessian or the Gauss–Newton
/// matrix.
LowRankUncertainty low_rank_uncertainty_of(const Job& job, InverseProblem& problem, const std::vector<double>& u);

/// Adds the uncertainty to the report and prints the standard deviations, or their range for values of cells and
/// vertices. Warns if eigenvalues that are not small were omitted, and if values are at a bound.
void report_uncertainty(Job& job, const InverseProblem& problem, const std::vector<double>& u,
                        const LowRankUncertainty& uncertainty);
/// Writes the datasets /posterior/eigenvalues and /posterior/deviations/NAME; the latter have the layout and the unit
/// of /parameters/NAME.
void write_uncertainty(Hdf5File& file, const Scene& scene, const TetrahedralMesh& mesh, const InverseProblem& problem,
                       const std::vector<double>& u, const LowRankUncertainty& uncertainty);

}  // namespace diffsim::app
