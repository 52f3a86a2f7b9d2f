// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/approximation.hpp"
#include "diffsim/core/error.hpp"
#include "diffsim/inverse/gradient_check.hpp"
#include "inverse/check_tools.hpp"
#include "inverse/constraint_check.hpp"
#include "inverse/hessian_check.hpp"

namespace diffsim::app {
namespace {

/// Checks products with the Hessian for symmetry and against differences of gradients, and reports the results. Returns
/// true if the check has passed.
bool check_products(Job& job, InverseProblem& problem, const std::vector<double>& u) {
  const HessianCheck check = check_hessian(problem, u);
  job.report["hessian_symmetry"] = check.symmetry;
  job.report["hessian_taylor_orders"] = check.taylor_orders;
  job.report["checks"]["hessian"] = {
      {"symmetry", check.symmetry},           {"product", check.product},
      {"difference", check.difference},       {"difference_error", check.difference_error},
      {"taylor_orders", check.taylor_orders}, {"first_step", check.first_step},
      {"quadratic", check.quadratic},         {"passed", check.passed}};
  job.out << fmt::format("  {:<20} {:<11} symmetry {:.1e}, product {:.6e}, by differences {:.6e} ± {:.0e}\n",
                         "Hessian, all", check.passed ? "passed" : "FAILED", check.symmetry, check.product,
                         check.difference, check.difference_error);
  return check.passed;
}

/// Results of the check of one unknown, for the report. NaN and infinity become null in JSON.
ReportValue report_of(const UnknownCheck& check, bool differences) {
  ReportValue report = {{"verdict", to_string(check.verdict)},
                        {"passed", check.passed},
                        {"note", check.note},
                        {"dot_product_error", check.dot_product_error},
                        {"amplification", check.amplification}};
  if (!differences) return report;
  report["slope"] = check.slope;
  report["difference"] = check.difference;
  report["difference_error"] = check.difference_error;
  report["noise"] = check.noise;
  report["solver_effect"] = check.solver_effect;
  report["taylor_orders"] = check.taylor_orders;
  report["first_step"] = check.first_step;
  report["linear"] = check.linear;
  return report;
}

std::string text_of(const UnknownCheck& check, bool differences) {
  std::string verdict = to_string(check.verdict);
  if (check.verdict == CheckVerdict::failed) verdict = "FAILED";
  std::string text = fmt::format("  {:<20} {:<11} ", check.name, verdict);
  if (differences)
    text += fmt::format("slope {:.6e}, by differences {:.6e} ± {:.0e}; ", check.slope, check.difference,
                        check.difference_error);
  text += std::isnan(check.dot_product_error) ? "no dot products\n"
                                              : fmt::format("dot-product error {:.1e}\n", check.dot_product_error);
  if (check.solver_effect > 0.0)
    text += fmt::format("  {:<20} {:<11} the solver's tolerance changes the slope by {:.0e}\n", "", "",
                        check.solver_effect);
  if (!check.note.empty()) text += fmt::format("  {:<20} {:<11} {}\n", "", "", check.note);
  return text;
}

/// Checks the gradients of the constraints of parameters and of the rest shape, and reports the results in `by_name`.
/// Returns true if all checks have passed.
bool check_constraints(Job& job, const InverseJob& inverse, const std::vector<double>& u, ReportValue& by_name) {
  bool passed = true;
  for (const std::shared_ptr<ConstraintFunction>& function : inverse.constraints->of_parameters()) {
    const inverse::ConstraintCheck check = inverse::check_constraint(*function, *inverse.problem, u);
    by_name["constraint " + check.name] = {{"verdict", to_string(check.verdict)},
                                           {"passed", check.passed},
                                           {"slope", check.slope},
                                           {"difference", check.difference},
                                           {"difference_error", check.difference_error},
                                           {"noise", check.noise}};
    job.out << fmt::format("  constraint {}: {}; slope {:.6e}, by differences {:.6e} ± {:.0e}\n", check.name,
                           check.verdict == CheckVerdict::failed ? "FAILED" : to_string(check.verdict), check.slope,
                           check.difference, check.difference_error);
    passed = passed && check.passed;
  }
  return passed;
}

}  // namespace

bool check(Job& job) {
  InverseJob inverse(job);
  InverseProblem& problem = *inverse.problem;
  const std::vector<double> u = problem.start();
  std::vector<double> by_u;
  std::string not_finite;  // unused here: check_gradient reports the message
  job.report["loss"] = inverse::gradient_even_if_not_finite(problem, u, by_u, not_finite);
  report_experiments(job, problem);
  std::vector<std::vector<double>> gradients;
  for (std::size_t k = 0; k < problem.unknowns().size(); ++k)
    gradients.push_back(problem.physical_gradient(k, u, by_u));
  job.report["gradient_norm"] = gradient_norm(problem, gradients);
  GradientCheckOptions options;
  options.differences = !job.line.products;
  std::vector<UnknownCheck> checks = check_gradient(problem, u, options);
  for (const auto& [name, of] : inverse.constraints->problems())
    for (UnknownCheck& one : check_gradient(*of, u, options)) {
      one.name = "constraint " + name + ", " + one.name;
      checks.push_back(std::move(one));
    }
  inverse.progress.clear();

  double worst = 0.0;
  bool passed = true;
  ReportValue by_name = ReportValue::mapping();
  std::vector<double> orders;
  job.out << "check: " << size_text(job.scene, *inverse.mesh) << '\n';
  for (const UnknownCheck& one : checks) {
    worst = std::isnan(one.dot_product_error) ? one.dot_product_error : std::max(worst, one.dot_product_error);
    passed = passed && one.passed;
    orders.insert(orders.end(), one.taylor_orders.begin(), one.taylor_orders.end());
    by_name[one.name] = report_of(one, options.differences);
    job.out << text_of(one, options.differences);
  }
  if (options.differences) passed = check_constraints(job, inverse, u, by_name) && passed;
  inverse.report_sweeps();
  if (!inverse.approximation().empty()) {
    const double error = relative_error(job.comm, gradient_by(job, inverse, job.scene.checkpoint, u), by_u);
    job.report["checkpoint"]["gradient_error"] = error;
    job.out << fmt::format("  with the scene's options ({}), the gradient changes by {:.2e} (relative)\n",
                           inverse.approximation(), error);
  }
  job.report["dot_product_error"] = worst;
  job.report["taylor_orders"] = orders;
  job.report["checks"] = by_name;
  if (job.line.hessian) passed = check_products(job, problem, u) && passed;
  job.report["passed"] = passed;
  job.out << (passed ? "passed" : "FAILED") << "; wrote " << job.output.path("report.json") << '\n';
  return passed;
}

}  // namespace diffsim::app
