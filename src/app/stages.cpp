// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include "app/stages.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diffsim/inverse/prior.hpp"

namespace diffsim::app {
namespace {

/// Result of the optimisation with a factor of the priors.
struct FactorResult {
  double factor, misfit, prior;
  OptimiserResult result;
};

/// Sets the penalty number `stage` of each distribution; distributions with fewer penalties keep the last penalty.
void set_penalties(const Scene& scene, InverseJob& inverse, std::size_t stage) {
  for (std::size_t k = 0; k < scene.parameters.size(); ++k) {
    if (!scene.parameters[k].distribution) continue;
    const std::vector<double>& penalties = scene.parameters[k].distribution->penalties;
    const double penalty = penalties[std::min(stage, penalties.size() - 1)];
    inverse.problem->set_penalty(k, penalty);
    inverse.constraints->set_penalty(k, penalty);
  }
}

/// Index of the first result, that is, of the largest factor, whose misfit is at most `most`; of the least misfit if
/// there is none, with a warning.
std::size_t choose_by_misfit(Job& job, const std::vector<FactorResult>& results, double most) {
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].misfit <= most) return i;
  const auto least = std::min_element(results.begin(), results.end(),
                                      [](const auto& a, const auto& b) { return a.misfit < b.misfit; });
  job.warn(
      fmt::format("no factor of the priors gives a misfit of at most {:.6g}; the factor {:g} with the least misfit, "
                  "{:.6g}, is kept. Give smaller factors",
                  most, least->factor, least->misfit));
  return static_cast<std::size_t>(least - results.begin());
}

/// Index of the corner of the L-curve; of the factor closest to 1 if there is no corner, with a warning.
std::size_t choose_by_corner(Job& job, const std::vector<FactorResult>& results) {
  std::vector<double> misfit, prior;  // for increasing factors
  for (auto one = results.rbegin(); one != results.rend(); ++one) {
    misfit.push_back(one->misfit);
    prior.push_back(one->prior);
  }
  if (const std::optional<std::size_t> corner = l_curve_corner(misfit, prior)) return results.size() - 1 - *corner;
  const auto closest = std::min_element(results.begin(), results.end(), [](const auto& a, const auto& b) {
    return std::abs(std::log(a.factor)) < std::abs(std::log(b.factor));
  });
  job.warn(
      fmt::format("the L-curve has no corner; the factor {:g} of the priors is kept. Give more factors, over a larger "
                  "range",
                  closest->factor));
  return static_cast<std::size_t>(closest - results.begin());
}

/// Writes the results of all factors to l_curve.csv and to the report.
void write_factors(Job& job, const std::vector<FactorResult>& results, std::size_t chosen) {
  std::string text = "factor,misfit,prior,iterations,converged\n";
  ReportValue list = ReportValue::list();
  for (const FactorResult& one : results) {
    text += fmt::format("{:g},{:.17g},{:.17g},{},{}\n", one.factor, one.misfit, one.prior, one.result.iterations,
                        one.result.converged ? 1 : 0);
    list.push_back(
        {{"factor", one.factor}, {"misfit", one.misfit}, {"prior", one.prior}, {"converged", one.result.converged}});
  }
  job.report["prior_factors"] = std::move(list);
  job.report["prior_factor"] = results[chosen].factor;
  const Stopwatch io(job.report, "io");
  job.output.write("l_curve.csv", text);
}

}  // namespace

std::size_t number_of_stages(const Scene& scene) {
  std::size_t number = scene.prior_factors ? scene.prior_factors->values.size() : 1;
  for (const ParameterEntry& parameter : scene.parameters)
    if (parameter.distribution) number = std::max(number, parameter.distribution->penalties.size());
  return number;
}

std::pair<OptimiserResult, std::size_t> optimise_by_stages(Job& job, InverseJob& inverse,
                                                           const IterateObserver& observer,
                                                           const std::function<void(const OptimiserResult&)>& next) {
  OptimiserOptions options = job.scene.optimiser;
  options.constraints = inverse.constraints->all();
  InverseProblem& problem = *inverse.problem;
  const std::optional<PriorFactors>& factors = job.scene.prior_factors;
  OptimiserResult result, counts;
  std::vector<FactorResult> results;
  const std::size_t stages = number_of_stages(job.scene);
  for (std::size_t stage = 0; stage < stages; ++stage) {
    if (stage > 0) next(result);
    set_penalties(job.scene, inverse, stage);
    if (factors) problem.set_prior_factor(factors->values[stage]);
    result = optimise(problem, options, observer);
    counts.iterations += result.iterations;
    counts.evaluations += result.evaluations;
    counts.hessian_products += result.hessian_products;
    options.start = result.u;
    if (!factors) continue;
    const double prior = problem.prior(result.u);
    results.push_back({factors->values[stage], result.loss - prior, prior / factors->values[stage], result});
  }
  std::size_t chosen = stages - 1;
  if (factors) {
    chosen = factors->misfit ? choose_by_misfit(job, results, *factors->misfit) : choose_by_corner(job, results);
    problem.set_prior_factor(results[chosen].factor);
    write_factors(job, results, chosen);
    result = results[chosen].result;
  }
  result.iterations = counts.iterations;
  result.evaluations = counts.evaluations;
  result.hessian_products = counts.hessian_products;
  return {std::move(result), chosen};
}

}  // namespace diffsim::app
