// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "diffsim/inverse/posterior.hpp"

#include <petscsys.h>

#include <petscblaslapack.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"

namespace diffsim {
namespace {

/// Scale s of each of this rank's values u (see Curvature).
std::vector<double> scales(const InverseProblem& problem, const std::vector<double>& u) {
  std::vector<double> scale(u.size(), 1.0);
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
    const Unknown& unknown = problem.unknowns()[k];
    if (unknown.logarithmic || unknown.map_numbers > 0) continue;
    double largest = 0.0;
    for (std::size_t i = 0; i < problem.count(k); ++i) largest = std::max(largest, std::abs(u[problem.offset(k) + i]));
    if (largest > 0.0)
      std::fill_n(scale.begin() + static_cast<std::ptrdiff_t>(problem.offset(k)), problem.count(k), largest);
  }
  return scale;
}

/// Replaces the symmetric matrix `matrix`, [n, n], by its eigenvectors, one in each row. Returns the eigenvalues in
/// ascending order.
std::vector<double> eigenvectors(std::vector<double>& matrix, std::size_t size) {
  std::vector<double> values(size), work(1);
  const auto n = static_cast<PetscBLASInt>(size);
  PetscBLASInt length = -1, info = 0;
  LAPACKsyev_("V", "L", &n, matrix.data(), &n, values.data(), work.data(), &length, &info);
  length = static_cast<PetscBLASInt>(work[0]);
  work.resize(static_cast<std::size_t>(length));
  LAPACKsyev_("V", "L", &n, matrix.data(), &n, values.data(), work.data(), &length, &info);
  if (info != 0) throw Error("the eigenvalues of the Hessian could not be computed; its entries may not be finite");
  return values;
}

}  // namespace

Curvature curvature(InverseProblem& problem, const std::vector<double>& u) {
  const MPI_Comm comm = problem.comm();
  collectively(comm, [&] {
    for (const Unknown& unknown : problem.unknowns())
      if (!unknown.shared())
        throw Error("'" + unknown.name() +
                        "' has a value for each cell or vertex; the curvature is computed for parameters that are "
                        "global, per region, per step, or a map of modes",
                    ErrorKind::input);
  });
  // The first rank stores all values of u.
  const bool first = is_first_rank(comm);
  Curvature result;
  result.scale = scales(problem, u);
  std::int64_t size = static_cast<std::int64_t>(u.size());
  DIFFSIM_MPI(MPI_Bcast(&size, 1, MPI_INT64_T, 0, comm));
  const auto n = static_cast<std::size_t>(size);
  result.size = n;
  std::vector<double> S(first ? n * n : 0), gradient;
  problem.gradient(u, gradient);
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<double> v(u.size(), 0.0);
    if (first) v[j] = result.scale[j];
    const std::vector<double> column = problem.hessian_product(u, v);
    for (std::size_t i = 0; i < column.size(); ++i) S[n * j + i] = result.scale[i] * column[i];
  }
  collectively(comm, [&] {
    if (!first) return;
    double largest = 0.0, asymmetry = 0.0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        asymmetry = std::max(asymmetry, std::abs(S[n * i + j] - S[n * j + i]));
        S[n * i + j] = S[n * j + i] = 0.5 * (S[n * i + j] + S[n * j + i]);
      }
    for (const double entry : S) largest = std::max(largest, std::abs(entry));
    result.eigenvalues = eigenvectors(S, n);
    result.error = static_cast<double>(n) * (asymmetry + 10.0 * std::max(problem.solver_tolerance(), 1e-14) * largest);
    result.directions = S;
    result.slopes.assign(n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) result.slopes[i] += S[n * i + j] * result.scale[j] * gradient[j];
  });
  result.scale.resize(n);
  result.eigenvalues.resize(n);
  result.directions.resize(n * n);
  result.slopes.resize(n);
  for (std::vector<double>* const values : {&result.scale, &result.eigenvalues, &result.directions, &result.slopes})
    DIFFSIM_MPI(MPI_Bcast(values->data(), static_cast<int>(values->size()), MPI_DOUBLE, 0, comm));
  DIFFSIM_MPI(MPI_Bcast(&result.error, 1, MPI_DOUBLE, 0, comm));
  return result;
}

std::vector<std::size_t> unidentified(const Curvature& curvature) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < curvature.size; ++i) {
    const double lambda = curvature.eigenvalues[i];
    if (std::abs(lambda) <= curvature.error || (lambda > 0.0 && lambda < 1.0 / (largest_deviation * largest_deviation)))
      result.push_back(i);
  }
  return result;
}

Posterior posterior(const Curvature& curvature) {
  const std::size_t n = curvature.size;
  for (const double lambda : curvature.eigenvalues)
    if (!(lambda > 0.0))
      throw Error(
          "the loss has a direction without positive curvature, so the result is not a minimum and has no "
          "covariance",
          ErrorKind::run);
  Posterior result;
  result.covariance.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k)
        result.covariance[n * i + j] += curvature.scale[i] * curvature.scale[j] * curvature.directions[n * k + i] *
                                        curvature.directions[n * k + j] / curvature.eigenvalues[k];
  for (std::size_t i = 0; i < n; ++i) result.deviation.push_back(std::sqrt(result.covariance[n * i + i]));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      result.correlation.push_back(result.covariance[n * i + j] / (result.deviation[i] * result.deviation[j]));
  return result;
}

}  // namespace diffsim
