// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "core/covariance.hpp"

#include <petscsys.h>

#include <petscblaslapack.h>

#include <cmath>
#include <string>

#include "diffsim/core/error.hpp"

namespace diffsim {

std::vector<double> cholesky_of_covariance(const std::vector<double>& covariance, std::size_t n) {
  std::vector<double> factor = covariance;
  if (factor.size() != n * n)
    throw Error("a covariance matrix of " + std::to_string(n) + " values needs " + std::to_string(n * n) +
                    " entries, but has " + std::to_string(factor.size()),
                ErrorKind::input);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::abs(factor[n * i + j] - factor[n * j + i]) >
          1e-12 * std::sqrt(std::abs(factor[n * i + i] * factor[n * j + j])))
        throw Error("the covariance matrix is not symmetric: entries (" + std::to_string(i) + ", " + std::to_string(j) +
                        ") and (" + std::to_string(j) + ", " + std::to_string(i) + ") differ",
                    ErrorKind::input);
  const auto size = static_cast<PetscBLASInt>(n);
  PetscBLASInt info = 0;
  LAPACKpotrf_("L", &size, factor.data(), &size, &info);
  if (info != 0)
    throw Error("the covariance matrix is not positive definite: its leading " + std::to_string(info) + " × " +
                    std::to_string(info) + " block has a determinant that is not positive",
                ErrorKind::input);
  return factor;
}

std::vector<double> inverse_of_covariance(const std::vector<double>& covariance, std::size_t n) {
  std::vector<double> inverse = cholesky_of_covariance(covariance, n);
  const auto size = static_cast<PetscBLASInt>(n);
  PetscBLASInt info = 0;
  LAPACKpotri_("L", &size, inverse.data(), &size, &info);
  // LAPACK stores columns and computes the lower triangle only: entry (i, j) with i >= j is inverse[n j + i].
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = j + 1; i < n; ++i) inverse[n * i + j] = inverse[n * j + i];
  return inverse;
}

}  // namespace diffsim
