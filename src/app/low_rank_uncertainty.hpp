// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "app/job.hpp"
#include "diffsim/inverse/problem.hpp"
#include "diffsim/mesh/tetrahedral_mesh.hpp"
#include "io/hdf5_file.hpp"

namespace diffsim::app {

// Low-rank approximation of the posterior distribution around the result of the command `invert`, for scenes whose key
// `optimiser.uncertainty` is a mapping. All functions are collective.

/// Throws InputError if the library was built without SLEPc, if some unknown does not have exactly one prior with a
/// covariance matrix, or if a material distribution has prescribed densities.
void require_low_rank(const Job& job, const InverseProblem& problem);

/// Low-rank approximation of the uncertainty of the result u of an inversion.
struct LowRankUncertainty {
  std::vector<double> eigenvalues;  ///< eigenvalues λ_i that the LowRankPosterior has computed, in descending order
  std::vector<double> deviation;    ///< estimated standard deviations of this rank's values of the unknowns u
};
/// Computes the uncertainty of the result u of an inversion, from the matrix that the scene's key `optimiser.hessian`
/// selects: the Hessian or the Gauss–Newton matrix.
LowRankUncertainty low_rank_uncertainty_of(const Job& job, InverseProblem& problem, const std::vector<double>& u);

/// Adds `uncertainty` to the report of the job and prints the standard deviations of the unknowns. For unknowns with
/// values on cells or vertices, only the smallest and the largest standard deviation are reported and printed. Warns if
/// the smallest computed eigenvalue of the low-rank approximation is greater than 0.1 and not all eigenvalues were
/// computed. Warns if unknowns are at a bound.
void report_uncertainty(Job& job, const InverseProblem& problem, const std::vector<double>& u,
                        const LowRankUncertainty& uncertainty);
/// Writes the eigenvalues of the low-rank approximation to the dataset /posterior/eigenvalues. Writes the standard
/// deviations of the unknown NAME to the dataset /posterior/deviations/NAME, with the layout and the unit of the
/// dataset /parameters/NAME.
void write_uncertainty(Hdf5File& file, const Scene& scene, const TetrahedralMesh& mesh, const InverseProblem& problem,
                       const std::vector<double>& u, const LowRankUncertainty& uncertainty);

}  // namespace diffsim::app
