// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

namespace diffsim {

// Both functions throw Error (input) if the matrix `covariance` does not have n² entries, is not symmetric, or is not
// positive definite.

/// Returns the lower Cholesky factor, [n, n], of a covariance matrix [n, n]. The factor is stored by columns, as by
/// LAPACK's function potrf; the entries above the diagonal of the factor are those of the covariance matrix.
std::vector<double> cholesky_of_covariance(const std::vector<double>& covariance, std::size_t n);
/// Returns the inverse, [n, n], of a covariance matrix [n, n].
std::vector<double> inverse_of_covariance(const std::vector<double>& covariance, std::size_t n);

}  // namespace diffsim
