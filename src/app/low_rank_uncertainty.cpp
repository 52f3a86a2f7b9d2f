// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/low_rank_uncertainty.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "app/inputs.hpp"
#include "app/unknown_files.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/core/runtime.hpp"
#include "diffsim/inverse/posterior.hpp"

namespace diffsim::app {
namespace {

/// Standard deviations of unknown k, in the layout and the unit of InverseProblem::physical.
std::vector<double> physical_deviation(const InverseProblem& problem, std::size_t k, const std::vector<double>& u,
                                       const std::vector<double>& deviation) {
  const Unknown& unknown = problem.unknowns()[k];
  const std::vector<double> values = problem.physical(k, u);
  const auto begin = deviation.begin() + static_cast<std::ptrdiff_t>(problem.offset(k));
  std::vector<double> result(begin, begin + static_cast<std::ptrdiff_t>(problem.count(k)));
  if (unknown.shared()) {
    result.resize(values.size());
    DIFFSIM_MPI(MPI_Bcast(result.data(), static_cast<int>(result.size()), MPI_DOUBLE, 0, problem.comm()));
  }
  if (unknown.logarithmic && unknown.map_numbers == 0)
    for (std::size_t i = 0; i < result.size(); ++i) result[i] *= values[i];
  return result;
}

/// Least and largest entry of `values` on all ranks.
std::pair<double, double> range(const std::vector<double>& values, MPI_Comm comm) {
  double extremes[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (const double value : values) {
    extremes[0] = std::min(extremes[0], value);
    extremes[1] = std::min(extremes[1], -value);
  }
  DIFFSIM_MPI(MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_DOUBLE, MPI_MIN, comm));
  return {extremes[0], -extremes[1]};
}

/// Number of values of u, on all ranks, that are at a bound.
std::int64_t num_at_bounds(const InverseProblem& problem, const std::vector<double>& u) {
  const std::vector<double> lower = problem.lower_bounds(), upper = problem.upper_bounds();
  std::int64_t count = 0;
  for (std::size_t i = 0; i < u.size(); ++i) count += u[i] <= lower[i] || u[i] >= upper[i];
  return sum_over_ranks(count, problem.comm());
}

}  // namespace

void require_low_rank(const Job& job, const InverseProblem& problem) {
  const Place& place = *job.scene.uncertainty;
  if (!LowRankPosterior::is_available())
    place.fail("needs the library SLEPc, without which this diffsim was built; install SLEPc and build again");
  if (!problem.has_prior_covariance())
    place.fail("needs exactly one prior for each parameter, of the type normal or matern, if `rank` is given");
  for (const ParameterEntry& entry : job.scene.parameters)
    if (entry.distribution && !(entry.distribution->solid.empty() && entry.distribution->voids.empty()))
      place.fail("is not available with prescribed densities; remove `solid` and `void` of '" + entry.label + "'");
}

LowRankUncertainty low_rank_uncertainty_of(const Job& job, InverseProblem& problem, const std::vector<double>& u) {
  LowRankUncertainty result;
  const GaussNewtonScope scope(problem, job.scene.optimiser.gauss_newton);
  at_place(*job.scene.uncertainty, [&] {
    const LowRankPosterior posterior(problem, u, job.scene.low_rank->rank);
    result.eigenvalues = posterior.eigenvalues();
    result.deviation = posterior.deviation(job.scene.low_rank->samples);
  });
  return result;
}

void report_uncertainty(Job& job, const InverseProblem& problem, const std::vector<double>& u,
                        const LowRankUncertainty& uncertainty) {
  ReportValue& report = job.report["posterior"];
  report["eigenvalues"] = uncertainty.eigenvalues;
  report["samples"] = job.scene.low_rank->samples;
  const std::int64_t at_bounds = num_at_bounds(problem, u),
                     size = sum_over_ranks(static_cast<std::int64_t>(u.size()), problem.comm());
  report["num_at_bounds"] = at_bounds;
  constexpr double small = 0.1;
  if (const double last = uncertainty.eigenvalues.back();
      last > small && size > static_cast<std::int64_t>(uncertainty.eigenvalues.size()))
    job.warn(
        fmt::format("the smallest of the {} computed eigenvalues is {:.2g}: variances along omitted directions may "
                    "be too large by a factor of up to {:.2g}; give a larger optimiser.uncertainty.rank",
                    uncertainty.eigenvalues.size(), last, 1.0 + last));
  if (at_bounds > 0)
    job.warn(
        fmt::format("{} values are at a bound; the standard deviations are those of the loss without bounds, so "
                    "they do not describe the posterior",
                    at_bounds));
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k) {
    const std::vector<double> deviation = physical_deviation(problem, k, u, uncertainty.deviation),
                              values = problem.physical(k, u);
    const std::vector<std::string> names = value_names(problem, k);
    for (std::size_t i = 0; i < names.size(); ++i) {
      report["deviations"][names[i]] = deviation[i];
      job.out << fmt::format("  {} = {:.6g} ± {:.2g}\n", names[i], values[i], deviation[i]);
    }
    if (!names.empty()) continue;
    const std::string& name = problem.unknowns()[k].name();
    const auto [least, largest] = range(deviation, problem.comm());
    report["deviation_ranges"][name] = std::vector<double>{least, largest};
    job.out << fmt::format("  {}: standard deviations from {:.3g} to {:.3g}\n", name, least, largest);
  }
}

void write_uncertainty(Hdf5File& file, const Scene& scene, const TetrahedralMesh& mesh, const InverseProblem& problem,
                       const std::vector<double>& u, const LowRankUncertainty& uncertainty) {
  const auto count = static_cast<std::int64_t>(uncertainty.eigenvalues.size());
  file.write_array("/posterior/eigenvalues", uncertainty.eigenvalues, {count}, "1");
  write_unknowns(
      file, "posterior/deviations", scene, mesh, problem,
      [&](std::size_t k) { return physical_deviation(problem, k, u, uncertainty.deviation); }, false);
}

}  // namespace diffsim::app
