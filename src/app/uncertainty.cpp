// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/uncertainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "app/inputs.hpp"
#include "app/unknown_files.hpp"
#include "diffsim/core/error.hpp"

namespace diffsim::app {
namespace {

/// Names of all values, in the order of u on the first rank.
std::vector<std::string> names_of(const InverseProblem& problem) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
    const Unknown& unknown = problem.unknowns()[k];
    const bool of_logarithm = unknown.logarithmic && unknown.map_numbers == 0;
    for (const std::string& name : value_names(problem, k)) names.push_back((of_logarithm ? "ln " : "") + name);
  }
  return names;
}

/// Direction i in words, for example "0.71 ln youngs_modulus[left] - 0.71 ln youngs_modulus[right]". Values with a
/// scale other than 1 are divided by their scale (see Curvature).
std::string direction_text(const Curvature& curvature, const std::vector<std::string>& names, std::size_t i) {
  const double* const direction = curvature.directions.data() + curvature.size * i;
  std::vector<std::size_t> order;
  double largest = 0.0;
  for (std::size_t j = 0; j < curvature.size; ++j) largest = std::max(largest, std::abs(direction[j]));
  for (std::size_t j = 0; j < curvature.size; ++j)
    if (std::abs(direction[j]) >= 0.1 * largest) order.push_back(j);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return std::abs(direction[a]) > std::abs(direction[b]); });
  constexpr std::size_t most = 6;
  const double sign = !order.empty() && direction[order.front()] < 0.0 ? -1.0 : 1.0;
  std::string text;
  for (std::size_t k = 0; k < std::min(order.size(), most); ++k) {
    const double part = sign * direction[order[k]];
    if (k > 0) text += part < 0.0 ? " - " : " + ";
    if (curvature.size > 1) text += fmt::format("{:.2f} ", std::abs(part));
    text += names[order[k]];
    if (curvature.scale[order[k]] != 1.0) text += fmt::format("/{:.3g}", curvature.scale[order[k]]);
  }
  return order.size() > most ? text + " + …" : text;
}

/// Curvature of the loss at u, computed from the matrix that `optimiser.hessian` selects, the Hessian or the
/// Gauss–Newton matrix.
Curvature curvature_of(const Job& job, InverseProblem& problem, const std::vector<double>& u) {
  Curvature result;
  const GaussNewtonScope scope(problem, job.scene.optimiser.gauss_newton);
  at_place(*job.scene.uncertainty, [&] { result = curvature(problem, u); });
  return result;
}

/// Names of the values of u that are at a bound, the same on all ranks. The first rank stores all values.
std::vector<std::string> at_bounds(const InverseProblem& problem, const std::vector<double>& u,
                                   const std::vector<std::string>& names) {
  const std::vector<double> lower = problem.lower_bounds(), upper = problem.upper_bounds();
  std::vector<int> is_at(names.size(), 0);
  for (std::size_t i = 0; i < u.size(); ++i) is_at[i] = u[i] <= lower[i] || u[i] >= upper[i];
  DIFFSIM_MPI(MPI_Bcast(is_at.data(), static_cast<int>(is_at.size()), MPI_INT, 0, problem.comm()));
  std::vector<std::string> result;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (is_at[i] != 0) result.push_back(names[i]);
  return result;
}

}  // namespace

void require_identified(const Job& job, InverseProblem& problem, const std::vector<double>& u) {
  const Place& place = *job.scene.uncertainty;
  const Curvature at_start = curvature_of(job, problem, u);
  const std::vector<std::string> names = names_of(problem);
  std::vector<std::string> flat;
  for (const std::size_t i : unidentified(at_start))
    if (std::abs(at_start.slopes[i]) <= 1.0 / largest_deviation) flat.push_back(direction_text(at_start, names, i));
  if (!flat.empty())
    place.fail("the observations and priors do not determine " + join(flat) +
               ": at the start values, a change in this direction by its own magnitude changes the loss by less than "
               "0.1, or by no more than the solver's tolerance; observe something that depends on this direction, such "
               "as a force, add a prior, remove the parameter, or tighten solver.newton.tolerance");
}

Uncertainty uncertainty_of(const Job& job, InverseProblem& problem, const std::vector<double>& u) {
  Uncertainty result;
  result.curvature = curvature_of(job, problem, u);
  result.names = names_of(problem);
  for (const std::size_t i : unidentified(result.curvature))
    result.undetermined.push_back(direction_text(result.curvature, result.names, i));
  for (std::size_t i = 0; i < result.curvature.size; ++i)
    if (result.curvature.eigenvalues[i] < -result.curvature.error)
      result.negative.push_back(direction_text(result.curvature, result.names, i));
  result.at_bounds = at_bounds(problem, u, result.names);
  if (result.undetermined.empty() && result.negative.empty()) result.posterior = posterior(result.curvature);
  return result;
}

bool report_uncertainty(Job& job, const InverseProblem& problem, const std::vector<double>& u,
                        const Uncertainty& uncertainty) {
  ReportValue& report = job.report["posterior"];
  report["names"] = uncertainty.names;
  report["eigenvalues"] = uncertainty.curvature.eigenvalues;
  report["not_identified"] = uncertainty.undetermined;
  report["negative_curvature"] = uncertainty.negative;
  report["at_bounds"] = uncertainty.at_bounds;
  for (const std::string& direction : uncertainty.undetermined)
    job.warn("the observations and priors do not determine " + direction + "; there are no standard deviations");
  for (const std::string& direction : uncertainty.negative)
    job.warn("the loss has negative curvature along " + direction +
             ", so the result is not a minimum; there are no standard deviations");
  if (!uncertainty.at_bounds.empty())
    job.warn("at a bound: " + join(uncertainty.at_bounds) +
             "; the standard deviations are those of the loss without bounds, so they do not describe the posterior");
  if (!uncertainty.posterior) return false;

  std::size_t i = 0;
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
    const std::vector<std::string> names = value_names(problem, k);
    const std::vector<double> values = problem.physical(k, u);
    const bool of_logarithm = problem.unknowns()[k].logarithmic && problem.unknowns()[k].map_numbers == 0;
    for (std::size_t j = 0; j < names.size(); ++j, ++i) {
      const double deviation = uncertainty.posterior->deviation[i] * (of_logarithm ? values[j] : 1.0);
      report["deviations"][names[j]] = deviation;
      job.out << fmt::format(
          "  {} = {:.6g} ± {:.2g}{}\n", names[j], values[j], deviation,
          of_logarithm ? fmt::format(" ({:.2g} of the logarithm)", uncertainty.posterior->deviation[i]) : "");
    }
  }
  ReportValue rows = ReportValue::list();
  const std::size_t n = uncertainty.curvature.size;
  for (std::size_t row = 0; row < n; ++row) {
    const auto begin = uncertainty.posterior->correlation.begin() + static_cast<std::ptrdiff_t>(n * row);
    rows.push_back(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(n)));
  }
  report["correlations"] = rows;
  return true;
}

void write_uncertainty(Hdf5File& file, const Uncertainty& uncertainty) {
  if (!uncertainty.posterior) return;
  const auto n = static_cast<std::int64_t>(uncertainty.curvature.size);
  file.write_array("/posterior/covariance", uncertainty.posterior->covariance, {n, n}, "1");
  file.write_strings("/posterior/names", uncertainty.names);
}

}  // namespace diffsim::app
