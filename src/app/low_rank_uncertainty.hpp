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

/// Throws InputError if the library was built without SLEPc, or if some unknown does not have exactly one prior with a
/// covariance matrix.
void require_low_rank(const Job& job, const InverseProblem& problem);

/// Low-rank approximation of the uncertainty of the result u of an inversion.
struct LowRankUncertainty {
  std::vector<double> eigenvalues;  ///< λ_i of LowRankPosterior, descending
  std::vector<double> deviation;    ///< estimated standard deviations of this rank's values of u
};
/// Computes the uncertainty at the result u of an inversion from the Hessian or the Gauss–Newton matrix, as the scene's
/// key `optimiser.hessian` selects.
LowRankUncertainty low_rank_uncertainty_of(const Job& job, InverseProblem& problem, const std::vector<double>& u);

/// Adds the uncertainty to the report and prints the standard deviations. For unknowns with values on cells or
/// vertices, prints only the smallest and the largest standard deviation. Warns if the smallest computed eigenvalue is
/// greater than 0.1 and further eigenvalues were omitted, and if values of u are at a bound.
void report_uncertainty(Job& job, const InverseProblem& problem, const std::vector<double>& u,
                        const LowRankUncertainty& uncertainty);
/// Writes the eigenvalues to the dataset /posterior/eigenvalues. Writes the standard deviations of the unknown NAME to
/// the dataset /posterior/deviations/NAME, with the layout and the unit of /parameters/NAME.
void write_uncertainty(Hdf5File& file, const Scene& scene, const TetrahedralMesh& mesh, const InverseProblem& problem,
                       const std::vector<double>& u, const LowRankUncertainty& uncertainty);

}  // namespace diffsim::app
